"""Start boxes → what becomes of each: the tube, step by step, until the question is answered.

All the boxes of a batch go forward together, since numpy is fast with many and slow with few. A box
may fall into several parts at the tree's thresholds; it is proved when all its parts are.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from icct.guarantee.flow import Step
from icct.guarantee.law import Parts
from icct.guarantee.logic import Stretch, moment
from icct.guarantee.loop import Loop
from icct.guarantee.rounding import Array, Mask
from icct.guarantee.tube import Tube
from icct.guarantee.zonotope import Rows, Zonotopes

MOST_PARTS = 8  # of one start box; they may still double once, or more in a deep tree
FINER = 4  # how often a step may be halved where no box holds it
NOISE_PER_STATE = 30  # generators; few more to compute with, but much wrapping saved


@dataclass
class Fate:
    """What became of one start box."""

    proved: bool = True
    time: float = 0.0  # seconds: until when, if it is not proved
    why: str = ""
    side: int = 0  # along which side to halve the box, if it is not proved
    returned: bool = False  # whether it is proved only if the box it came back to is


def explore(
    loop: Loop, low: Array, high: Array, stop: Callable[[], bool] = lambda: False
) -> tuple[list[Fate], Tube]:
    """Return what becomes of start boxes, and the tube.

    Args:
        loop: The plant under its policy, and what is asked.
        low: Corners of the boxes, (boxes, states).
        high: The other corners.
        stop: Asked in every period; where it says so, `KeyboardInterrupt` is raised.
    """
    batch = _Batch(loop, len(low), stop)
    batch.run(Zonotopes.of_boxes(low, high))
    return batch.fates, Tube.joined(batch.tubes, loop.states)


class _Batch:
    def __init__(self, loop: Loop, boxes: int, stop: Callable[[], bool]) -> None:
        self.loop, self._stop = loop, stop
        self.fates = [Fate() for _ in range(boxes)]
        self.tubes: list[Tube] = []
        self._open = np.ones(boxes, dtype=bool)  # boxes that have not failed
        self._ends = Fraction(sum(loop.periods)) if not loop.asked.forever else None

    def run(self, sets: Zonotopes) -> None:
        """Follow the sets, one for each box, until the question is answered."""
        loop, n, time = self.loop, self.loop.states, Fraction(0)
        owner = np.arange(len(sets))
        for period in loop.periods:
            if self._stop():
                raise KeyboardInterrupt
            acted = loop.law.act(sets, self._is_crowded(owner))
            parts = replace(acted, source=owner[acted.source])
            for _ in range(loop.steps):
                parts = self._advanced(parts, time, period / loop.steps, FINER)
                time += period / loop.steps
            parts = parts.rows(self._open[parts.source])
            if loop.returns_home and period == loop.plant.period:  # when it acts anew, as at first
                parts = self._not_at_home(parts)
            if not len(parts):
                return
            owner = parts.source
            sets = parts.sets.dimensions(slice(0, n)).reduced(NOISE_PER_STATE * n)
        if loop.goal is not None:
            self._fail(parts, np.ones(len(parts), dtype=bool), time, "it was not reached")
        elif loop.asked.forever:
            why = "it has not come back to where it started"
            self._fail(parts, np.ones(len(parts), dtype=bool), time, why)

    def _advanced(self, parts: Parts, time: Fraction, seconds: Fraction, finer: int) -> Parts:
        """Return the parts after some seconds; those that failed or have arrived are gone."""
        if not len(parts):
            return parts
        step = self.loop.flow.step(parts.sets, seconds)
        if not step.fine.all() and finer:
            good, poor = parts.rows(step.fine), parts.rows(~step.fine)
            half = self._advanced(poor, time, seconds / 2, finer - 1)
            half = self._advanced(half, time + seconds / 2, seconds / 2, finer - 1)
            if not len(good):
                return half
            whole = self._advanced(good, time, seconds, 0)
            return whole.and_also(half) if len(half) else whole
        self._fail(
            parts, ~step.fine, time, "the states may grow without bound, or a rate is undefined"
        )
        return self._judged(parts, step, time, time + seconds)

    def _judged(self, parts: Parts, step: Step, since: Fraction, until: Fraction) -> Parts:
        """Return the parts at the end of a step, less those that the question is answered for."""
        stretch = Stretch(
            parts.sets, step.sets, step.bend, step.low, step.high, since, until, until == self._ends
        )
        keep = step.fine
        self.tubes.append(Tube.of(parts, stretch))
        ended = parts.moved(step.sets)
        for test, what in ((self.loop.safe, "condition"), (self.loop.guard, "plant's guard")):
            if test is not None:
                shown = test.holds(stretch)
                self._fail(ended, keep & ~shown, since, f"the {what} could not be shown to hold")
                keep = keep & shown
        if self.loop.goal is not None:
            keep = keep & ~self.loop.goal.holds(moment(step.sets, self.loop.states, until))
        return ended.rows(keep & self._open[parts.source])

    def _is_crowded(self, owner: Rows) -> Mask:
        """Return which sets should not be split any more."""
        crowded: Mask = np.bincount(owner)[owner] >= MOST_PARTS
        return crowded

    def _not_at_home(self, parts: Parts) -> Parts:
        """Return the parts that do not lie inside the box where everything is known, or will be."""
        low, high = parts.sets.dimensions(slice(0, self.loop.states)).hull()
        home = np.all((low >= self.loop.inner_low) & (high <= self.loop.inner_high), axis=1)
        for owner in np.unique(parts.source[home]):
            self.fates[owner].returned = True
        return parts.rows(~home)

    def _fail(self, parts: Parts, which: Mask, time: Fraction, why: str) -> None:
        """Note what kept boxes from being proved, the first of it for each."""
        for row in np.flatnonzero(which):
            owner = parts.source[row]
            if self._open[owner]:
                self._open[owner] = False
                side = _longest_side(parts.sets.start[row, : self.loop.states])
                self.fates[owner] = Fate(False, float(time), why, side)


def _longest_side(start: Array) -> int:
    """Return which side of the start box makes a set widest, each state in units of its width."""
    width = np.abs(start).sum(1)
    share = np.abs(start) / np.where(width > 0, width, 1.0)[:, None]
    return int(np.argmax(np.nan_to_num(share).sum(0)))
