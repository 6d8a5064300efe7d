"""A box that no trajectory leaves during a step, and what rates and derivatives can be inside it.

Picard's theorem: if X + [0, h] f(B) lies inside B, every trajectory from X stays inside it for h
seconds, whatever the disturbances do.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from icct.guarantee.jet import Jet
from icct.guarantee.rounding import EPS, TINY, Array, Mask, enclosed, low_high, mid_rad, upward
from icct.guarantee.series import values

if TYPE_CHECKING:
    from icct.guarantee.flow import Flow

TRIES = 12
WIDER = 0.1  # of the way that a try has gone
TERMS = 8  # of the exponential series that bounds how derivatives grow


@dataclass(frozen=True)
class Enclosure:
    """Boxes around a step of some sets of states and actions; only where `found` they hold."""

    mid: Array  # (sets, states + actions)
    rad: Array
    found: Mask
    speed: Jet  # rates of the states inside, (sets, states)
    slope: Jet  # their derivatives, (sets, states, states + actions)
    growth: Jet  # derivatives of the flow up to any moment of the step, square
    push: Array  # how far disturbances can move the states within the step, (sets, states)

    def corners(self) -> tuple[Array, Array]:
        """Return the low and high corners of the boxes."""
        return low_high(self.mid, self.rad)


def enclose(flow: "Flow", mid: Array, rad: Array, seconds: Fraction) -> Enclosure:
    """Return boxes around a step that starts in the boxes `mid` ± `rad`."""
    h = sum(enclosed(seconds))
    mid, rad, found = _box(flow, mid, rad, h)
    columns = flow.states + flow.actions + len(flow.noise_mid)
    inside = values(flow.tape, *flow.inputs(mid, rad, True), columns)
    speed = Jet(inside.mid[..., 0].T, inside.rad[..., 0].T)
    slopes = Jet(inside.mid[..., 1:].transpose(1, 0, 2), inside.rad[..., 1:].transpose(1, 0, 2))
    moving = flow.states + flow.actions
    steepness = np.zeros((len(mid), moving, moving))
    steepness[:, : flow.states] = (np.abs(slopes.mid) + slopes.rad)[:, :, :moving]
    growth, bounded = _growth(upward(steepness * h))
    disturbed = (np.abs(slopes.mid) + slopes.rad)[:, :, moving:] @ flow.noise_rad * h
    mixed = (np.eye(flow.states) + growth[:, : flow.states, : flow.states]) @ disturbed[:, :, None]
    return Enclosure(
        mid,
        rad,
        found & bounded,
        speed,
        Jet(slopes.mid[:, :, :moving], slopes.rad[:, :, :moving]),
        Jet(np.broadcast_to(np.eye(moving), growth.shape), growth),
        upward(mixed[:, :, 0]) if len(flow.noise_mid) else np.zeros_like(speed.mid),
    )


def _box(flow: "Flow", mid: Array, rad: Array, h: float) -> tuple[Array, Array, Mask]:
    n = flow.states
    start_low, start_high = low_high(mid, rad)
    low, high = start_low.copy(), start_high.copy()
    found = np.zeros(len(mid), dtype=bool)
    for _ in range(TRIES):
        reached_low, reached_high = _reached(flow, start_low, start_high, low, high, h)
        held = (reached_low >= low[:, :n]).all(1) & (reached_high <= high[:, :n]).all(1)
        if (held | found).all():
            found |= held
            break
        wider = WIDER * (reached_high - reached_low) + EPS * np.abs(reached_low) + TINY
        new_low = np.minimum(reached_low - wider, low[:, :n])
        new_high = np.maximum(reached_high + wider, high[:, :n])
        found |= held
        open_ = ~found[:, None]
        low[:, :n] = np.where(open_, new_low, low[:, :n])
        high[:, :n] = np.where(open_, new_high, high[:, :n])
    for _ in range(2):  # what is reached from inside a box that holds is one that holds, too
        reached_low, reached_high = _reached(flow, start_low, start_high, low, high, h)
        low[:, :n] = np.where(found[:, None], np.maximum(reached_low, low[:, :n]), low[:, :n])
        high[:, :n] = np.where(found[:, None], np.minimum(reached_high, high[:, :n]), high[:, :n])
    box_mid, box_rad = mid_rad(low, high)
    return box_mid, box_rad, found & np.isfinite(box_rad).all(1)


def _reached(
    flow: "Flow", start_low: Array, start_high: Array, low: Array, high: Array, h: float
) -> tuple[Array, Array]:
    """Return the corners of X + [0, h] f(B)."""
    rates = values(flow.tape, *flow.inputs(*mid_rad(low, high), True), 0)
    slowest, fastest = low_high(rates.mid[..., 0].T, rates.rad[..., 0].T)
    n = flow.states
    down, up = np.minimum(slowest * h, 0.0), np.maximum(fastest * h, 0.0)
    reached_low, reached_high = start_low[:, :n] + down, start_high[:, :n] + up
    slack = (np.abs(reached_low) + np.abs(reached_high) + np.abs(down) + up) * (4 * EPS) + TINY
    return reached_low - slack, reached_high + slack


def _growth(steepness: Array) -> tuple[Array, Mask]:
    """Return a bound on |exp(A) - 1| for every |A| <= steepness, and where it is one."""
    norm = upward(steepness.sum(2)).max(1)
    term, total = steepness, steepness.copy()
    for k in range(2, TERMS + 1):
        term = term @ steepness / k
        total = total + term
    bounded: Mask = norm < 2.0
    rest = np.ones_like(norm)
    for k in range(1, TERMS + 2):
        rest = rest * norm / k
    tail = rest / (1 - np.minimum(norm, 2.0) / (TERMS + 2))
    return upward(total + tail[:, None, None]), bounded
