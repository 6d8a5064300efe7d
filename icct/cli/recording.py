"""A policy in its world, for the verbs that show or record one, and the file of a recording."""

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING

from icct.cli.properties import properties_for
from icct.cli.task import task_for
from icct.errors import ConfigError
from icct.files import write_atomically

if TYPE_CHECKING:
    from icct.policy import Policy
    from icct.view.recording import Recording
    from icct.view.show import Show

MOST_FRAMES = 300  # of a film
FPS = 25


def show_of(policy: "Policy", options: argparse.Namespace) -> "Show":
    """Return a policy in the world that the flags name, or that it remembers."""
    from icct.envs.source import import_gymnasium

    task = task_for(options, policy)
    import_gymnasium(task.name, task.extra or "envs")
    from icct.view.task_simulation import task_show

    return task_show(policy, task, properties_for(policy, task, None))


def check_output(path: str) -> None:
    """Refuse a name that says neither page nor film, before anything is played."""
    from icct.video import FORMATS, check_video_path

    suffix = Path(path).suffix.lower()
    if suffix not in (".html", *FORMATS):
        raise ConfigError(f"{path}: expected a file that ends in .html, .mp4 or .gif.")
    if suffix in FORMATS:
        check_video_path(path)


def write_recording(path: str, policy: "Policy", recording: "Recording") -> None:
    """Write a recording as the page or the film that its name asks for."""
    from icct.video import write_video
    from icct.view.recording import recording_page

    if Path(path).suffix.lower() == ".html":
        write_atomically(path, recording_page(recording))
        return
    from icct.view.film import film_frames

    every = math.ceil(len(recording["runs"][0]["steps"]) / MOST_FRAMES)
    write_video(path, film_frames(policy, recording, every), fps=FPS)
