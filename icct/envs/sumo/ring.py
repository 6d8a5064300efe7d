"""The two ring roads: one lane to keep flowing, two lanes to hold back."""

from typing import Any

from icct.envs.catalog import MULTI_LANE_RING, MULTI_LANE_ROAD, SINGLE_LANE_RING, SINGLE_LANE_ROAD
from icct.envs.sumo.scenario import (
    SAFE_SPEED_AND_RIGHT_OF_WAY,
    SAFE_SPEED_ONLY,
    VEHICLE_LENGTH_M,
    Placement,
    Scenario,
)
from icct.envs.sumo.traffic import TrafficEnv

RING_M = 230.0
EDGE_M = RING_M / 4
BUNCHING_M = 20.0  # what the traffic is squeezed by, per lane; it lies in front of the ego
VEHICLES = 22
LOOP = ("bottom", "right", "top", "left")
STARTS_M = {
    "bottom": 0.0,
    ":right_0": 57.5,
    "right": 57.6,
    ":top_0": 115.1,
    "top": 115.2,
    ":left_0": 172.7,
    "left": 172.8,
    ":bottom_0": 230.3,
}


def ring_placements(lanes: int) -> tuple[Placement, ...]:
    """Return where the 22 vehicles start: evenly from coordinate 0, side by side on all lanes."""
    free_m = lanes * (RING_M - BUNCHING_M) - VEHICLES * VEHICLE_LENGTH_M
    spacing_m = free_m / VEHICLES + VEHICLE_LENGTH_M
    placements = []
    for vehicle in range(VEHICLES):
        x = (vehicle // lanes) * spacing_m
        edge = max(LOOP, key=lambda e: STARTS_M[e] if STARTS_M[e] <= x else -1.0)
        placements.append(Placement(edge, x - STARTS_M[edge], vehicle % lanes))
    return tuple(placements)


SINGLE_LANE = Scenario(
    network="single_lane_ring",
    loop=LOOP,
    starts_m=STARTS_M,
    points_m={},
    road=SINGLE_LANE_ROAD,
    target_speed_mps=20.0,
    warm_up_steps=100,
    placements=ring_placements(lanes=1),
    human_speed_mode=SAFE_SPEED_AND_RIGHT_OF_WAY,
    ego_speed_mode=SAFE_SPEED_AND_RIGHT_OF_WAY,
    flow_humans=True,
    colour_top_mps=6.0,
)

MULTI_LANE = Scenario(
    network="multi_lane_ring",
    loop=LOOP,
    starts_m=STARTS_M,
    points_m={},
    road=MULTI_LANE_ROAD,
    target_speed_mps=5.0,
    warm_up_steps=750,
    placements=ring_placements(lanes=2),
    human_speed_mode=SAFE_SPEED_AND_RIGHT_OF_WAY,
    ego_speed_mode=SAFE_SPEED_ONLY,
    flow_humans=False,
    colour_top_mps=12.0,
)


class SingleLaneRingEnv(TrafficEnv):
    """One ego among 21 human cars on a ring road of 230 m, all wanting to go fast.

    The humans follow a car-following model with noise, so that stop-and-go waves form; an ego that
    drives evenly dissolves them.

    | observation | meaning | unit |
    |---|---|---|
    | 0-20 `speed_human_k`, 21 `speed_ego` | speed | x 30 m/s |
    | 22-42 `position_human_k`, 43 `position_ego` | coordinate along the ring | x 230.4 m |

    | action | range | meaning |
    |---|---|---|
    | `acceleration` | -1 to 1 m/s^2 | SUMO drives at most as fast as its own safe speed |

    Reward: 1 - RMS(v - 20 m/s) / 20 m/s over all 22 cars, not below 0; 0 in the step of a
    collision. Ending: terminated by a collision, truncated after 750 steps of 0.1 s. The episode
    is preceded by 100 steps of warm-up in which SUMO drives the ego. After a collision the
    observation repeats the last one before it.

    Options: `ego="sumo"` ignores the actions and leaves the ego to SUMO, as in the warm-up.

    Version history: v1, SUMO 1.28 in place of the original's Flow.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(SINGLE_LANE_RING, SINGLE_LANE, **options)


class MultiLaneRingEnv(TrafficEnv):
    """One ego among 21 human cars on a two-lane ring road, to be held at 5 m/s.

    Left alone the cars settle at 9 to 10 m/s. They never change lanes and can only be slowed by a
    car in front, so the ego has to hold back both lanes: by weaving between them.

    | observation | meaning | unit |
    |---|---|---|
    | 0-20 `speed_human_k`, 21 `speed_ego` | speed | x 12 m/s |
    | 22-42 `position_human_k`, 43 `position_ego` | coordinate along the ring | x 230.52 m |
    | 44-64 `lane_human_k`, 65 `lane_ego` | 0: right lane, 0.5: left lane | x lane 2 |

    | action | range | meaning |
    |---|---|---|
    | `acceleration` | -3 to 3 m/s^2 | SUMO drives at most as fast as its own safe speed |
    | `lane_change` | -1 to 1 | from 0.5: to the left lane; to -0.5: to the right lane; else stay |

    Reward: 1 - RMS(v - 5 m/s) / 5 m/s over all 22 cars, not below 0; 0 in the step of a collision.
    Ending: terminated by a collision, truncated after 1500 steps of 0.1 s. The episode is preceded
    by 750 steps of warm-up in which SUMO drives the ego. After a collision the observation repeats
    the last one before it.

    Options: `ego="sumo"` ignores the actions and leaves the ego to SUMO. `lane_change_gate`:
    `original` drops a request while the step counter (warm-up included) is at most 5 plus the gap
    to the leader in metres (1000 without one), a slip of the original framework that its results
    contain; `cool-down` is what was meant, 5 steps after a lane change; `none` drops nothing.

    Version history: v1, SUMO 1.28 in place of the original's Flow.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(MULTI_LANE_RING, MULTI_LANE, **options)
