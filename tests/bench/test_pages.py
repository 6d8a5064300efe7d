"""The pages and figures of results: the same records, the same bytes."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from icct.bench.evidence import chosen, read_evidence, rows_of
from icct.bench.headline import SHARED, headline, table1, verdict
from icct.bench.paper_score import best_of, paper_scores
from icct.bench.report import pages, write_report
from icct.bench.statistics import interquartile_mean, middle_and_interval
from icct.bench.tradeoff import over_features, over_leaves, pareto_front, tradeoff_rows

RESULTS = Path(__file__).parents[2] / "results"


def test_all_pages_and_figures_are_the_same_when_made_again(tmp_path: Path) -> None:
    results = tmp_path / "results"
    for folder, pattern in (
        ("", "lunar-lander.mlp-*.seed-[01].json"),
        ("earlier-preset", "lunar-lander.icct-2-feature.*.seed-[01].json"),
        ("recipe", "lunar-lander.icct-2-feature.seed-[01].json"),
    ):
        (results / folder).mkdir(exist_ok=True)
        for path in (RESULTS / folder).glob(pattern):
            shutil.copy(path, results / folder)
    places = tmp_path / "once", tmp_path / "twice"
    for page in places:
        write_report(results, page / "results.md")
    once, twice = (
        {path.relative_to(page): path.read_bytes() for path in page.rglob("*") if path.is_file()}
        for page in places
    )
    assert {str(path) for path in once} == {
        "results.md",
        "results-by-task.md",
        "figures/learning-curves.png",
        "figures/return-against-parameters.png",
        "figures/training-curves.png",
        "figures/tradeoff.png",
    }
    assert once == twice


def test_the_committed_pages_are_those_of_the_committed_records() -> None:
    """The texts alone: `icct bench report` makes the figures too."""
    drawn = dict.fromkeys(("curves", "training", "tradeoff"), True)
    made = pages(RESULTS, read_evidence(RESULTS), drawn)
    docs = RESULTS.parent / "docs"
    committed = tuple((docs / name).read_text() for name in ("results.md", "results-by-task.md"))
    assert made == committed, "put right by: icct bench report"


def recipe_record(score: float, seed: int = 0, method: str = "icct-2-feature") -> dict[str, object]:
    path = RESULTS / "recipe" / f"lunar-lander.{method}.seed-0.json"
    record: dict[str, object] = json.loads(path.read_text())
    record["final"]["fresh"]["mean"] = score  # type: ignore[index]
    record["recipe"]["polish_episodes"] = 6000  # type: ignore[index]
    return record | {"seed": seed}


def test_the_readme_has_the_ratios_of_the_results() -> None:
    pages = (RESULTS.parent / "README.md", RESULTS.parent / "docs" / "results.md")
    ours, theirs = (
        re.search(r"one\s+part\s+in\s+(\d+)\s.*?one\s+in\s+(\d+)\s", page.read_text(), re.DOTALL)
        for page in pages
    )
    assert ours is not None
    assert theirs is not None
    assert ours.groups() == theirs.groups()


def test_the_readme_counts_the_cells_as_the_results_do() -> None:
    pages = (RESULTS.parent / "README.md", RESULTS.parent / "docs" / "results.md")
    ours, theirs = (" ".join(page.read_text().split()) for page in pages)
    above = re.search(
        r"best checkpoint in (\d+) and level in (\d+);.*?\), in (\d+) and (\d+)", ours
    )
    fresh = re.search(r"best checkpoint in (\d+), level with it in (\d+)", theirs)
    scored = re.search(r"same trees are above in (\d+), level in (\d+)", theirs)
    assert above is not None
    assert fresh is not None
    assert scored is not None
    assert above.groups() == fresh.groups() + scored.groups()


@pytest.mark.parametrize(
    ("score", "word"), [(300.0, "above"), (258.42, "level"), (258.3, "below"), (-5.0, "below")]
)
def test_above_and_below_the_paper(score: float, word: str) -> None:
    rows = rows_of([], [recipe_record(score, seed=seed) for seed in range(5)])
    assert verdict(rows, "lunar-lander", "icct-2-feature") == word
    assert verdict(rows, "lunar-lander", "icct-static") == "not run"
    assert verdict(rows, "lunar-lander", "icct-l1-sparse") == "not run"
    few = rows_of([], [recipe_record(score, seed=seed) for seed in range(4)])
    assert verdict(few, "lunar-lander", "icct-2-feature") == "not run"
    complete = [recipe_record(score, seed=seed, method="icct-complete") for seed in range(5)]
    pruned = rows_of([], complete)
    assert verdict(pruned, "lunar-lander", "icct-l1-sparse") == (
        "above" if score > 299 else "below"
    )
    at_or_above = int(word != "below")
    assert f"| {at_or_above} of 6 (5 not run) |" in headline(rows)


def test_a_cell_shows_the_configuration_with_most_seeds() -> None:
    few = recipe_record(280.0)
    few["recipe"] = {**few["recipe"], "polish_episodes": 20_000}  # type: ignore[dict-item]
    many = [recipe_record(250.0, seed) for seed in (0, 1)]
    row = chosen(rows_of([], [few, *many]), "lunar-lander", "icct-2-feature", "icct")
    assert row is not None
    assert (row.seeds, row.changed) == (2, "polish_episodes 6,000")
    row = chosen(rows_of([], [few, many[0]]), "lunar-lander", "icct-2-feature", "icct")
    assert row is not None
    assert row.changed == ""  # of as many seeds, the present preset


def test_trees_of_another_row_are_marked() -> None:
    own = [recipe_record(250.0, seed) for seed in (0, 1)]
    shared = [recipe_record(250.0, seed) | {"same_as": "icct-1-feature"} for seed in (0, 1)]
    assert SHARED not in table1(rows_of([], own), "icct")
    assert SHARED not in table1(rows_of([], [own[0], shared[1]]), "icct")
    assert f"{SHARED}, 2 seeds" in table1(rows_of([], shared), "icct")


def test_the_best_of_many_evaluations_is_above_the_mean() -> None:
    returns = np.random.default_rng(1).normal(280.0, 20.0, 100)
    evaluations = np.random.default_rng(2).choice(returns, (1000, 333, 5)).mean(axis=2)
    assert best_of(returns, 333, 5) == pytest.approx(evaluations.max(axis=1).mean(), abs=0.5)
    assert best_of(returns, 1, 5) == pytest.approx(returns.mean(), abs=0.5)
    assert best_of([0.0, 1.0], 2, 1) == pytest.approx(0.75, abs=0.01)


def test_trees_are_scored_as_the_paper_scores() -> None:
    rows = rows_of([], [recipe_record(250.0, seed=seed) for seed in range(5)])
    (row,) = rows
    returns = row.fresh_returns[0]
    assert paper_scores(row) == [best_of(returns, 333, 5)] * 5  # 500,000 steps, every 1,500
    assert verdict(rows, "lunar-lander", "icct-2-feature") == "below"
    assert verdict(rows, "lunar-lander", "icct-2-feature", paper_scores) == "above"
    page = " ".join(headline(rows).split())
    assert "above the paper's best checkpoint in 0" in page
    assert "the same trees are above in 1, level in 0 and below in 0" in page


def test_interquartile_means_and_their_intervals() -> None:
    assert interquartile_mean(np.arange(8.0)) == 3.5
    assert interquartile_mean(np.array([-1000.0, 1.0, 2.0, 3.0, 4.0])) == pytest.approx(2.0)
    text = middle_and_interval([1.0, 2.0, 3.0, 4.0, 50.0])
    assert text == middle_and_interval([1.0, 2.0, 3.0, 4.0, 50.0])
    assert text.startswith("3.0 (1.")
    assert middle_and_interval([7.0]) == "7.0"


def test_the_trade_off_has_what_table_1_has_and_other_sizes(tmp_path: Path) -> None:
    place = tmp_path / "tradeoff" / "16-leaves" / "recipe"
    place.mkdir(parents=True)
    record = recipe_record(290.0)
    students = [{"method": "icct-2-feature", "leaves": 16}]
    record["recipe"] = {**record["recipe"], "students": students}  # type: ignore[dict-item]
    (place / "lunar-lander.icct-2-feature.seed-0.json").write_text(json.dumps(record))
    rows = rows_of([], [recipe_record(270.0)])
    found = tradeoff_rows(tmp_path, rows)
    assert over_leaves(found, "icct") == [(8, 270.0, 0.0), (16, 290.0, 0.0)]
    assert over_features(found, "icct") == [(2, 270.0, 0.0)]
    assert over_features(found, "paper") == []
    assert pareto_front([(8, 270.0, 0.0), (2, 270.0, 0.0), (4, 200.0, 0.0)]) == [(2, 270.0, 0.0)]
