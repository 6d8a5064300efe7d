"""The scores of a recipe: on validation episodes to choose by, on fresh ones to report.

The seeds of the two never meet (see icct/seeds.py).
"""

from dataclasses import dataclass
from typing import Any

from icct.envs.actor import Actor
from icct.envs.episodes import EpisodePool, Job, mean_and_error, returns
from icct.evaluate import evaluate
from icct.policy import Policy
from icct.recipe.config import Recipe
from icct.recipe.show import Show
from icct.seeds import FRESH, Purpose, seeds_above


@dataclass(frozen=True)
class Judge:
    """Scores the actors of a recipe, with so many processes."""

    recipe: Recipe
    workers: int
    show: Show

    def validated(self, actors: list[Actor], seed: int, title: str) -> list[dict[str, float]]:
        """Return mean and standard error of each actor on the same validation episodes."""
        seeds = seeds_above(Purpose.CHOOSE, seed, range(self.recipe.validation_episodes))
        jobs = [Job(returns, actor, [seed]) for actor in actors for seed in seeds]
        found: list[float] = [0.0] * len(jobs)
        with (
            EpisodePool(self.recipe.task, self.workers) as pool,
            self.show.counting(title) as report,
        ):
            for done, (place, (value,)) in enumerate(pool.finished(jobs), start=1):
                found[place] = value
                report(done, len(jobs))
        scores = []
        for number in range(len(actors)):
            own = found[number * len(seeds) : (number + 1) * len(seeds)]
            mean, error = mean_and_error(own)
            scores.append({"episodes": len(own), "mean": mean, "standard_error": error})
        return scores

    def fresh(self, actor: Actor, seed: int, title: str) -> dict[str, Any]:
        """Return how an actor scores on episodes that nothing is chosen on."""
        with self.show.counting(f"fresh episodes, {title}") as report:
            scored = evaluate(
                actor,
                self.recipe.task,
                episodes=self.recipe.fresh_episodes,
                seed=FRESH + seed,
                workers=self.workers,
                progress=report,
            )
        values = scored.as_dict()
        kept = ("episodes", "mean", "standard_error", "median", "min", "max", "mean_length")
        return {key: values[key] for key in (*kept, "collisions", "returns")}


def size_of(policy: Policy) -> dict[str, int]:
    """Return what there is to read in a tree."""
    return {
        "leaves": len(policy.leaves),
        "depth": policy.depth,
        "parameters": policy.parameter_count,
    }
