"""The figure eight: one lane that crosses itself, where nobody has right of way."""

from typing import Any

from icct.envs.catalog import FIGURE_EIGHT, FIGURE_EIGHT_ROAD
from icct.envs.sumo.scenario import SAFE_SPEED_ONLY, Placement, Scenario
from icct.envs.sumo.traffic import TrafficEnv

# The original starts 13 humans and the ego here. human_0 and human_7 then meet on the crossing and
# collide in about one episode of nine, whatever the ego does; hence the other two placements.
ORIGINAL = (
    Placement("bottom", 0.0),
    Placement("top", 0.0),
    Placement("top", 28.7671),
    Placement("upper_ring", 27.2543),
    Placement("upper_ring", 56.0214),
    Placement("upper_ring", 84.7886),
    Placement("upper_ring", 113.5557),
    Placement("right", 0.6712),
    Placement("right", 29.4383),
    Placement("left", 22.0055),
    Placement("lower_ring", 20.4926),
    Placement("lower_ring", 49.2598),
    Placement("lower_ring", 78.0269),
    Placement("lower_ring", 106.7940),
)
SHIFTED = (*ORIGINAL[:7], Placement("right", 2.6712), *ORIGINAL[8:])  # human_7 by 2 m
EVEN = (
    Placement("bottom", 0.0),
    Placement("bottom", 28.767),
    Placement("top", 21.334),
    Placement("upper_ring", 19.821),
    Placement("upper_ring", 48.589),
    Placement("upper_ring", 77.356),
    Placement("upper_ring", 106.123),
    Placement("upper_ring", 134.890),
    Placement("right", 22.005),
    Placement("left", 14.573),
    Placement("lower_ring", 13.060),
    Placement("lower_ring", 41.827),
    Placement("lower_ring", 70.594),
    Placement("lower_ring", 99.361),
)
PLACEMENTS = {"shifted": SHIFTED, "original": ORIGINAL, "even": EVEN}


def figure_eight_scenario(placement: str = "shifted") -> Scenario:
    """Return the scenario with one of the three initial placements."""
    return Scenario(
        network="figure_eight",
        loop=("bottom", "top", "upper_ring", "right", "left", "lower_ring"),
        # The coordinate of the original was written for a crossing of 6.2 m; the real one has
        # 9.4 m, so that on it the coordinate runs 3.2 m into the range of the next edge.
        starts_m={
            "bottom": 0.28,
            ":center_1": 30.28,
            "top": 36.48,
            "upper_ring": 66.76,
            "right": 208.4117,
            ":center_0": 238.4117,
            "left": 244.6117,
            "lower_ring": 274.8917,
        },
        points_m={":top_0": 66.48, ":right_0": 208.1317, ":left_0": 274.6117, ":bottom_0": 0.0},
        road=FIGURE_EIGHT_ROAD,
        target_speed_mps=5.0,
        warm_up_steps=0,
        placements=PLACEMENTS[placement],
        human_speed_mode=SAFE_SPEED_ONLY,
        ego_speed_mode=SAFE_SPEED_ONLY,
        flow_humans=True,
        colour_top_mps=10.0,
    )


class FigureEightEnv(TrafficEnv):
    """One ego among 13 human cars on a figure eight whose crossing has no right of way.

    Cars that meet at the crossing brake hard, and queues form. An ego that leads the others in a
    close platoon lets them cross without waiting.

    | observation | meaning | unit |
    |---|---|---|
    | 0-12 `speed_human_k`, 13 `speed_ego` | speed | x 12 m/s |
    | 14-26 `position_human_k`, 27 `position_ego` | coordinate along the road | x 421.94 m |

    | action | range | meaning |
    |---|---|---|
    | `acceleration` | -3 to 3 m/s^2 | SUMO drives at most as fast as its own safe speed |

    Reward: 1 - RMS(v - 5 m/s) / 5 m/s over all 14 cars, not below 0; 0 in the step of a collision.
    Ending: terminated by a collision, truncated after 1500 steps of 0.1 s. There is no warm-up:
    all cars start from standstill. After a collision the observation repeats the last one before
    it.

    Options: `ego="sumo"` ignores the actions and leaves the ego to SUMO. `placement`: `shifted`
    moves human_7 forward by 2 m, without which one episode of nine ends at step 86 to 89 in a
    collision that the ego cannot prevent (`original`); `even` spaces all cars evenly.

    Version history: v1, SUMO 1.28 in place of the original's Flow.
    """

    def __init__(self, *, render_mode: str | None = None, **options: Any) -> None:
        task = FIGURE_EIGHT.with_options(options)  # refuses what it does not have
        scenario = figure_eight_scenario(options.get("placement", "shifted"))
        super().__init__(task, scenario, render_mode=render_mode)
