"""What our layer costs: steps per second of each task beside a bare loop on the same simulator.

For the traffic tasks there are two bare loops, which ask libsumo for everything in every step (our
environment asks for edges and lanes where they may have changed). `script` is what one would write
by hand to run this traffic: the calls and the humans' driver model, which is part of the traffic;
no observation, reward, checks or seeding.
`replay` repeats the calls of a recorded episode and does not even compute the humans' commands.
The other tasks are compared with the environment that `gymnasium.make` gives (time limit and order
check, no passive checker) and with the same unwrapped. All run in one process, in turns, and are
timed by the processor time they use; ratios are medians over the turns.

    python benchmarks/task_speed.py [TASK ...]
"""

import statistics
import sys
import time
from dataclasses import dataclass, field
from typing import Any

import gymnasium
import numpy as np

import icct.envs
from icct.envs.catalog import TASKS, Task
from icct.envs.sumo.client import Simulation
from icct.envs.sumo.figure_eight import figure_eight_scenario
from icct.envs.sumo.ring import MULTI_LANE, SINGLE_LANE
from icct.envs.sumo.scenario import NOISE_STD, flow_acceleration

TURNS = 15
STEPS = 1500
SCENARIOS = {
    "single-lane-ring": SINGLE_LANE,
    "multi-lane-ring": MULTI_LANE,
    "figure-eight": figure_eight_scenario(),
}
PEERS = {
    "inverted-pendulum": ("InvertedPendulum-v5", {}),
    "lunar-lander": ("LunarLander-v3", {"continuous": True}),
    "lane-keeping": ("lane-keeping-v0", {}),
}


@dataclass
class Recording:
    """The libsumo commands of one episode: SUMO's seed, then (speeds, routes) of every step."""

    seed: int = 0
    steps: list[tuple[list[Any], list[Any]]] = field(default_factory=list)


def ours(env: Any, action: Any, steps: int) -> float:
    """Return seconds per step, resets not counted."""
    spent = taken = 0.0
    while taken < steps:
        env.reset(seed=int(taken))
        done = False
        began = time.process_time()
        while not done and taken < steps:
            _, _, terminated, truncated, _ = env.step(action)
            done = terminated or truncated
            taken += 1
        spent += time.process_time() - began
    return spent / taken


def script(simulation: Simulation, steps: int) -> float:
    """Return seconds per step of a plain loop that runs the traffic with libsumo."""
    libsumo, scenario = simulation.libsumo, simulation.scenario
    vehicle, names, humans = libsumo.vehicle, scenario.names, scenario.names[:-1]
    generator = np.random.default_rng(0)
    simulation.load(seed=1)
    min_gap = vehicle.getMinGap(names[0])
    places = zip(names, scenario.placements, strict=True)
    ends = {name: scenario.routes[place.edge][-1] for name, place in places}
    edges = {name: vehicle.getRoadID(name) for name in names}
    speeds = dict.fromkeys(names, 0.0)
    leaders = {name: vehicle.getLeader(name, 2000.0) for name in humans}
    began = 0.0
    for number in range(scenario.warm_up_steps + steps):
        if number == scenario.warm_up_steps:
            began = time.process_time()
        if scenario.flow_humans:
            noise = generator.normal(0.0, NOISE_STD, len(humans))
            for human, name in enumerate(humans):
                if not edges[name].startswith(":"):
                    leader, speed = leaders[name], speeds[name]
                    if leader:
                        change = flow_acceleration(speed, leader[1] + min_gap, speeds[leader[0]])
                    else:
                        change = flow_acceleration(speed, 1000.0, None)
                    target = speed + (change + noise[human]) * 0.1
                    vehicle.slowDown(name, max(0.0, target), 0.001)
        for name in names:
            edge = edges[name]
            if edge == ends[name]:
                vehicle.setRoute(name, scenario.routes[edge])
                ends[name] = scenario.routes[edge][-1]
        vehicle.slowDown(names[-1], 30.0, 0.001)
        libsumo.simulation.step()
        libsumo.simulation.getStartingTeleportNumber()
        for name in names:
            speeds[name] = vehicle.getSpeed(name)
            edges[name] = vehicle.getRoadID(name)
            vehicle.getLanePosition(name)
            if scenario.road.lanes > 1:
                vehicle.getLaneIndex(name)
        if scenario.flow_humans:
            for name in humans:
                leaders[name] = vehicle.getLeader(name, 2000.0)
    spent = time.process_time() - began
    simulation.close()
    return spent / steps


def replay(simulation: Simulation, calls: Recording, steps: int) -> float:
    """Return seconds per step of the same libsumo calls in the same traffic, and nothing else."""
    libsumo, scenario = simulation.libsumo, simulation.scenario
    vehicle, names, humans = libsumo.vehicle, scenario.names, scenario.names[:-1]
    many_lanes = scenario.road.lanes > 1
    simulation.load(calls.seed)
    began = 0.0
    for number, (commands, routes) in enumerate(calls.steps[: scenario.warm_up_steps + steps]):
        if number == scenario.warm_up_steps:
            began = time.process_time()
        for name, speed in commands:
            vehicle.slowDown(name, speed, 0.001)
        for name, edges in routes:
            vehicle.setRoute(name, edges)
        libsumo.simulation.step()
        libsumo.simulation.getStartingTeleportNumber()
        for name in names:
            vehicle.getSpeed(name)
        for name in names:
            vehicle.getRoadID(name)
        for name in names:
            vehicle.getLanePosition(name)
        if scenario.flow_humans:
            for name in humans:
                vehicle.getLeader(name, 2000.0)
        if many_lanes:
            for name in names:
                vehicle.getLaneIndex(name)
    spent = time.process_time() - began
    simulation.close()
    return spent / steps


def record(env: Any, action: Any) -> Recording:
    """Return the commands of an episode that `ours` runs, to be repeated by the bare loop."""
    calls = Recording()
    simulation = env.unwrapped._simulation
    load, step = simulation.load, simulation.step
    command, route = simulation.command_speed, simulation.set_route

    def recorded_load(seed: int) -> None:
        calls.seed = seed
        load(seed)
        calls.steps = [([], [])]

    def recorded_step() -> bool:
        calls.steps.append(([], []))
        return bool(step())

    def recorded_command(name: str, speed: float, duration: float) -> None:
        calls.steps[-1][0].append((name, speed))
        command(name, speed, duration)

    def recorded_route(name: str, edges: Any) -> None:
        calls.steps[-1][1].append((name, edges))
        route(name, edges)

    simulation.load, simulation.step = recorded_load, recorded_step
    simulation.command_speed, simulation.set_route = recorded_command, recorded_route
    ours(env, action, env.task.horizon)
    env.close()
    calls.steps.pop()  # the one after the last step
    return calls


def compare(task: Task) -> dict[str, float]:
    """Return our steps per second, and for each peer its own and our extra cost."""
    action = np.zeros(len(task.actions), dtype=np.float32)
    if task.road is not None:
        action[0] = task.actions[0].high
        calls = record(icct.envs.make(task.name), action)
        scenario, steps = SCENARIOS[task.name], task.horizon

        def peers() -> dict[str, float]:
            return {
                "script": script(Simulation(task.name, scenario), steps),
                "replay": replay(Simulation(task.name, scenario), calls, steps),
            }
    else:
        name, options = PEERS[task.name]
        steps = STEPS

        def peers() -> dict[str, float]:
            env = gymnasium.make(name, disable_env_checker=True, **options)
            times = {"gymnasium": ours(env, action, steps)}
            limit = task.horizon
            times["unwrapped"] = ours(env.unwrapped, action, min(steps, limit))
            env.close()
            return times

    rows = []
    for _ in range(TURNS):
        env = icct.envs.make(task.name)
        row = {"ours": ours(env, action, steps)}
        env.close()
        rows.append(row | peers())
    result = {f"{key} steps/s": 1 / statistics.median(r[key] for r in rows) for key in rows[0]}
    for key in list(rows[0])[1:]:
        result[f"over {key} %"] = 100 * (statistics.median(r["ours"] / r[key] for r in rows) - 1)
    return result


def main() -> None:
    """Print one line per task."""
    import highway_env  # registers its ids

    assert highway_env
    for name in sys.argv[1:] or TASKS:
        figures = compare(TASKS[name])
        print(f"{name:<18}", ", ".join(f"{key} {value:.1f}" for key, value in figures.items()))


if __name__ == "__main__":
    main()
