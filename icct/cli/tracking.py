"""`icct train --track`: the run on Weights & Biases, by the flags that RL Zoo and CleanRL have.

The numbers are those of metrics.csv, read while it grows; TensorBoard events are written anyway.
Where Weights & Biases sends them is its own matter: `wandb login`, WANDB_MODE=offline and so on.
"""

import argparse
import csv
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from icct.errors import ConfigError, MissingExtraError


class Described(Protocol):
    """What a run is configured by."""

    def as_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        ...


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags of tracking."""
    group = parser.add_argument_group("tracking (TensorBoard events are in RUN/tensorboard anyway)")
    group.add_argument("--track", action="store_true", help="send the run to Weights & Biases")
    group.add_argument(
        "--wandb-project-name", default="icct", metavar="NAME", help="its project (default icct)"
    )
    group.add_argument(
        "--wandb-entity", metavar="NAME", help="whose project (default: your own of wandb login)"
    )
    group.add_argument(
        "--wandb-tags", nargs="+", default=[], metavar="TAG", help="tags of the run there"
    )


class Tracked:
    """A run on Weights & Biases that is told what a file of metrics says, as it grows."""

    def __init__(self, run: Any, metrics: Path) -> None:
        self.run, self._metrics, self._read_bytes = run, metrics, 0
        run.define_metric("*", step_metric="step")

    def follow(self) -> None:
        """Send the lines that have been added since the last time."""
        if not self._metrics.is_file():
            return
        with self._metrics.open("rb") as file:
            file.seek(self._read_bytes)
            new = file.read()
        whole = new[: new.rfind(b"\n") + 1]  # the last line may be half written
        self._read_bytes += len(whole)
        by_step: dict[int, dict[str, float]] = {}
        for row in csv.reader(whole.decode().splitlines()):
            if row[0] != "step":  # not the header
                step, group, seed, metric, value = row
                by_step.setdefault(int(step), {})[f"{group}/seed-{seed}/{metric}"] = float(value)
        for at, values in by_step.items():
            self.run.log({**values, "step": at})

    def score(self, name: str, mean: float) -> None:
        """Note how something scored, beside the curves."""
        self.run.summary[name] = mean


def followed(report: Callable[[Any], None], run: Tracked | None) -> Callable[[Any], None]:
    """Return a report of training that sends the metrics as well, where the run is tracked."""

    def both(status: Any) -> None:
        report(status)
        if run is not None:
            run.follow()

    return both


@contextmanager
def tracked(
    options: argparse.Namespace, described: Sequence[Described], folder: Path, inside: str = "."
) -> Iterator[Tracked | None]:
    """Yield the run on Weights & Biases while it lasts; None where nobody asked for it.

    Args:
        options: Those that `add_arguments` declares.
        described: What the run is configured by.
        folder: The run folder.
        inside: Where in that folder training writes its metrics.
    """
    if not options.track:
        yield None
        return
    try:
        import wandb
    except ImportError:
        raise MissingExtraError(
            '--track needs wandb. Install it with: pip install "icct[track]"'
        ) from None
    folder.mkdir(parents=True, exist_ok=True)
    try:
        run = wandb.init(
            project=options.wandb_project_name,
            entity=options.wandb_entity,
            tags=options.wandb_tags,
            name=folder.name,
            config={"groups": [one.as_json() for one in described]},
            dir=folder,
        )
    except wandb.errors.Error as error:
        raise ConfigError(
            f"Weights & Biases: {error} Log in with `wandb login`, or set WANDB_MODE=offline."
        ) from None
    with run:
        found = Tracked(run, folder / inside / "metrics.csv")
        yield found
        found.follow()
