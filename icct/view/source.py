"""What a server shows to all its tabs: one policy, or the newest one of a run folder."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from icct.view.about import policy_about
from icct.view.curve import Curve
from icct.view.show import Show

if TYPE_CHECKING:
    from icct.view.session import Session


class Source:
    """A policy that stays the same, and the tabs that watch it.

    Args:
        show: The policy in its world.
        seed: Of the first episode.
        folder: Where edited policies are saved.
        curves: How training went, where that is known.
    """

    def __init__(
        self, show: Show, *, seed: int = 0, folder: Path | None = None, curves: Sequence[Curve] = ()
    ) -> None:
        policy_about(show.policy)  # refuses here what a page could not show
        self.show, self.seed, self.curves = show, seed, curves
        self.folder = folder or Path.cwd()
        self.sessions: set[Session] = set()

    def about(self) -> dict[str, Any]:
        """Return what a page shows beside the policy and its world."""
        return {
            "folder": None,
            "saves_in": str(self.folder),
            "curves": [
                {"name": curve.name, "steps": curve.steps, "values": curve.values}
                for curve in self.curves
            ],
        }

    async def watch(self) -> None:
        """Look for news for as long as the server runs; here there are none."""
