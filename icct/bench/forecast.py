"""Missing cells → what is missing, how much work it is, how long it takes here or on a GPU.

Here means measured: a few hundred updates, a few seconds of the simulator, of each task. A cluster
is taken to be so many cores like this one.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from icct.bench.cells import Cell
from icct.bench.evidence import Record
from icct.bench.missing import gpu_minutes, to_train
from icct.bench.oracle_trees import paper_protocol
from icct.bench.pieces import KINDS, teacher_files
from icct.bench.tables import tasks_in_order
from icct.envs.pace import simulator_pace
from icct.learn.config import make_config
from icct.recipe import make_recipe
from icct.recipe.plan import Pace, episodes_of, measure_pace, plan, training_pace
from icct.work.amount import Amount, Clock

UPDATES = 64  # of one agent, that are timed for each task


def forecast(
    missing: Sequence[Cell],
    in_all: int,
    plain: Sequence[Record],
    results: Path,
    *,
    together: int,
    device: str,
    clock: Clock,
    episodes: int,
    changes: Mapping[str, Any],
) -> str:
    """Return the plan as text: some lines for each task, and the sum.

    Args:
        missing: The cells to make.
        in_all: How many were asked for.
        plain: The records of plain training, by which a GPU is judged.
        results: Their folder.
        together: Pieces of work that are done at a time.
        device: Of the runs.
        clock: Writes a duration.
        episodes: Fresh ones that a record of plain training has of each policy.
        changes: Options that the runs change of their presets.
    """
    there = in_all - len(missing)
    lines = [f"{in_all} cells: {there} recorded, {len(missing)} missing"]
    total = Amount()
    for task in tasks_in_order(cell.task for cell in missing):
        own = [cell for cell in missing if cell.task == task]
        methods = list(dict.fromkeys(cell.method for cell in own))
        seeds = sorted({cell.seed for cell in own})
        found = _amount(own, results, together, device, episodes, changes)
        total += found
        lines.append(f"{task}: {len(own)} cells, {len(methods)} methods, seeds {_list(seeds)}")
        lines.append(f"  {', '.join(methods)}")
        lines.append(f"  {found.as_text(together, clock)}")
        groups = to_train([cell for cell in own if cell.recipe == "paper"], results)
        minutes = gpu_minutes(groups, plain) if groups and not changes else None
        if minutes is not None:
            kinds = sorted({str(r["machine"]["gpu"]) for r in plain if r["machine"]["gpu"]})
            lines.append(f"  {', '.join(kinds)}, as recorded: about {clock(60 * minutes)}")
    lines.append(f"in all: {total.as_text(together, clock)}")
    return "\n".join(lines)


def _list(seeds: Sequence[int]) -> str:
    return ", ".join(map(str, seeds))


def _amount(
    missing: Sequence[Cell],
    results: Path,
    together: int,
    device: str,
    episodes: int,
    changes: Mapping[str, Any],
) -> Amount:
    """Return how much work the cells of one task are."""
    plain = [cell for cell in missing if cell.recipe == "paper"]
    if not plain:
        return _recipe_amount(missing, results, together, device, changes)
    found = Amount()
    groups = to_train(plain, results)
    if groups:
        task, method, _ = next(iter(groups))
        config = make_config(task, method, recipe="paper", **{**changes, "seeds": (0,)})
        agents = sum(map(len, groups.values()))
        rate = training_pace(config, device, UPDATES)
        seconds = None if rate is None else agents * config.steps / rate
        at_once = 1 if seconds is None else min(together, len(groups))
        scored = agents * len(KINDS) * episodes
        checked = agents * config.evaluation.evaluate_episodes
        scored += checked * (config.steps // config.evaluation.evaluate_every)
        took = None if seconds is None else seconds / at_once
        found += Amount(agents * config.steps, scored, took)
    trees = [cell for cell in plain if cell.is_dt]
    return found + _tree_amount(trees, together) if trees else found


def _tree_amount(trees: Sequence[Cell], together: int) -> Amount:
    """Return how much work trees of an oracle are."""
    task = make_config(trees[0].task, "mlp-max", recipe="paper").task
    episodes = 0
    for cell in trees:
        protocol = paper_protocol(cell.task, cell.method)
        episodes += (protocol.iterations + 1) * protocol.rollouts + protocol.evaluation_episodes
    return Amount(0, episodes, episodes * task.horizon / simulator_pace(task) / together)


def _recipe_amount(
    missing: Sequence[Cell],
    results: Path,
    together: int,
    device: str,
    changes: Mapping[str, Any],
) -> Amount:
    """Return how much work the recipe is for some trees of one task, each on one core."""
    total, pace = Amount(), None
    for cell in missing:
        teachers = tuple(map(str, teacher_files(results, cell)))
        given = {"leaves": cell.leaves, **changes, "seeds": (cell.seed,)}
        recipe = make_recipe(cell.task, (cell.method,), teacher=teachers, **given)
        pace = pace or measure_pace(recipe, workers=1, device=device)
        found = plan(recipe, Pace(pace.train_steps_per_s, pace.env_steps_per_s, 1))
        taught = 0 if recipe.teach is None else recipe.teach.steps * recipe.teach.members
        seconds = None if found.seconds is None else found.seconds / together
        total += Amount(taught, episodes_of(recipe), seconds)
    return total
