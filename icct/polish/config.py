"""What a polishing run does."""

from dataclasses import dataclass

from icct.errors import ConfigError
from icct.polish.choice import CHOICE_PLANS, ChoicePlan
from icct.polish.objective import Objective, check_objective


@dataclass(frozen=True)
class PolishConfig:
    """The settings of a run; one of `evaluations` and `minutes` bounds it."""

    evaluations: int | None = None  # episodes, those for the report left out
    minutes: float | None = None
    objective: Objective = "mean"
    seed: int = 0
    validation_episodes: int = 100  # of each policy that is checked
    report_episodes: int = 100  # 0: no report

    def __post_init__(self) -> None:
        check_objective(self.objective)
        if (self.evaluations is None) == (self.minutes is None):
            raise ConfigError("Give the budget as evaluations or as minutes, one of the two.")
        for name, lowest in (("validation_episodes", 10), ("report_episodes", 0), ("seed", 0)):
            if (value := getattr(self, name)) < lowest:
                raise ConfigError(f"{name} is {value}, expected at least {lowest}.")
        if self.report_episodes == 1:
            raise ConfigError("report_episodes is 1, expected 0 for no report, or at least 2.")
        if self.evaluations is not None and self.evaluations < 2 * self.reserve():
            raise ConfigError(
                f"evaluations is {self.evaluations}, expected at least {2 * self.reserve()}: the "
                f"choice alone takes {self.reserve()} episodes. Set validation_episodes for less."
            )
        if self.minutes is not None and not self.minutes > 0:
            raise ConfigError(f"minutes is {self.minutes}, expected more than 0.")

    @property
    def batch(self) -> int:
        """The episodes that each one plays in a batch of the final choice."""
        return 2 * self.validation_episodes

    def reserve(self, plan: ChoicePlan = CHOICE_PLANS[-1]) -> int:
        """Return the episodes kept back for the last check and the final choice."""
        return self.validation_episodes + plan.batches_played * self.batch
