"""Missing cells → what is missing, how long it takes here, and what a recorded kind of GPU needs.

Here means measured: a few hundred updates, a few seconds of the simulator, of each task.
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from icct.bench.cells import Cell
from icct.bench.evidence import Record
from icct.bench.missing import gpu_minutes, to_train
from icct.bench.oracle_trees import paper_protocol
from icct.bench.pieces import teacher_files
from icct.bench.tables import tasks_in_order
from icct.envs.pace import simulator_pace
from icct.learn.config import make_config
from icct.recipe import make_recipe
from icct.recipe.plan import Pace, measure_pace, plan, training_pace

Clock = Callable[[float], str]
UNKNOWN = "unknown"
UPDATES = 64  # of one agent, that are timed for each task


def forecast(
    missing: Sequence[Cell],
    in_all: int,
    plain: Sequence[Record],
    results: Path,
    *,
    jobs: int,
    device: str,
    clock: Clock,
) -> str:
    """Return the plan as text: a line for each task."""
    there = in_all - len(missing)
    lines = [f"{in_all} cells: {there} recorded, {len(missing)} missing"]
    for task in tasks_in_order(cell.task for cell in missing):
        own = [cell for cell in missing if cell.task == task]
        methods = list(dict.fromkeys(cell.method for cell in own))
        seeds = sorted({cell.seed for cell in own})
        here = _seconds_here(own, results, jobs, device)
        lines.append(f"{task}: {len(own)} cells, {len(methods)} methods, seeds {_list(seeds)}")
        lines.append(f"  {', '.join(methods)}")
        lines.append(
            f"  here, {jobs} at a time: {UNKNOWN if here is None else 'about ' + clock(here)}"
        )
        groups = to_train([cell for cell in own if cell.recipe == "paper"], results)
        minutes = gpu_minutes(groups, plain) if groups else None
        if minutes is not None:
            kinds = sorted({str(r["machine"]["gpu"]) for r in plain if r["machine"]["gpu"]})
            lines.append(f"  {', '.join(kinds)}, as recorded: about {clock(60 * minutes)}")
    return "\n".join(lines)


def _list(seeds: Sequence[int]) -> str:
    return ", ".join(map(str, seeds))


def _seconds_here(missing: Sequence[Cell], results: Path, jobs: int, device: str) -> float | None:
    """Return the seconds that the cells of one task take here; None where that cannot be told."""
    together = min(jobs, len(os.sched_getaffinity(0)))  # more do not make it faster
    plain = [cell for cell in missing if cell.recipe == "paper"]
    if not plain:
        return _recipe_seconds(missing, results, device) / together
    groups = to_train(plain, results)
    seconds = 0.0
    if groups:
        task, method, _ = next(iter(groups))
        config = make_config(task, method, recipe="paper", seeds=(0,))
        rate = training_pace(config, device, UPDATES)
        if rate is None:
            return None
        seconds = sum(map(len, groups.values())) * config.steps / rate
    trees = [cell for cell in plain if cell.is_dt]
    return seconds + (_tree_seconds(trees) / together if trees else 0.0)


def _tree_seconds(trees: Sequence[Cell]) -> float:
    """Return the seconds of simulation that trees of an oracle need on one core."""
    task = make_config(trees[0].task, "mlp-max", recipe="paper").task
    episodes = 0
    for cell in trees:
        protocol = paper_protocol(cell.task, cell.method)
        episodes += (protocol.iterations + 1) * protocol.rollouts + protocol.evaluation_episodes
    seconds: float = episodes * task.horizon / simulator_pace(task)
    return seconds


def _recipe_seconds(missing: Sequence[Cell], results: Path, device: str) -> float:
    """Return the seconds that the recipe takes on one core for some trees of one task."""
    total, pace = 0.0, None
    for cell in missing:
        teachers = tuple(map(str, teacher_files(results, cell.task, cell.seed)))
        recipe = make_recipe(
            cell.task, (cell.method,), seeds=(cell.seed,), teacher=teachers, leaves=cell.leaves
        )
        pace = pace or measure_pace(recipe, workers=1, device=device)
        found = plan(recipe, Pace(pace.train_steps_per_s, pace.env_steps_per_s, 1)).seconds
        total += found or 0.0
    return total
