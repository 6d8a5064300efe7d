"""Plant × policy × question, ready to be asked about sets: what a proof is about.

Made from plain values in every process; nothing here runs.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from icct.errors import PlantError
from icct.guarantee.flow import Flow
from icct.guarantee.law import Law
from icct.guarantee.logic import Test
from icct.guarantee.rounding import Array
from icct.guarantee.series import values
from icct.plant import Plant
from icct.plant.question import TIME, Question
from icct.policy import Policy
from icct.verify.condition import Condition, names, negated

Box = tuple[tuple[Fraction, Fraction], ...]
MOST_PERIODS = 100_000
GENTLE = 0.4  # the most that derivatives may say the states turn within a step
FEWEST_STEPS, MOST_STEPS = 1, 256  # per period


@dataclass(frozen=True)
class Asked:
    """The question, where trajectories start, and whether it is asked for all time.

    For all time, every set must come back into the box `home` within the question's time; None: to
    where it started. For some time, a set that is back there need not be followed any longer,
    except for a tube that is to be looked at up to its end (`to_the_end`).
    """

    question: Question
    start: Box
    forever: bool = False
    home: Box | None = None
    to_the_end: bool = False

    def __post_init__(self) -> None:
        if self.forever and self.speaks_of_time:
            raise PlantError(
                f"{self.question.text}: a question for all time must be `always` or `never`, and "
                f"not speak of {TIME!r}. Ask it without --forever."
            )
        if self.home is not None and not self.forever:
            raise PlantError("a home is for questions for all time: add --forever.")

    @property
    def safe(self) -> Condition | None:
        """What must hold at every moment; None where something is to be reached."""
        broken = self.question.condition.violation
        if self.question.kind == "reach":
            return None
        return broken if self.question.kind == "never" else negated(broken)

    @property
    def goal(self) -> Condition | None:
        """What must hold at some moment; None where something is to hold always."""
        is_reach = self.question.kind == "reach"
        return negated(self.question.condition.violation) if is_reach else None

    @property
    def speaks_of_time(self) -> bool:
        """Whether it matters when something happens, and not only what."""
        return self.question.kind == "reach" or TIME in names(self.question.condition.violation)


class Loop:
    """A plant under a policy and what is asked of it, in the form that sets need."""

    def __init__(self, plant: Plant, policy: Policy, asked: Asked) -> None:
        plant.check_fits(policy)
        if asked.question.condition.has_units:
            raise PlantError(
                f"{asked.question.condition.text}: has units; ask what plant.checked(...) returns."
            )
        self.plant, self.policy, self.asked = plant, policy, asked
        self.flow, self.law = Flow(plant), Law(plant, policy)
        self.states = len(plant.states)
        self.safe = Test(asked.safe, plant) if asked.safe is not None else None
        inside = negated(plant.guard.violation) if plant.guard is not None else None
        self.guard = Test(inside, plant) if inside is not None else None
        self.goal = Test(asked.goal, plant) if asked.goal is not None else None
        self.low, self.high = corners(asked.start)
        # What happens from there is answered already, or will be.
        self.returns_home = not asked.speaks_of_time and not asked.to_the_end
        self.inner_low, self.inner_high = _inner_corners(asked.home or asked.start)
        self.periods = _periods(plant.period, asked.question.time)
        self.steps = self._steps()

    def _steps(self) -> int:
        """Return in how many steps a period is integrated, by how steep the rates are at first."""
        actions = np.array([[action.low, action.high] for action in self.plant.actions])
        low = np.concatenate([self.low, actions[:, 0]])
        high = np.concatenate([self.high, actions[:, 1]])
        if not (np.isfinite(low) & np.isfinite(high)).all():
            return FEWEST_STEPS
        mid, rad = (low / 2 + high / 2)[None], (high / 2 - low / 2)[None]
        columns = self.states + len(actions)
        jets = values(self.flow.tape, *self.flow.inputs(mid, rad, True), columns)
        steep = (np.abs(jets.mid) + jets.rad)[:, 0, 1 : 1 + self.states].sum(1).max()
        wanted = float(self.plant.period) * steep / GENTLE
        return int(np.ceil(min(max(wanted, FEWEST_STEPS), MOST_STEPS))) if wanted == wanted else 1


def corners(box: Box) -> tuple[Array, Array]:
    """Return the corners of a box, as floats that lie on it or outside."""
    low = [_towards(bottom, -1) for bottom, _ in box]
    high = [_towards(top, 1) for _, top in box]
    return np.array(low), np.array(high)


def _inner_corners(box: Box) -> tuple[Array, Array]:
    """Return the corners of a box, as floats that lie on it or inside."""
    low = [_towards(bottom, 1) for bottom, _ in box]
    return np.array(low), np.array([_towards(top, -1) for _, top in box])


def _towards(exact: Fraction, way: int) -> float:
    nearest = float(exact)
    if (Fraction(nearest) - exact) * way >= 0:
        return nearest
    return float(np.nextafter(nearest, way * np.inf))


def _periods(period: Fraction, time: Fraction) -> tuple[Fraction, ...]:
    """Return how long each period lasts until the time is over; the last one may be cut short."""
    whole, rest = divmod(time, period)
    if whole > MOST_PERIODS:
        raise PlantError(
            f"{float(time):g} s are {whole:,} periods of {float(period):g} s, expected at most "
            f"{MOST_PERIODS:,}. Ask for less time, or for all time with --forever."
        )
    return (period,) * int(whole) + ((rest,) if rest else ())
