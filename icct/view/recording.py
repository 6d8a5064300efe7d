"""An episode as one JSON value, and as one HTML file that plays it offline."""

import json
from collections.abc import Callable, Sequence
from typing import Any

from icct.view.about import policy_about, show_about
from icct.view.process import compact
from icct.view.shell import recorded_page
from icct.view.show import Show
from icct.view.simulation import Actor, Episode, Step

FORMAT, VERSION = "icct-episode", 1
Recording = dict[str, Any]
Watch = Callable[[int], None]  # called with the number of each step


def record(
    show: Show,
    seed: int,
    *,
    steps: int | None = None,
    beside: Show | None = None,
    names: Sequence[str] = (),
    watch: Watch | None = None,
) -> Recording:
    """Return a whole episode, played in this process.

    Args:
        show: A policy in its world.
        seed: Of the episode.
        steps: Stop after so many; by default at the end.
        beside: A second policy or world, recorded with the same seed and shown beside the first.
        names: What the two are called on the page; by default after their policies.
        watch: Called after each step, for a progress bar.
    """
    about = show_about(show)
    runs = [run_of(show, show.policy, seed, steps, watch)]
    if beside is not None:
        about["policies"].append(policy_about(beside.policy))
        runs.append(run_of(beside, beside.policy, seed, steps, watch))
    if names:
        about["names"] = list(names)
    return {"format": FORMAT, "version": VERSION, "about": about, "runs": runs}


def run_of(
    show: Show, actor: Actor, seed: int, steps: int | None = None, watch: Watch | None = None
) -> dict[str, Any]:
    """Return one run of a recording; the actor need not be the policy of the show."""
    simulation = show.make()
    try:
        episode = Episode(simulation, actor)
        played: list[Step] = [episode.reset(seed)]
        stage = simulation.stage()
        while not episode.over and (steps is None or len(played) <= steps):
            played.append(episode.step())
            if watch is not None:
                watch(len(played) - 1)
    finally:
        simulation.close()
    return {"seed": seed, "stage": stage, "steps": played}


def recording_page(recording: Recording) -> str:
    """Return the text of an HTML file that plays a recording and needs nothing else."""
    title = f"{recording['about']['policies'][0]['name']}: {recording['about']['title']}"
    return recorded_page(title, compact(recording))


def as_text(recording: Recording) -> str:
    """Return a recording as the text of a JSON file."""
    return json.dumps(recording, allow_nan=False) + "\n"
