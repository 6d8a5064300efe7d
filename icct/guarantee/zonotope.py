"""Many sets of states at once, each a zonotope: a centre plus generators times numbers in [-1, 1].

    x = centre + start @ a + noise @ b + c,   |a| <= 1, |b| <= 1, |c| <= box

`start` carries how a set hangs on where it started, so that states, observations and actions made
from them stay tied to each other; `noise` and `box` carry every error. Operations return sets that
hold all the exact result, roundings included.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from icct.guarantee.rounding import EPS, TINY, Array, Mask, low_high, upward

Rows = NDArray[np.intp]
KEPT = 20  # noise generators per dimension that survive a reduction as they are


@dataclass(frozen=True)
class Zonotopes:
    """Sets of one dimension: shapes (sets, dim), (sets, dim, n), (sets, dim, m), (sets, dim)."""

    centre: Array
    start: Array
    noise: Array
    box: Array

    @staticmethod
    def of_boxes(low: Array, high: Array) -> "Zonotopes":
        """Return the sets that are boxes, shapes (sets, dim); each side is a start generator."""
        centre = low / 2 + high / 2
        radius = upward(np.maximum(high - centre, centre - low)) + np.abs(centre) * EPS
        start = radius[:, :, None] * np.eye(low.shape[1])
        nothing = np.zeros((*low.shape, 0))
        return Zonotopes(centre, start, nothing, np.zeros_like(centre))

    def __len__(self) -> int:
        return len(self.centre)

    @property
    def radius(self) -> Array:
        """How far the sets reach from their centres, in each dimension."""
        return upward(np.abs(self.start).sum(2) + np.abs(self.noise).sum(2) + self.box)

    def hull(self) -> tuple[Array, Array]:
        """Return the low and high corners of the boxes around the sets."""
        return low_high(self.centre, self.radius)

    def rows(self, which: Rows | Mask) -> "Zonotopes":
        """Return some of the sets."""
        return Zonotopes(self.centre[which], self.start[which], self.noise[which], self.box[which])

    def dimensions(self, which: slice) -> "Zonotopes":
        """Return the sets in some of their dimensions."""
        return Zonotopes(
            self.centre[:, which], self.start[:, which], self.noise[:, which], self.box[:, which]
        )

    def beside(self, other: "Zonotopes") -> "Zonotopes":
        """Return sets with the dimensions of both, which share their generators."""
        return Zonotopes(
            np.concatenate([self.centre, other.centre], 1),
            np.concatenate([self.start, other.start], 1),
            np.concatenate([self.noise, other.noise], 1),
            np.concatenate([self.box, other.box], 1),
        )

    def image(self, value: Array, error: Array, slope: Array, slope_error: Array) -> "Zonotopes":
        """Return sets that hold f(x), by the mean value theorem.

        Args:
            value: f at the centres, shape (sets, results).
            error: How far that may be off.
            slope: The middle of the derivatives over the sets, shape (sets, results, dim).
            slope_error: How far the derivatives are from it.
        """
        size = np.abs(slope)
        start, noise = slope @ self.start, slope @ self.noise
        terms = (slope.shape[2] + 3) * EPS
        rounding = size @ (np.abs(self.start).sum(2) + np.abs(self.noise).sum(2))[:, :, None]
        spread = slope_error @ self.radius[:, :, None] + size @ self.box[:, :, None]
        return Zonotopes(value, start, noise, upward((spread + rounding * terms)[:, :, 0] + error))

    def absorbed(self, count: int | None = None) -> "Zonotopes":
        """Return the same sets with their boxes as noise generators, which later steps can turn.

        Args:
            count: For how many dimensions, the first ones; None: for all.
        """
        count = self.box.shape[1] if count is None else count
        sides = self.box[:, :, None] * np.eye(self.box.shape[1])[:, :count]
        left = self.box.copy()
        left[:, :count] = 0.0
        return Zonotopes(self.centre, self.start, np.concatenate([self.noise, sides], 2), left)

    def reduced(self, most: int) -> "Zonotopes":
        """Return sets around these with fewer noise generators, if there are more than `most`.

        The longest stay; the others are covered by a box turned along the longest of them, as in
        Lohner's method against wrapping. With Q nearly orthogonal, noise = Q (Q'noise) + rest.
        """
        sets, dim, count = self.noise.shape
        if count <= most:
            return self
        scale = self.radius + TINY
        order = np.argsort(-np.linalg.norm(self.noise / scale[:, :, None], axis=1), axis=1)
        noise = np.take_along_axis(self.noise, order[:, None, :], axis=2)
        kept, others = noise[:, :, : KEPT * dim], noise[:, :, KEPT * dim :]
        turned = np.linalg.qr(others).Q if count - KEPT * dim >= dim else np.eye(dim)[None]
        turned = np.broadcast_to(turned, (sets, dim, dim))
        inside = turned.transpose(0, 2, 1) @ others
        sides = upward(np.abs(inside).sum(2))
        rest = np.abs(others - turned @ inside)
        rounding = np.abs(turned) @ np.abs(inside) + np.abs(others)
        loss = (rest + rounding * ((dim + 4) * EPS)).sum(2)
        cover = turned * sides[:, None, :]
        loss += (np.abs(cover) * EPS).sum(2)
        return Zonotopes(
            self.centre,
            self.start,
            np.concatenate([kept, cover], 2),
            upward(self.box + loss),
        )

    def cut(self, dimension: int, limit: Array, way: int) -> tuple["Zonotopes", Mask]:
        """Return the part of each set up to a limit, and which sets have such a part.

        Args:
            dimension: The coordinate that is limited.
            limit: One limit per set.
            way: 1 keeps what is below the limit, -1 what is above it.

        A cut zonotope is none; each generator's range is tightened as far as the limit allows.
        """
        count = self.start.shape[2]
        generators = np.concatenate([self.start, self.noise], 2)
        along = way * generators[:, dimension, :]
        length = np.abs(along)
        total = upward(length.sum(1))
        room = way * (limit - self.centre[:, dimension]) + self.box[:, dimension]
        room += (np.abs(limit) + np.abs(self.centre[:, dimension]) + total) * (8 * EPS) + TINY
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            reach = ((room + total)[:, None] - length) / length
            reach = np.where(length > 0, np.minimum(reach * (1 + 4 * EPS) + 1e-15, 1.0), 1.0)
            reach = np.maximum(np.nan_to_num(reach, nan=1.0), -1.0)
        half = np.minimum((1 + reach) / 2 * (1 + 4 * EPS), 1.0)
        middle = np.sign(along) * (reach - 1) / 2
        shift = (generators * middle[:, None, :]).sum(2)
        shorter = generators * half[:, None, :]
        size = np.abs(generators).sum(2) + np.abs(self.centre)
        cut = Zonotopes(
            self.centre + shift,
            shorter[:, :, :count],
            shorter[:, :, count:],
            upward(self.box + size * ((generators.shape[2] + 8) * EPS)),
        )
        return cut, ~(room + total < 0)


def joined(parts: Sequence[Zonotopes]) -> Zonotopes:
    """Return all the sets of some parts; where noise generators are missing, they are zero."""
    most = max(part.noise.shape[2] for part in parts)
    padded = [
        np.pad(part.noise, ((0, 0), (0, 0), (0, most - part.noise.shape[2]))) for part in parts
    ]
    return Zonotopes(
        np.concatenate([part.centre for part in parts]),
        np.concatenate([part.start for part in parts]),
        np.concatenate(padded),
        np.concatenate([part.box for part in parts]),
    )
