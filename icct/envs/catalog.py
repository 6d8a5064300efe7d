"""The six built-in tasks as values: features, actions, horizon, simulator and options.

Needs no simulator, not even Gymnasium, so that `icct tasks` can print anywhere. The environments
themselves are in the other files.
"""

import math

from icct.envs.task import Road, Task
from icct.policy import Action, Feature
from icct.policy.mirror import Mirror


def traffic_features(road: Road) -> tuple[Feature, ...]:
    """Return the features of a traffic task: speeds, positions and lanes, each with the ego last.

    A unit such as `x 30 m/s` says what the number is to be multiplied by to get the quantity.
    """
    vehicles = [*(f"human_{k}" for k in range(road.humans)), "ego"]
    unit = f"x {road.speed_limit_mps:g} m/s"
    features = [Feature(f"speed_{v}", unit, 0, 1) for v in vehicles[:-1]]
    # Humans cannot drive faster than the limit. An ego that nothing holds back can, by the speed
    # factor that SUMO draws for it, of at most 2; its own top speed is 30 m/s.
    fastest = min(2.0, 30 / road.speed_limit_mps)
    features.append(Feature("speed_ego", unit, 0, fastest, "physical"))
    features += [Feature(f"position_{v}", f"x {road.length_m:g} m", 0, 1) for v in vehicles]
    if road.lanes > 1:
        highest = (road.lanes - 1) / road.lanes
        unit = f"x lane {road.lanes}"  # 0 is lane 0 (right), 0.5 is lane 1 (left) of two
        features += [Feature(f"lane_{v}", unit, 0, highest, "physical") for v in vehicles]
    return tuple(features)


SINGLE_LANE_ROAD = Road(humans=21, speed_limit_mps=30.0, length_m=230.40, lanes=1)
MULTI_LANE_ROAD = Road(humans=21, speed_limit_mps=12.0, length_m=230.52, lanes=2)
FIGURE_EIGHT_ROAD = Road(humans=13, speed_limit_mps=12.0, length_m=421.94, lanes=1)
EGO_OPTION = {"ego": ("agent", "sumo")}  # sumo: actions are ignored and SUMO drives the ego

INVERTED_PENDULUM = Task(
    name="inverted-pendulum",
    gym_id="icct/InvertedPendulum-v1",
    summary="Push a cart so that the pole on it stays upright.",
    simulator="MuJoCo (Gymnasium InvertedPendulum-v5)",
    extra="envs",
    environment="icct.envs.inverted_pendulum:InvertedPendulumEnv",
    # The pole angle is bounded by the rule that ends the episode; the others were measured over
    # linear controllers of many gains with noise (benchmarks/feature_ranges.py).
    features=(
        Feature("cart_position", "m", -1.05, 1.05, "measured"),
        Feature("pole_angle", "rad", -0.2, 0.2, "physical"),
        Feature("cart_velocity", "m/s", -5, 5, "measured"),
        Feature("pole_angular_velocity", "rad/s", -10, 10, "measured"),
    ),
    actions=(Action("force", "x 100 N", -3, 3),),  # the model's motor has a gear of 100
    horizon=1000,
    step_s=0.04,
    paper_returns="1000",
    mirror=Mirror(
        ("cart_position", "pole_angle", "cart_velocity", "pole_angular_velocity", "force")
    ),
    choices={"pole_length": ("0.6", "0.3", "1.2")},
)

LUNAR_LANDER = Task(
    name="lunar-lander",
    gym_id="icct/LunarLander-v1",
    summary="Land between the flags, softly and upright, with little fuel.",
    simulator="Box2D (Gymnasium LunarLander-v3, continuous)",
    extra="envs",
    environment="icct.envs.lunar_lander:LunarLanderEnv",
    features=(
        Feature("x", "x 10 m", -2.5, 2.5),
        Feature("y", "x 6.67 m", -2.5, 2.5),
        Feature("velocity_x", "x 5 m/s", -10, 10),
        Feature("velocity_y", "x 7.5 m/s", -10, 10),
        Feature("angle", "rad", -2 * math.pi, 2 * math.pi),
        Feature("angular_velocity", "x 2.5 rad/s", -10, 10),
        Feature("left_leg_contact", "0 or 1", 0, 1),
        Feature("right_leg_contact", "0 or 1", 0, 1),
    ),
    actions=(
        Action("main_engine", "throttle", -1, 1),  # below 0: off; 0 to 1: 50 % to 100 %
        Action("side_engine", "throttle", -1, 1),  # below -0.5: left; above 0.5: right; else off
    ),
    horizon=1000,
    step_s=0.02,
    paper_returns="190 to 300",
    collision="collision",
    mirror=Mirror(
        negated=("x", "velocity_x", "angle", "angular_velocity", "side_engine"),
        swapped=(("left_leg_contact", "right_leg_contact"),),
    ),
    choices={},
)

LANE_KEEPING = Task(
    name="lane-keeping",
    gym_id="icct/LaneKeeping-v1",
    summary="Steer a car with slipping tyres onto a winding lane and along its centre.",
    simulator="highway-env (lane-keeping-v0)",
    extra="envs",
    environment="icct.envs.lane_keeping:LaneKeepingEnv",
    # Measured over linear steering laws of many gains with noise (benchmarks/feature_ranges.py).
    features=(
        Feature("lateral_position_rate", "m/s", -10, 10, "measured"),
        Feature("heading_rate", "rad/s", -5, 5, "measured"),
        Feature("lateral_acceleration", "m/s^2", -90, 90, "measured"),
        Feature("yaw_acceleration", "rad/s^2", -100, 100, "measured"),
        Feature("lane_position", "m", -6, 30, "measured"),
        Feature("lane_heading", "rad", -0.6, 0.6, "measured"),
        Feature("lane_lateral_speed", "m/s", 0, 0, "physical"),  # always 0
        Feature("lane_yaw_rate", "rad/s", 0, 0, "physical"),  # always 0
        Feature("lateral_position", "m", -12, 30, "measured"),
        Feature("heading", "rad", -2, 2, "measured"),
        Feature("lateral_speed", "m/s", -5, 5, "measured"),
        Feature("yaw_rate", "rad/s", -5, 5, "measured"),
    ),
    actions=(Action("steering", "x 60 degrees", -1, 1),),
    horizon=500,
    step_s=0.1,
    paper_returns="374 to 478",
    mirror=Mirror(
        (
            *("lateral_position_rate", "heading_rate", "lateral_acceleration", "yaw_acceleration"),
            *("lane_position", "lane_heading", "lane_lateral_speed", "lane_yaw_rate"),
            *("lateral_position", "heading", "lateral_speed", "yaw_rate", "steering"),
        )
    ),
    choices={"integrator": ("rk4", "euler")},
)

SINGLE_LANE_RING = Task(
    name="single-lane-ring",
    gym_id="icct/SingleLaneRing-v1",
    summary="Drive among 21 cars on a ring road so that all of them go fast.",
    simulator="SUMO (libsumo)",
    extra="sumo",
    per_process=1,  # libsumo is one simulation in a process
    environment="icct.envs.sumo.ring:SingleLaneRingEnv",
    features=traffic_features(SINGLE_LANE_ROAD),
    actions=(Action("acceleration", "m/s^2", -1, 1),),
    horizon=750,
    step_s=0.1,
    paper_returns="120 to 123",
    collision="collision",
    road=SINGLE_LANE_ROAD,
    space=(0, 1),
    choices=EGO_OPTION,
)

MULTI_LANE_RING = Task(
    name="multi-lane-ring",
    gym_id="icct/MultiLaneRing-v1",
    summary="Hold 21 cars on a two-lane ring road at 5 m/s by holding back both lanes.",
    simulator="SUMO (libsumo)",
    extra="sumo",
    per_process=1,  # libsumo is one simulation in a process
    environment="icct.envs.sumo.ring:MultiLaneRingEnv",
    features=traffic_features(MULTI_LANE_ROAD),
    actions=(
        Action("acceleration", "m/s^2", -3, 3),
        Action("lane_change", "", -1, 1),  # from 0.5: left; to -0.5: right; between: stay
    ),
    horizon=1500,
    step_s=0.1,
    paper_returns="1240 to 1281 (failures 500 to 1010)",
    collision="collision",
    road=MULTI_LANE_ROAD,
    space=(0, 1),
    choices={**EGO_OPTION, "lane_change_gate": ("original", "cool-down", "none")},
)

FIGURE_EIGHT = Task(
    name="figure-eight",
    gym_id="icct/FigureEight-v1",
    summary="Pace 13 cars on a figure eight so that they flow through its crossing at 5 m/s.",
    simulator="SUMO (libsumo)",
    extra="sumo",
    per_process=1,  # libsumo is one simulation in a process
    environment="icct.envs.sumo.figure_eight:FigureEightEnv",
    features=traffic_features(FIGURE_EIGHT_ROAD),
    actions=(Action("acceleration", "m/s^2", -3, 3),),
    horizon=1500,
    step_s=0.1,
    paper_returns="990 to 1114 (failures 245 to 870)",
    collision="collision",
    road=FIGURE_EIGHT_ROAD,
    space=(0, 1),
    choices={**EGO_OPTION, "placement": ("shifted", "original", "even")},
)

TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        INVERTED_PENDULUM,
        LUNAR_LANDER,
        LANE_KEEPING,
        SINGLE_LANE_RING,
        MULTI_LANE_RING,
        FIGURE_EIGHT,
    )
}
