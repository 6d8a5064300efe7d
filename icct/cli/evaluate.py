"""`icct evaluate`: run a policy or a scripted driver on a task and say what it returned."""

import argparse
import json
import math

from icct.cli.task import actor_and_task, add_task_arguments

VIDEO_FRAMES = 300
VIDEO_FPS = 25

EXAMPLES = """examples:
  icct evaluate driver:constant-speed=3.5 --task single-lane-ring
  icct evaluate driver:weave=5 --task multi-lane-ring --episodes 10 --workers 2
  icct evaluate my_policy.json --episodes 100 --json               the task it was trained on
  icct evaluate my_policy.json --task my_package.my_module:MyEnv
  icct evaluate driver:none --task figure-eight --episodes 1 --video out.gif
  icct evaluate driver:none --task figure-eight --option placement=original

drivers:
  none                   no command: SUMO drives the ego             traffic tasks
  constant-speed=V       hold V m/s                                  traffic tasks
  idm                    drive like the human cars, without noise    traffic tasks
  weave=V                hold V m/s, always ask for the other lane   multi-lane-ring
  linear-steering        a linear law on lateral and heading error   lane-keeping
  random                 uniform within the limits                   all tasks
  constant-action=A,B    the same action in every step               all tasks
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    parser.add_argument(
        "actor", metavar="POLICY", help="a policy or actor file, zoo:NAME or driver:NAME"
    )
    add_task_arguments(parser)
    parser.add_argument("--episodes", type=int, default=10, help="how many (default 10)")
    parser.add_argument("--seed", type=int, default=0, help="the same seed, the same numbers")
    parser.add_argument("--workers", type=int, default=1, help="processes to share the episodes")
    parser.add_argument("--json", action="store_true", help="print JSON, with every return")
    parser.add_argument("--video", metavar="FILE", help="film the first episode (.gif or .mp4)")


def run(options: argparse.Namespace) -> int:
    """Evaluate and print."""
    from icct.cli.how_long import say_episodes
    from icct.cli.progress import ProgressBar
    from icct.evaluate import evaluate, film
    from icct.video import check_video_path, write_video

    if options.video:
        check_video_path(options.video)
    actor, task = actor_and_task(options, options.actor)
    say_episodes(task, options.episodes, options.workers)
    with ProgressBar("episodes") as progress:
        result = evaluate(
            actor,
            task,
            episodes=options.episodes,
            seed=options.seed,
            workers=options.workers,
            name=options.actor,
            progress=progress,
        )
    print(json.dumps(result.as_dict(), indent=2) if options.json else result.as_text())
    if options.video:
        first = result.episodes[0]
        every = math.ceil(first.length / VIDEO_FRAMES)
        frames = film(actor, task, first.seed, every)
        fps = VIDEO_FPS if task.step_s is None else min(VIDEO_FPS, 1 / task.step_s * 4)
        write_video(options.video, frames, fps=fps)
    return 0
