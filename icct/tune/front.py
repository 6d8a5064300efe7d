"""Scored trees → the front of return against active parameters: a table, a figure, the policies."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from icct.errors import ConfigError
from icct.files import read_json, replacing, write_atomically
from icct.policy.file import read_policy, write_policy
from icct.tune.folder import Scored, TuneFolder

TABLE, FIGURE = "front.md", "front.png"
TICKS = [step * 10**power for power in range(6) for step in (1, 2, 5)]
HEAD = """\
# {title}: return against active parameters

{count} trees were tried. Those below are not beaten by a smaller or equal one on the validation
episodes that chose them; the return on fresh episodes is what to expect.

| active parameters | leaves | features | teacher | polished | validation | fresh | policy |
|---|---|---|---|---|---|---|---|
"""


def front_of(trees: Sequence[Scored]) -> list[Scored]:
    """Return the trees that no smaller or equal one matches, smallest first."""
    front: list[Scored] = []
    for tree in sorted(trees, key=lambda one: (one.parameters, -one.mean, one.name)):
        if not front or tree.mean > front[-1].mean:
            front.append(tree)
    return front


def write_front(
    folder: TuneFolder, trees: Sequence[Scored], front: Sequence[Scored], title: str
) -> None:
    """Write the table, the figure and the policies of a front."""
    fresh = {one.name: _fresh(folder, one) for one in front}
    rows = []
    for one in front:
        place = folder.path / "front" / f"{one.parameters}-parameters.json"
        policy = read_policy(folder.policy(one.name))
        if not (place.exists() and read_policy(place) == policy):
            write_policy(policy, place)
        rows.append(_row(one, fresh[one.name], place))
    table = HEAD.format(title=title, count=len(trees)) + "\n".join(rows) + "\n"
    write_atomically(folder.path / TABLE, table, ConfigError)
    draw_front(trees, front, fresh, title, folder.path / FIGURE)


def _fresh(folder: TuneFolder, one: Scored) -> dict[str, Any]:
    path = folder.trial(one.name, ".fresh.json")
    found: dict[str, Any] = read_json(path, "the score of a tree", error=ConfigError)
    return found


def _row(one: Scored, fresh: dict[str, Any], place: Path) -> str:
    setting = one.setting
    teacher = "file"
    if setting.teacher_leaves is not None:
        teacher = f"{setting.teacher_leaves} leaves, rate × {setting.learning_rate:g}"
    scores = (
        f"{one.mean:.1f} ± {one.standard_error:.1f}",
        f"{fresh['mean']:.1f} ± {fresh['standard_error']:.1f}",
    )
    values = (one.parameters, one.leaves, setting.features, teacher, setting.polish_episodes)
    return f"| {' | '.join(map(str, (*values, *scores, f'{place.parent.name}/{place.name}')))} |"


def draw_front(
    trees: Sequence[Scored],
    front: Sequence[Scored],
    fresh: dict[str, dict[str, Any]],
    title: str,
    output: Path,
) -> None:
    """Write the figure: every tree, the front, and its return on fresh episodes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    panel = figure.add_subplot()
    sizes = [one.parameters for one in trees]
    panel.plot(sizes, [one.mean for one in trees], "o", color="#bbbbbb", label="tried, validation")
    ends = [one.parameters for one in front]
    heights = [one.mean for one in front]
    panel.step(
        [*ends, max(sizes)],
        [*heights, heights[-1]],
        where="post",
        color="#2166ac",
        label="front, validation",
    )
    panel.errorbar(
        ends,
        [fresh[one.name]["mean"] for one in front],
        [fresh[one.name]["standard_error"] for one in front],
        fmt="s",
        color="#b2182b",
        capsize=3,
        label="front, fresh episodes",
    )
    panel.set_xscale("log")
    ticks = [tick for tick in TICKS if 0.7 * min(sizes) <= tick <= 1.4 * max(sizes)]
    panel.set_xticks(ticks, [str(tick) for tick in ticks])
    panel.minorticks_off()
    panel.set_title(title, fontsize=10)
    panel.set_xlabel("active parameters", fontsize=9)
    panel.set_ylabel("return", fontsize=9)
    panel.grid(alpha=0.2)
    figure.legend(loc="outside lower center", ncols=3, fontsize=8, frameon=False)
    with replacing(output) as (temporary,):
        figure.savefig(temporary, format="png", dpi=110)
