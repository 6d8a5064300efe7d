"""`icct view POLICY`: watch a policy think, in a browser, live."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from icct.cli.recording import show_of
from icct.cli.task import add_task_arguments
from icct.zoo import PREFIX, load_policy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from icct.policy import Policy
    from icct.view.curve import Curve

EXAMPLES = """examples:
  icct view zoo:ring-cruiser                                       the task it was made for
  icct view my.json --task examples/car-following.toml
  icct view runs/lander                                            the newest policy of a run
  icct view zoo:lunar-lander/icct-2-feature --seed 7 --port 8700 --no-browser
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of this verb."""
    parser.add_argument("policy", help="a policy file, zoo:NAME, or a run folder")
    add_task_arguments(parser, "what to watch it in")
    parser.add_argument("--seed", type=int, default=0, help="of the first episode (default 0)")
    parser.add_argument("--port", type=int, default=0, help="to listen on (default: any free one)")
    parser.add_argument("--host", default="127.0.0.1", help="to listen on (default: this machine)")
    parser.add_argument(
        "--browser",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="open the page in a browser",
    )
    parser.add_argument(
        "--save-in",
        type=Path,
        default=Path("."),
        metavar="FOLDER",
        help="where the page saves edited policies (default: here)",
    )


def run(options: argparse.Namespace) -> int:
    """Serve the page until Ctrl-C."""
    from icct.view.folder import FolderSource
    from icct.view.server import view
    from icct.view.source import Source

    folder = options.save_in.resolve()
    if Path(options.policy).is_dir():
        source: Source = FolderSource(
            Path(options.policy),
            lambda policy: show_of(policy, options),
            seed=options.seed,
            folder=folder,
        )
    else:
        policy = load_policy(options.policy)
        source = Source(
            show_of(policy, options),
            seed=options.seed,
            folder=folder,
            curves=curves_of(options.policy, policy),
        )
    view(source, host=options.host, port=options.port, browser=options.browser)
    return 0


def curves_of(named: str, policy: "Policy") -> "Sequence[Curve]":
    """Return how training went, where the policy lies in a run folder."""
    from icct.view.curve import training_curves

    return () if named.startswith(PREFIX) else training_curves(policy, Path(named))
