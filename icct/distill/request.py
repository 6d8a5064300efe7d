"""What is asked of a distillation, and what its rounds gave: plain values."""

from dataclasses import dataclass
from typing import Literal, get_args

from icct.envs.task import Task
from icct.errors import ConfigError
from icct.policy import Policy

Splits = Literal["grow", "teacher"]

CANDIDATES = 3  # rounds that play validation episodes: those that drove best


@dataclass(frozen=True)
class Request:
    """What is asked of a distillation."""

    leaves: int | None = None  # at most so many; None: as many as the teacher, whose splits stay
    features: int | None = None  # weights of a leaf's rule, 0: constants; None: CART's constants
    dagger: int = 0  # rounds of DAgger after the first fit
    episodes: int = 20  # of each round
    seed: int = 0
    teacher: str = "teacher"  # its name, for the record
    splits: Splits = "grow"  # a new tree, or the teacher's own splits with new rules
    balanced: bool = False  # a new tree with all leaves at one depth
    validation_episodes: int = 50  # of each of the best rounds, to choose one of them

    def __post_init__(self) -> None:
        if self.splits not in get_args(Splits):
            raise ConfigError(
                f"splits is {self.splits!r}, expected one of {', '.join(get_args(Splits))}."
            )
        if self.leaves is None and self.splits == "grow":
            raise ConfigError("leaves is missing: say how many a new tree may have.")
        least = {"leaves": 2, "features": 0, "dagger": 0, "episodes": 1, "seed": 0}
        for name, fewest in (least | {"validation_episodes": 1}).items():
            value = getattr(self, name)
            if value is not None and value < fewest:
                raise ConfigError(f"{name} is {value}, expected at least {fewest}.")
        self._check_balanced()

    def _check_balanced(self) -> None:
        if self.balanced and self.splits == "teacher":
            raise ConfigError("balanced grows a new tree; the teacher's splits keep its shape.")
        if self.balanced and self.leaves is not None and self.leaves & (self.leaves - 1):
            raise ConfigError(
                f"leaves is {self.leaves}, expected a power of two for a balanced tree."
            )

    @property
    def cart(self) -> bool:
        """Whether scikit-learn's CART makes the tree: no features named, splits free."""
        return self.features is None and self.splits == "grow" and not self.balanced

    @property
    def method(self) -> str:
        """The name of the method: the paper's for CART."""
        if self.cart:
            base = "dt"
        elif not self.features:
            base = "distilled-static"
        else:
            base = f"distilled-{self.features}-feature"
        return f"{base}-dagger" if self.dagger else base

    def check_teacher(self, teacher: object, task: Task) -> None:
        """Refuse a teacher whose splits are wanted and cannot be had."""
        if self.splits != "teacher":
            return
        if not isinstance(teacher, Policy):
            raise ConfigError(
                f"{self.teacher} is not a tree of splits and leaves, so there are no splits to "
                "keep: grow new ones (splits grow)."
            )
        if [f.name for f in teacher.features] != [f.name for f in task.features]:
            raise ConfigError(
                f"{self.teacher} splits on other features than those of {task.name}: grow new "
                "splits (splits grow)."
            )
        if len(teacher.leaves) < 2:
            raise ConfigError(f"{self.teacher} has no split to keep: grow some (splits grow).")
        if self.leaves is not None and len(teacher.leaves) > self.leaves:
            raise ConfigError(
                f"{self.teacher} has {len(teacher.leaves)} leaves, expected at most {self.leaves} "
                "to keep its splits: ask for more leaves, or grow new splits (splits grow)."
            )


@dataclass(frozen=True)
class Round:
    """One student: what it was fitted to, and what it returned."""

    pairs: int
    leaves: int
    mean: float  # of the episodes in which the next round learned from it
    standard_error: float
    validation_mean: float | None = None  # of validation episodes, for those that played them
    validation_error: float | None = None
