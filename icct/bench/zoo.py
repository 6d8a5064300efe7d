"""Records of the recipe icct → the shipped trees: the best of each task and method, with a card.

The best is that of the highest validation score, at which nothing is reported. What a card reports
are episodes of `icct evaluate`, on which nothing was learned or chosen, and anybody can repeat it.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from icct.bench.recipes import FOLDER, read_recipe_records, tree_file
from icct.bench.tables import published, tasks_in_order
from icct.errors import ConfigError
from icct.evaluate import Evaluation, evaluate
from icct.files import read_text, write_together
from icct.policy import Policy
from icct.policy.file import policy_to_json, read_policy
from icct.policy.simplify import simplify
from icct.recipe.config import METHODS_MADE
from icct.verify import check, read_properties
from icct.verify.property import shipped_tasks
from icct.zoo import FOLDER as SHIPPED
from icct.zoo import zoo_names, zoo_policy

SCORE = re.compile(r"^\*\*(-?[\d.]+ ± [\d.]+)\*\* over ([\d,]+) fresh episodes", re.MULTILINE)
CARD = """\
# {name}

Task `{task}`, {method} by the recipe icct: {leaves} leaves, depth {depth}, {parameters}
parameters.

**{score}** over {episodes} fresh episodes, on which nothing was learned or chosen{collisions}:

```
icct evaluate zoo:{name} --task {task} --episodes {episodes}
```
{paper}
Seed {seed}, the best of {seeds} by its validation score ({validation:.1f}); then simplified, which
changes no action inside the bounds. Its teacher was `{teacher}`, its search had {search:,}
episodes. Such trees are made by `{command}`.

{properties}"""


def make_zoo(
    results: Path,
    folder: Path | None = None,
    tasks: Sequence[str] | None = None,
    episodes: int = 100,
    workers: int = 1,
    say: Callable[[str], None] = print,
) -> list[str]:
    """Write a policy and a card for every task and method that has records; return their names."""
    records = read_recipe_records(results)
    if not records:
        raise ConfigError(
            f"{results / FOLDER} has no records; icct bench table1 --recipe icct makes some."
        )
    made = []
    for task in tasks_in_order(record["task"] for record in records):
        for method in METHODS_MADE:
            own = [r for r in records if (r["task"], r["method"]) == (task, method)]
            if own and (tasks is None or task in tasks):
                made.append(_ship(results, folder or SHIPPED, own, episodes, workers))
                say(f"zoo:{made[-1]}")
    return made


def _ship(
    results: Path, folder: Path, own: Sequence[dict[str, Any]], episodes: int, workers: int
) -> str:
    """Write the best of some records of one task and method, and its card."""
    best = max(own, key=_worth)
    task, method = best["task"], best["method"]
    name = f"{task}/{method}"
    file = tree_file(results, task, method, best["seed"])
    policy = replace(simplify(read_policy(file))[0], name=f"{task}-{method}")
    scored = evaluate(policy, task, episodes=episodes, workers=workers)
    (folder / task).mkdir(parents=True, exist_ok=True)
    place = folder / name
    write_together(
        {
            place.with_suffix(".json"): policy_to_json(policy),
            place.with_suffix(".md"): card(name, policy, scored, best, len(own)),
        },
        ConfigError,
    )
    return name


def _worth(record: dict[str, Any]) -> tuple[float, int, int]:
    """Return what the best of some trees has most of; of equal ones the smaller is better."""
    return validation_score(record), -record["final"]["parameters"], -record["seed"]


def validation_score(record: dict[str, Any]) -> float:
    """Return the mean return on the episodes that pruning was checked on."""
    return float(record["final"]["pruned"]["after"]["mean"])


def card(name: str, policy: Policy, scored: Evaluation, record: dict[str, Any], seeds: int) -> str:
    """Return the card of a shipped policy."""
    task, method = record["task"], record["method"]
    paper = published(task, method)
    ended = f"; {scored.collisions} ended in a collision"
    collisions = "" if scored.task.collision is None else ended
    command = f"icct bench table1 --recipe icct --tasks {task} --methods {method}"
    return CARD.format(
        name=name,
        task=task,
        method=method,
        leaves=len(policy.leaves),
        depth=policy.depth,
        parameters=policy.parameter_count,
        score=score_text(scored),
        episodes=len(scored.episodes),
        collisions=collisions,
        paper=f"\nThe paper's, as its best checkpoint: {paper}.\n" if paper else "",
        seed=record["seed"],
        seeds=f"{seeds} seed{'s' * (seeds > 1)}",
        validation=validation_score(record),
        teacher=record["teacher"]["file"],
        search=record["recipe"]["polish_episodes"],
        command=command,
        properties=_properties(name, policy, task),
    )


def score_text(scored: Evaluation) -> str:
    """Return mean and standard error as a card states them."""
    return f"{scored.mean:.2f} ± {scored.standard_error:.2f}"


def _properties(name: str, policy: Policy, task: str) -> str:
    """Return what is proved of a policy, of the properties that ship for its task."""
    if task not in shipped_tasks():
        return ""
    lines = [f"`icct verify zoo:{name} --properties {task}`:", "", "| property | |", "|---|---|"]
    for question in read_properties(task):
        lines.append(f"| {question.name}: {question.why} | {check(policy, question).word} |")
    return "\n".join(lines) + "\n"


def recorded_names() -> list[str]:
    """Return the names of the shipped policies whose cards state a score."""
    return [name for name in zoo_names() if "/" in name]


def check_card(name: str, workers: int = 1) -> tuple[str, str]:
    """Return the score that a card states, and the one that its command gives now."""
    text = read_text((SHIPPED / name).with_suffix(".md"), "a card", error=ConfigError)
    found = SCORE.search(text)
    if found is None:
        raise ConfigError(f"The card of zoo:{name} states no score; icct bench zoo writes it.")
    episodes = int(found[2].replace(",", ""))
    folder, own = name.split("/")
    task = f"plant:{own}" if folder == "plant" else folder
    scored = evaluate(zoo_policy(name), task, episodes=episodes, workers=workers)
    return found[1], score_text(scored)
