"""`icct record POLICY -o episode.html`: an episode with the lit tree, to send to somebody."""

import argparse

from icct.cli.inputs import keep_inputs
from icct.cli.recording import check_output, show_of, write_recording
from icct.cli.task import add_task_arguments
from icct.errors import ConfigError
from icct.zoo import load_policy

EXAMPLES = """examples:
  icct record zoo:ring-cruiser -o episode.html                     plays offline in any browser
  icct record my.json --task examples/car-following.toml --seed 7 -o episode.html
  icct record zoo:lunar-lander/icct-2-feature -o landing.gif       or .mp4
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of this verb."""
    parser.add_argument("policy", help="a policy file, or zoo:NAME")
    add_task_arguments(parser, "what to record it in")
    parser.add_argument("--seed", type=int, default=0, help="of the episode (default 0)")
    parser.add_argument("--steps", type=int, help="stop after so many (default: at the end)")
    parser.add_argument(
        "-o", "--output", required=True, metavar="FILE", help="ends in .html, .mp4 or .gif"
    )


def run(options: argparse.Namespace) -> int:
    """Play the episode, write the file and print its name."""
    from icct.cli.progress import ProgressBar
    from icct.view.recording import record

    keep_inputs(options.output, options.policy, force=None)
    check_output(options.output)
    if options.seed < 0 or (options.steps is not None and options.steps < 1):
        raise ConfigError("--seed is 0 or more, --steps 1 or more.")
    policy = load_policy(options.policy)
    show = show_of(policy, options)
    with ProgressBar("steps") as progress:
        recording = record(
            show,
            options.seed,
            steps=options.steps,
            watch=lambda step: progress(step, max(step, options.steps or show.horizon or step)),
        )
    write_recording(options.output, policy, recording)
    print(options.output)
    return 0
