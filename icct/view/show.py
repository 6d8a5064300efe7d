"""Show: what the live view and a recording are of, as one value: a policy and its world."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from icct.policy import Policy
from icct.view.simulation import MakeSimulation

if TYPE_CHECKING:
    from icct.verify import Property


@dataclass(frozen=True)
class Show:
    """A policy in a world, to be watched live (`icct.view.server.view`) or recorded.

    An example, for a simulation of one's own:

        show = Show(policy, functools.partial(RobotArena, humans=13), "robot arena", step_s=0.033)
        text = recording_page(record(show, seed=7))       # icct.view.recording: one HTML file
        view(Source(show), port=8700)                     # icct.view.server: until Ctrl-C
    """

    policy: Policy
    make: MakeSimulation
    title: str  # of the world, such as the task's name
    step_s: float | None = None  # simulated seconds per step: speed 1 is real time
    horizon: int | None = None  # steps of the longest episode, where that is known
    properties: "Sequence[Property]" = ()  # asked again after each change in the page
