"""A run folder that is being trained in: the newest policy and its curve, as they appear."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from icct.errors import ConfigError, IcctError, PolicyError
from icct.files import TEMPORARY
from icct.policy import Policy
from icct.policy.file import read_policy
from icct.view.curve import Curve, training_curves
from icct.view.show import Show
from icct.view.source import Source

LOOK_EVERY_S = 2.0


class FolderSource(Source):
    """The newest policy of a run folder, looked for again and again."""

    def __init__(
        self, run: Path, show: Callable[[Policy], Show], *, seed: int = 0, folder: Path
    ) -> None:
        self._run, self._make_show = run, show
        found = newest_policy(run)
        if found is None:
            raise ConfigError(
                f"{run}: there is no policy in it yet. Training writes the first one after its "
                "first evaluation; try again then."
            )
        self._file, policy = found
        self._stamp = self._file.stat().st_mtime_ns
        super().__init__(show(policy), seed=seed, folder=folder, curves=_curves(policy, self._file))

    def about(self) -> dict[str, Any]:
        """Return what a page shows beside the policy, with the file that it is from."""
        place = {"path": str(self._run), "file": str(self._file.relative_to(self._run))}
        return super().about() | {"folder": place}

    async def watch(self) -> None:
        """Look for a newer policy and a longer curve for as long as the server runs."""
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            with suppress(IcctError):  # a policy that cannot be shown; the next one may
                if await asyncio.to_thread(self._look):
                    for session in list(self.sessions):
                        session.renew()

    def _look(self) -> bool:
        """Take over what is new, and return whether something is."""
        found = newest_policy(self._run)
        if found is None:
            return False
        file, policy = found
        stamp = file.stat().st_mtime_ns
        curves = _curves(policy, file)
        if (file, stamp) != (self._file, self._stamp):
            self._file, self._stamp = file, stamp
            if policy != self.show.policy:
                self.show = self._make_show(policy)
        elif curves == self.curves:
            return False
        self.curves = curves
        return True


def newest_policy(run: Path) -> tuple[Path, Policy] | None:
    """Return the policy file that was written last in a run folder, and what is in it."""
    files = [file for file in run.rglob("seed-*.json") if not file.name.startswith(TEMPORARY)]
    for file in sorted(files, key=_written, reverse=True):
        try:
            return file, read_policy(file)
        except PolicyError:  # of another kind, or being replaced this very moment
            continue
    return None


def _written(file: Path) -> int:
    try:
        return file.stat().st_mtime_ns
    except OSError:
        return 0


def _curves(policy: Policy, file: Path) -> Sequence[Curve]:
    with suppress(IcctError):  # measurements that are being written, or are no table
        return training_curves(policy, file)
    return ()
