"""A search → how much work it is, and how long it takes; measured here, in some seconds."""

from collections.abc import Sequence
from dataclasses import replace
from statistics import mean

from icct.envs.pace import simulator_pace
from icct.envs.task import Task
from icct.recipe.plan import episodes_of, training_pace
from icct.tune.config import Setting, Tuning
from icct.work.amount import Amount

UPDATES = 64  # of a population of teachers, that are timed
ON_FRONT = 6  # trees that are expected there


def cost(tuning: Tuning, task: Task, together: int, device: str) -> Amount:
    """Return how much work a search is, so many pieces of it done at a time."""
    total = Amount()
    sizes = () if tuning.teacher_files else tuning.teacher_leaves
    for leaves in sizes:
        config = tuning.teachers(task, leaves)
        rate = training_pace(config, device, UPDATES)
        seconds = None if rate is None else config.steps / rate / min(together, len(sizes))
        evaluations = config.steps // config.evaluation.evaluate_every
        scored = config.members * evaluations * config.evaluation.evaluate_episodes
        total += Amount(config.members * config.steps, scored, seconds)
    played = round(tuning.budget * _episodes_of_a_tree(tuning, task))
    played += ON_FRONT * tuning.fresh_episodes
    seconds = played * task.horizon / simulator_pace(task) / together
    return total + Amount(0, played, seconds)


def _episodes_of_a_tree(tuning: Tuning, task: Task) -> float:
    """Return how many episodes a tree takes, the mean over the budgets of polishing."""
    usual = Setting(tuning.leaves[0], tuning.features[-1], None, None, 0)
    searched: Sequence[Setting] = [
        replace(usual, polish_episodes=episodes) for episodes in tuning.polish_episodes
    ]
    files = [*tuning.teacher_files] or ["teacher.json"]
    recipes = [tuning.recipe(task, setting, 0, files) for setting in searched]
    return mean(episodes_of(recipe) for recipe in recipes) + tuning.validation_episodes
