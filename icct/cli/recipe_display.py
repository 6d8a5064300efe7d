"""How a run of the recipe looks: stages and scores as lines on stderr, progress inside a stage."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from icct.cli.polish_display import PolishDisplay
from icct.cli.progress import ProgressBar
from icct.cli.tracking import Tracked, followed
from icct.learn.display import display
from icct.recipe.show import Show

if TYPE_CHECKING:
    from icct.learn.train import Status as TrainStatus
    from icct.polish import Status as PolishStatus


def score_text(fresh: dict[str, Any] | None) -> str:
    """Return a mean return and its standard error, or a dash."""
    return "-" if fresh is None else f"{fresh['mean']:.1f} ± {fresh['standard_error']:.1f}"


class RecipeDisplay(Show):
    """Stages and scores as lines on stderr, progress inside a stage as one line that changes.

    Args:
        tracked: A run on Weights & Biases that is told the scores too.
    """

    def __init__(self, tracked: Tracked | None = None) -> None:
        self._tracked = tracked

    def stage(self, stage: str, what: str) -> None:
        """Print which stage begins."""
        print(f"{stage}: {what}", file=sys.stderr, flush=True)

    def scored(self, stage: str, what: str, fresh: dict[str, Any]) -> None:
        """Print how what a stage made scores."""
        print(f"  {stage}: {score_text(fresh)} ({what})", file=sys.stderr, flush=True)
        if self._tracked is not None:
            self._tracked.score(f"{what}/{stage}", fresh["mean"])

    @contextmanager
    def teaching(self) -> "Iterator[Callable[[TrainStatus], None]]":
        """Show how teachers learn."""
        with display() as report:
            yield followed(report, self._tracked)

    @contextmanager
    def polishing(self) -> "Iterator[Callable[[PolishStatus], None]]":
        """Show how polishing goes."""
        with PolishDisplay() as report:
            yield report

    @contextmanager
    def counting(self, what: str) -> Iterator[Callable[[int, int], None]]:
        """Show a bar."""
        with ProgressBar(what) as report:
            yield report
