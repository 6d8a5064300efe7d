"""Whose time an episode is: the simulator's, or ours around it.

    python benchmarks/polish_share.py POLICY [--task lunar-lander]

Plays the same episodes with a clock around every call of the inner simulator (its step and reset)
and without; what the simulator did not take is ours: acting, checks of actions and observations,
the episode's bookkeeping. Once with `Policy.act` and once with the workers' `CompiledActor`.
The share must stay below 15 % on LunarLander. Medians over rounds of process time.
"""

import argparse
import time
from statistics import median
from typing import Any

from icct.envs.episodes import Player
from icct.envs.find import find_task
from icct.polish.compiled import CompiledActor
from icct.seeds import Purpose, seeds_above
from icct.zoo import load_policy

ROUNDS = 7


class TimedSimulator:
    """The inner environment, with the time spent in it; the clock's own cost is taken off."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.spent_s, self.calls = 0.0, 0

    def step(self, action: Any) -> Any:
        """Step the simulator."""
        began = time.process_time()
        result = self._inner.step(action)
        self.spent_s += time.process_time() - began
        self.calls += 1
        return result

    def reset(self) -> Any:
        """Reset the simulator."""
        began = time.process_time()
        result = self._inner.reset()
        self.spent_s += time.process_time() - began
        self.calls += 1
        return result

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "np_random":
            self._inner.np_random = value
        else:
            object.__setattr__(self, name, value)


def clock_cost_s() -> float:
    """Return what one reading of the clock takes."""
    began = time.process_time()
    for _ in range(100_000):
        time.process_time()
    return (time.process_time() - began) / 100_000


def measured(actor: Any, player: Player, seeds: list[int]) -> tuple[float, float, int]:
    """Return microseconds per step: all, and the simulator's; and the steps."""
    env: Any = player.env
    inner, cost = env._inner, clock_cost_s()
    began = time.process_time()
    steps = sum(player.play(actor, seed).length for seed in seeds)
    whole = time.process_time() - began
    env._inner = timed = TimedSimulator(inner)
    for seed in seeds:
        player.play(actor, seed)
    env._inner = inner
    simulator = timed.spent_s - timed.calls * cost  # one reading falls inside each interval
    return 1e6 * whole / steps, 1e6 * simulator / steps, steps


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("policy", help="a policy file or zoo:NAME")
    parser.add_argument("--task", default="lunar-lander", help="a task with an inner simulator")
    parser.add_argument("--episodes", type=int, default=40)
    options = parser.parse_args()
    task = find_task(options.task)
    policy = load_policy(options.policy)
    seeds = seeds_above(Purpose.SEARCH, 0, range(options.episodes))
    print(f"{policy.name} on {task.name}, {options.episodes} episodes, {ROUNDS} rounds\n")
    print("| actor | act, µs | step in all, µs | simulator, µs | ours |")
    print("|---|---|---|---|---|")
    for name, make in (("Policy.act", lambda p: p), ("CompiledActor", CompiledActor)):
        report(name, make(policy), Player(task), seeds)


def report(name: str, actor: Any, player: Player, seeds: list[int]) -> None:
    """Print one row."""
    player.play(actor, seeds[0])
    rounds = [measured(actor, player, seeds) for _ in range(ROUNDS)]
    whole, simulator = (median(values) for values in list(zip(*rounds, strict=True))[:2])
    share = median(1 - inside / everything for everything, inside, _ in rounds)
    acting = median(acting_us(actor, player) for _ in range(ROUNDS))
    print(f"| {name} | {acting:.1f} | {whole:.1f} | {simulator:.1f} | {100 * share:.1f} % |")
    player.close()


def acting_us(actor: Any, player: Player) -> float:
    """Return the microseconds of one action."""
    observation, _ = player.env.reset(seed=1)
    began = time.process_time()
    for _ in range(5000):
        actor.act(observation)
    return (time.process_time() - began) / 5000 * 1e6


if __name__ == "__main__":
    main()
