"""How much can anybody earn on LunarLander, and what is the best of many evaluations worth?

    python benchmarks/lander_ceiling.py                                   # 8 minutes
    python benchmarks/lander_ceiling.py --starts 8 --search 500           # 1 minute

The reward is progress, less fuel, and 100 for coming to rest. Progress adds up to the difference
of two shapings, so the best end, at rest in the middle of the pad, is worth 120 less the shaping of
the start: nobody returns more, even if fuel cost nothing. How little fuel is enough is asked of
the tree itself: a search tunes its numbers for every single start, whose episode it plays again and
again. No controller knows the coming episode so well.

A score that is the best of many evaluations is another matter. The last line takes the best of as
many means of five episodes as the paper's training makes evaluations, all of one and the same tree.
"""

import argparse
import math
from collections.abc import Sequence
from multiprocessing import get_context

import numpy as np
from numpy.typing import ArrayLike

from icct import Policy, load_policy
from icct.envs.episodes import Player, mean_and_error, returns
from icct.envs.find import find_task
from icct.polish.climb import SearchDistribution
from icct.polish.game import compiled_returns, observations
from icct.seeds import episode_seed

TASK = "lunar-lander"
EVALUATIONS, EPISODES = 333, 5  # in 500,000 steps, every 1,500
AT_REST = 120.0  # 100 for coming to rest, 10 for each leg on the ground
SEED = 77


def without_fuel(observation: ArrayLike) -> float:
    """Return what the best end is worth from a start, if fuel cost nothing.

    Gymnasium's shaping is -100 for each unit of distance, of speed and of tilt.
    """
    x, y, velocity_x, velocity_y, angle, *_ = np.asarray(observation, dtype=float).tolist()
    shaping = math.hypot(x, y) + math.hypot(velocity_x, velocity_y) + abs(angle)
    return AT_REST + 100.0 * shaping


def tuned_to(question: tuple[Policy, int, int]) -> float:
    """Return the best return on one start, of all that a search for this very start tries."""
    policy, seed, budget = question
    player = Player(find_task(TASK))
    rng = np.random.default_rng(seed)
    best, played = compiled_returns(player, policy, [seed])[0], 1
    while played < budget:  # the searches that converge early begin anew
        search = SearchDistribution(policy, observations(player, policy, [seed]), rng)
        while played < budget and not search.converged:
            scores = [compiled_returns(player, one, [seed])[0] for one in search.ask()]
            search.tell(scores)
            played += len(scores)
            best = max(best, *scores)
    player.close()
    return best


def show(what: str, values: Sequence[float]) -> None:
    """Print the mean of some returns, as a row."""
    mean, error = mean_and_error(values)
    print(f"| {what} | {mean:.1f} ± {error:.1f} |", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--policy", default="zoo:lunar-lander/icct-complete")
    parser.add_argument("--starts", type=int, default=32)
    parser.add_argument("--search", type=int, default=1500, help="episodes for each start")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    policy = load_policy(options.policy)
    seeds = [episode_seed(SEED, number) for number in range(EVALUATIONS * EPISODES)]
    player = Player(find_task(TASK))
    worth = [without_fuel(player.env.reset(seed=seed)[0]) for seed in seeds]
    own = returns(player, policy, seeds)
    player.close()
    few = slice(options.starts)
    with get_context("spawn").Pool(options.jobs) as pool:
        questions = [(policy, seed, options.search) for seed in seeds[few]]
        tuned = pool.map(tuned_to, questions, chunksize=1)
    print(f"| {policy.name} | return |\n|---|---|")
    show(f"at rest in the middle of the pad without fuel, {len(seeds)} starts", worth)
    show(f"the tree, {len(seeds)} starts", own)
    show(f"the same without fuel, {options.starts} of these starts", worth[few])
    show("the tree there", own[few])
    show(f"the tree tuned to each of them, {options.search} episodes", tuned)
    below = [a - b for a, b in zip(worth[few], tuned, strict=True)]
    show("what is left to the return without fuel", below)
    means = np.array(own).reshape(EVALUATIONS, EPISODES).mean(axis=1)
    print(
        f"| the best of {EVALUATIONS} means of {EPISODES} episodes of the tree | {max(means):.1f} |"
    )


if __name__ == "__main__":
    main()
