"""The traffic environment: the original's step order around one SUMO step.

1. humans are commanded, 2. routes are extended, 3. the ego is commanded, 4. SUMO steps, 5. the
state is read, 6. collisions are looked for, 7. observation and reward follow.
"""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from icct.envs.base import Frame, Observation, StepResult, TaskEnv
from icct.envs.stage import Body, Line, Poses, Stage, lane_dividers
from icct.envs.sumo.client import ONE_STEP_S, Simulation
from icct.envs.sumo.scenario import (
    NO_LEADER_GAP_M,
    NOISE_STD,
    STEP_S,
    VEHICLE_LENGTH_M,
    Scenario,
    flow_acceleration,
    speed_reward,
)
from icct.envs.task import Task
from icct.errors import TaskError

if TYPE_CHECKING:
    from icct.envs.pictures import RoadPicture

VEHICLE_WIDTH_M = 1.9
LANE_CHANGE_FROM = 0.5  # an action of at least this asks for the next lane
GATE_STEPS = 5
NOISE_STEPS = 50
SEED_LIMIT = 2**31 - 1  # SUMO takes a C int


class TrafficEnv(TaskEnv):
    """An ego among human cars on a closed road; the task's class fills in the scenario."""

    def __init__(self, task: Task, scenario: Scenario, **options: Any) -> None:
        super().__init__(task, **options)
        chosen = dict(self.task.options)
        self.scenario = scenario
        self._simulation = Simulation(task.name, scenario)
        self._ego_is_ours = chosen.get("ego", "agent") == "agent"
        self._gate = chosen.get("lane_change_gate", "original")
        self._names = scenario.names
        self._ego = len(self._names) - 1
        self._humans = self._names[:-1]
        self._index = {name: index for index, name in enumerate(self._names)}
        self._lane_count = scenario.road.lanes
        # The route of a vehicle ends with the edge before the one that it began with.
        self._route_end = {edge: route[-1] for edge, route in scenario.routes.items()}
        scales = [scenario.road.speed_limit_mps, scenario.road.length_m, scenario.road.lanes]
        kinds = 3 if self._lane_count > 1 else 2
        self._scales = np.repeat(np.array(scales[:kinds], dtype=np.float64), len(self._names))
        self._offsets = np.zeros_like(self._scales)
        self._starts_m = scenario.starts_m | scenario.points_m
        self._picture: RoadPicture | None = None

    def close(self) -> None:
        """Stop SUMO; may be called twice."""
        self._steps_left = 0
        self._simulation.close()

    def stage(self) -> Stage:
        """Return the lanes, the vehicles, and the speed that their colours show."""
        lanes, width = self._simulation.lane_shapes(), self._simulation.lane_width()
        roads: list[Line] = [{"points": lane, "role": "road", "width": width} for lane in lanes]
        dividers: list[Line] = [
            {"points": points, "role": "guide"} for points in lane_dividers(lanes, width)
        ]
        across, up = zip(*(point for lane in lanes for point in lane), strict=True)
        size: dict[str, float] = {"length": VEHICLE_LENGTH_M, "width": VEHICLE_WIDTH_M}
        bodies: dict[str, Body] = {name: {"role": "other", **size} for name in self._humans}  # type: ignore[typeddict-item]
        bodies[self._names[-1]] = {"role": "ego", "label": "ego", **size}  # type: ignore[typeddict-item]
        top = self.scenario.colour_top_mps
        return {
            "world": [min(across) - width, min(up) - width, max(across) + width, max(up) + width],
            "lines": [*roads, *dividers],
            "bodies": bodies,
            "tint": {"name": "speed", "unit": "m/s", "low": 0.0, "high": top},
        }

    def poses(self) -> Poses:
        """Return where the vehicles are, and how fast."""
        poses = {}
        for view in self._simulation.views():
            heading = math.radians(90.0 - view.angle_deg)
            back = VEHICLE_LENGTH_M / 2  # SUMO gives the front bumper
            x, y = view.x_m - back * math.cos(heading), view.y_m - back * math.sin(heading)
            poses[view.name] = (x, y, heading, view.speed_mps)
        return poses

    # -- one episode --------------------------------------------------------------------------

    def _begin(self) -> Observation:
        simulation = self._simulation
        simulation.in_episode = False
        simulation.load(seed=int(self.np_random.integers(SEED_LIMIT)))
        self._min_gap_m = [simulation.min_gap(name) for name in self._names]
        self._ends = [self._route_end[place.edge] for place in self.scenario.placements]
        self._noise: list[list[float]] = []
        self._steps = 0  # since the vehicles were placed, warm-up included
        self._lane_changed_at = -math.inf
        self._lanes = [place.lane for place in self.scenario.placements]
        self._at_route_end: list[int] = []
        self._positions = simulation.positions(self._names)
        self._note_edges([place.edge for place in self.scenario.placements])
        self._read_drivers()
        for _ in range(self.scenario.warm_up_steps):
            if self._simulate(None):
                raise TaskError(f"{self.task.name}: vehicles collided in the warm-up.")
            if self.scenario.flow_humans:
                self._read_drivers()
        self._read_drivers()
        return self._observation()

    def _advance(self, values: list[float]) -> StepResult:
        self._simulation.in_episode = True
        collision = self._simulate(values if self._ego_is_ours else None)
        if not collision:
            self._read_drivers()
        target = self.scenario.target_speed_mps
        reward = 0.0 if collision else speed_reward(self._speeds, target)
        if collision or self._steps_left == 1:
            self._simulation.in_episode = False
        return self._observation(), reward, collision, False, {"collision": collision}

    def _simulate(self, command: list[float] | None) -> bool:
        """Go through one SUMO step and return whether vehicles collided."""
        self._steps += 1
        if self.scenario.flow_humans:
            self._command_humans()
        refused = command is not None and len(command) > 1 and self._refuses_lane_change()
        self._extend_routes()
        if command is not None:
            self._command_ego(command, refused)
        if self._simulation.step():
            return True  # vehicles may be missing now: the last state stays
        self._read_places()
        return False

    def _command_humans(self) -> None:
        speeds, index, command_speed = self._speeds, self._index, self._simulation.command_speed
        if not self._noise:  # drawn for many steps at once, which is much faster
            draws = self.np_random.normal(0.0, NOISE_STD, (NOISE_STEPS, self._ego))
            self._noise = draws.tolist()
        for name, on_edge, speed, leader, min_gap, noise in zip(
            self._humans, self._on_edge, speeds, self._leaders, self._min_gap_m, self._noise.pop(),
            strict=False,  # without the ego, which comes last
        ):  # fmt: skip
            if not on_edge:
                continue  # on a junction SUMO drives
            if leader and leader[0]:
                gap_m, leader_speed = leader[1] + min_gap, speeds[index[leader[0]]]
                acceleration = flow_acceleration(speed, gap_m, leader_speed)
            else:
                acceleration = flow_acceleration(speed, NO_LEADER_GAP_M, None)
            target = speed + (acceleration + noise) * STEP_S
            command_speed(name, target if target > 0.0 else 0.0, ONE_STEP_S)

    def _extend_routes(self) -> None:
        for vehicle in self._at_route_end:
            edge = self._edges[vehicle]
            self._simulation.set_route(self._names[vehicle], self.scenario.routes[edge])
            self._ends[vehicle] = self._route_end[edge]
        self._at_route_end = []

    def _command_ego(self, command: list[float], lane_change_refused: bool) -> None:
        name = self._names[self._ego]
        speed = self._speeds[self._ego] + command[0] * STEP_S
        self._simulation.command_speed(name, speed if speed > 0.0 else 0.0, ONE_STEP_S)
        if len(command) > 1 and not lane_change_refused:
            change = (command[1] >= LANE_CHANGE_FROM) - (command[1] <= -LANE_CHANGE_FROM)
            lane = self._lanes[self._ego]
            target = min(max(lane + change, 0), self._lane_count - 1)
            if target != lane:
                self._simulation.request_lane(name, target)

    def _refuses_lane_change(self) -> bool:
        """Return whether the gate drops a request in this step (see the class of the task)."""
        if self._gate == "original":
            if self._steps > GATE_STEPS + NO_LEADER_GAP_M:
                return False  # no gap is longer
            leader = self._simulation.leaders(self._names[-1:])[0]
            gap = leader[1] + self._min_gap_m[-1] if leader and leader[0] else NO_LEADER_GAP_M
            return self._steps <= GATE_STEPS + gap
        return self._gate == "cool-down" and self._steps <= GATE_STEPS + self._lane_changed_at

    # -- the state ----------------------------------------------------------------------------

    def _read_places(self) -> None:
        """Read where the vehicles are; an edge is asked for when a vehicle may have left it."""
        simulation, names, before = self._simulation, self._names, self._positions
        self._positions = after = simulation.positions(names)
        moved_on = [
            i
            for i, (now, then, on_edge) in enumerate(zip(after, before, self._on_edge, strict=True))
            if now < then or not on_edge
        ]
        if moved_on:
            edges = self._edges.copy()
            for i in moved_on:
                edges[i] = simulation.get_edge(names[i])
            if edges != self._edges:
                self._note_edges(edges)

    def _read_drivers(self) -> None:
        """Read speeds, and what drivers go by; humans never change lanes."""
        simulation = self._simulation
        self._speeds = simulation.speeds(self._names)
        if self.scenario.flow_humans:
            self._leaders = simulation.leaders(self._humans)
        if self._lane_count > 1:
            lane = simulation.lane(self._names[-1])
            if lane != self._lanes[-1]:
                self._lane_changed_at = self._steps
                self._lanes[-1] = lane

    def _note_edges(self, edges: list[str]) -> None:
        """Keep what follows from the edges; they change in one step of four at most."""
        self._edges = edges
        self._on_edge = [edge[0] != ":" for edge in edges]  # else on a junction
        self._at_route_end = [i for i, edge in enumerate(edges) if edge == self._ends[i]]
        points, cars = self.scenario.points_m, len(edges)
        self._on_points = [cars + i for i, edge in enumerate(edges) if edge in points]
        self._offsets[cars : 2 * cars] = [self._starts_m[edge] for edge in edges]

    def _observation(self) -> Observation:
        values = self._speeds + self._positions
        if self._lane_count > 1:
            values += self._lanes
        for place in self._on_points:
            values[place] = 0.0  # all of a short edge has one coordinate
        observation: Observation = ((np.array(values) + self._offsets) / self._scales).astype(
            np.float32
        )
        return observation

    def _draw(self) -> Frame:
        from icct.envs.pictures import RoadPicture

        views = self._simulation.views()
        if self._picture is None:
            lanes, width = self._simulation.lane_shapes(), self._simulation.lane_width()
            self._picture = RoadPicture(lanes, width, self.scenario.colour_top_mps)
        return self._picture.frame(
            [(v.x_m, v.y_m, v.angle_deg, v.speed_mps) for v in views],
            ego=next((i for i, v in enumerate(views) if v.name == self._names[-1]), None),
            length_m=VEHICLE_LENGTH_M,
            time_s=(self.task.horizon - self._steps_left) * STEP_S,
        )
