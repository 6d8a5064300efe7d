"""How a run of the recipe tells where it stands; this base class keeps silent."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from icct.learn.train import Status as TrainStatus
    from icct.polish import Status as PolishStatus


class Show:
    """What a run tells: stages as they begin, progress inside them, scores as they come."""

    def stage(self, stage: str, what: str) -> None:
        """Tell that a stage begins."""

    def scored(self, stage: str, what: str, fresh: dict[str, Any]) -> None:
        """Tell how what a stage made scores on fresh episodes."""

    @contextmanager
    def teaching(self) -> "Iterator[Callable[[TrainStatus], None]]":
        """Yield what is called while teachers learn."""
        yield lambda status: None

    @contextmanager
    def polishing(self) -> "Iterator[Callable[[PolishStatus], None]]":
        """Yield what is called while a tree is polished."""
        yield lambda status: None

    @contextmanager
    def counting(self, what: str) -> Iterator[Callable[[int, int], None]]:
        """Yield what is called with (done, in all)."""
        yield lambda done, total: None
