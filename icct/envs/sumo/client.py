"""The only file that talks to libsumo: one simulation per process, with an owner.

libsumo replaces a running simulation without a word when another one is started. Here every
`Simulation` must own libsumo before it steps: an episode in progress keeps it until it ends or is
closed; between episodes another environment of the process may take over.
"""

import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat
from types import ModuleType
from typing import Any

from icct.envs.simulators import import_simulator
from icct.envs.sumo.scenario import NETWORKS, STEP_S, Scenario
from icct.errors import TaskError

LANE_CHANGE_MODE = 512  # SUMO never changes lanes itself; requests respect the gaps of others
LOOK_AHEAD_M = 2000.0
ONE_STEP_S = 0.001  # a slowDown of this duration is reached within one step, then forgotten

_owner: "weakref.ref[Simulation] | None" = None


@dataclass(frozen=True)
class VehicleView:
    """What a picture needs of one vehicle."""

    name: str
    x_m: float
    y_m: float
    angle_deg: float  # clockwise from north; the position is that of the front bumper
    speed_mps: float


class Simulation:
    """SUMO running one scenario for one environment."""

    def __init__(self, task: str, scenario: Scenario) -> None:
        self.task = task
        self.scenario = scenario
        self.libsumo: ModuleType = import_simulator("libsumo", task, "sumo")
        self.in_episode = False
        # The functions behind libsumo's classes, which take half as long again.
        plain: Any = self.libsumo._libsumo
        self.get_speed = plain.vehicle_getSpeed
        self.get_edge = plain.vehicle_getRoadID
        self.get_position = plain.vehicle_getLanePosition
        self.get_lane = plain.vehicle_getLaneIndex
        self.get_leader = plain.vehicle_getLeader
        # (name, m/s, ONE_STEP_S): drive at most this fast in the next step and only in that one.
        self.command_speed = plain.vehicle_slowDown
        self._step: Any = self.libsumo.simulation.step
        self._teleports: Any = self.libsumo.simulation.getStartingTeleportNumber

    def load(self, seed: int) -> None:
        """Start the scenario from its beginning with all vehicles placed, at time 0.1 s."""
        self._take_ownership()
        arguments = [
            f"--net-file={NETWORKS / self.scenario.network}.net.xml",
            f"--additional-files={NETWORKS / self.scenario.network}.types.xml",
            f"--seed={seed}",
            f"--step-length={STEP_S}",
            "--begin=0",
            "--no-step-log=true",
            "--time-to-teleport=-1",
            "--collision.check-junctions=true",
            "--no-warnings=true",
            "--xml-validation=never",
        ]
        try:
            if self.libsumo.isLoaded():
                self.libsumo.load(arguments)
            else:
                self.libsumo.start(["sumo", *arguments])
            self._insert_vehicles()
        except (self.libsumo.TraCIException, self.libsumo.FatalTraCIError) as error:
            raise TaskError(f"{self.task}: SUMO could not start the episode: {error}") from error

    def step(self) -> bool:
        """Advance SUMO by one step and return whether vehicles collided in it."""
        if _owner is None or _owner() is not self:
            raise TaskError(self._lost())
        self._step()
        return bool(self._teleports())

    def speeds(self, names: Sequence[str]) -> list[float]:
        """Return the speed of each vehicle, in m/s."""
        return list(map(self.get_speed, names))

    def positions(self, names: Sequence[str]) -> list[float]:
        """Return the position of each vehicle on its edge, in metres."""
        return list(map(self.get_position, names))

    def lane(self, name: str) -> int:
        """Return the lane index of a vehicle; 0 is the right lane."""
        return int(self.get_lane(name))

    def leaders(self, names: Sequence[str]) -> list[tuple[str, float] | None]:
        """Return each vehicle's leader on its route and the gap to it less the own minGap.

        SUMO says that there is none with None or with an empty name, by version.
        """
        return list(map(self.get_leader, names, repeat(LOOK_AHEAD_M)))

    def request_lane(self, name: str, lane: int) -> None:
        """Ask a vehicle to change to a lane in the next step, if the gaps allow."""
        self.libsumo.vehicle.changeLane(name, lane, STEP_S)

    def set_route(self, name: str, edges: Sequence[str]) -> None:
        """Give a vehicle a new route that begins with the edge it is on."""
        self.libsumo.vehicle.setRoute(name, edges)

    def min_gap(self, name: str) -> float:
        """Return the minGap of a vehicle, which SUMO takes off the gaps that it reports."""
        return float(self.libsumo.vehicle.getMinGap(name))

    def lane_shapes(self) -> list[list[tuple[float, float]]]:
        """Return the centre line of every lane, internal ones included."""
        lane = self.libsumo.lane
        return [list(lane.getShape(name)) for name in lane.getIDList()]

    def lane_width(self) -> float:
        """Return the width of a lane, in metres."""
        lane = self.libsumo.lane
        return float(lane.getWidth(lane.getIDList()[0]))

    def views(self) -> list[VehicleView]:
        """Return all vehicles that are on the road."""
        if _owner is None or _owner() is not self:
            raise TaskError(self._lost())
        vehicle = self.libsumo.vehicle
        return [
            VehicleView(name, x, y, vehicle.getAngle(name), speed)
            for name in vehicle.getIDList()
            if (speed := vehicle.getSpeed(name)) >= 0  # SUMO's "invalid" is a large negative
            for x, y in [vehicle.getPosition(name)]
        ]

    def close(self) -> None:
        """Stop SUMO if this simulation owns it; may be called twice."""
        global _owner
        self.in_episode = False
        if _owner is not None and _owner() is self:
            _owner = None
            self.libsumo.close()

    # -- inside -------------------------------------------------------------------------------

    def _take_ownership(self) -> None:
        global _owner
        owner = _owner() if _owner is not None else None
        if owner is None and _owner is None and self.libsumo.isLoaded():
            raise TaskError(
                f"{self.task}: libsumo already runs a simulation that icct did not start, and it "
                "holds one per process. Close that first, or use icct.envs.make_worker."
            )
        if owner is not None and owner is not self and owner.in_episode:
            raise TaskError(
                f"{self.task}: an episode of {owner.task} is running in this process, and libsumo "
                "holds one simulation per process. Close that environment or finish its episode "
                f"first, or give one its own process with icct.envs.make_worker({self.task!r})."
            )
        _owner = weakref.ref(self)

    def _lost(self) -> str:
        owner = _owner() if _owner is not None else None
        taker = f"an environment of {owner.task}" if owner else "nobody"
        return (
            f"{self.task}: this environment's simulation is gone; libsumo holds one per process, "
            f"and {taker} has it now. Call reset first, or give each environment its own process "
            "with icct.envs.make_worker."
        )

    def _insert_vehicles(self) -> None:
        libsumo, scenario = self.libsumo, self.scenario
        for edge, edges in scenario.routes.items():
            libsumo.route.add(edge, edges)
        for name, place in zip(scenario.names, scenario.placements, strict=True):
            libsumo.vehicle.add(
                name,
                place.edge,
                typeID="ego" if name == scenario.names[-1] else "human",
                departLane=str(place.lane),
                departPos=str(place.position_m),
                departSpeed="0",
            )
        libsumo.simulation.step()
        missing = set(scenario.names) - set(libsumo.vehicle.getIDList())
        if missing:
            raise TaskError(f"{self.task}: SUMO did not insert {', '.join(sorted(missing))}.")
        for name in scenario.names:
            ego = name == scenario.names[-1]
            mode = scenario.ego_speed_mode if ego else scenario.human_speed_mode
            libsumo.vehicle.setSpeedMode(name, mode)
            libsumo.vehicle.setLaneChangeMode(name, LANE_CHANGE_MODE)
