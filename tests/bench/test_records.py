import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from icct.bench.by_task import by_task
from icct.bench.curves import draw_curves
from icct.bench.deviations import deviations
from icct.bench.evidence import read_evidence, read_records, rows_of
from icct.bench.recipes import read_recipe_records, record_recipe
from icct.bench.records import record_run
from icct.bench.report import read_notes, summary
from icct.bench.statistics import mean_and_error
from icct.bench.tables import ICCT_ROWS, PAPER_RESULTS, TABLE1, TASK_ORDER
from icct.errors import ConfigError
from icct.learn import make_config, train
from icct.recipe import follow, make_recipe


def test_a_run_becomes_records_and_a_table(tmp_path: Path) -> None:
    config = make_config(
        "inverted-pendulum",
        "icct-2-feature",
        seeds=(0, 1),
        steps=120,
        learning_starts=100,
        batch_size=16,
        critic_hidden=(8,),
        evaluate_every=60,
    )
    run = train(config, tmp_path / "run")
    shown: list[tuple[int, int]] = []
    paths = record_run(run.folder, tmp_path / "results", 3, 1, lambda *n: shown.append(n))
    assert len(paths) == 2
    assert shown[-1] == (12, 12)
    record = json.loads(paths[1].read_text())
    assert record["seed"] == 1
    assert record["best_checkpoint"]["mean"] == run.members[1].best_score
    assert [step for step, _ in record["curve"]] == [60, 120]
    trained = [step for step, _ in record["training_curve"]]  # poles fall within 60 steps
    assert trained == [60, 120]
    assert (record["leaves"], record["parameters"]) == (4, 29)
    assert "crisp" not in record
    assert len(record["fresh"]["final"]["returns"]) == 3
    (tmp_path / "results" / "notes.toml").write_text('inverted-pendulum = "It stands."')
    rows = read_evidence(tmp_path / "results").rows
    text = by_task(rows, read_notes(tmp_path / "results"))
    assert "It stands." in text
    figure = tmp_path / "training-curves.png"
    assert draw_curves(rows, figure, "training_curve")
    assert figure.read_bytes().startswith(b"\x89PNG")
    changed = "critic_hidden [8], batch_size 16, learning_starts 100, evaluate_every 60"
    assert f"| icct-2-feature | paper, {changed} | 2 | 4 | 29 | 120 |" in text
    assert "| mlp-max | paper | 0 | | | | not run | not run | | not run | 298.5 ± 0.7 |" in text


def test_fuzzy_and_noisy_trees_are_also_scored_crisp(tmp_path: Path) -> None:
    values = {"steps": 120, "learning_starts": 100, "batch_size": 16, "evaluate_every": 60}
    configs = [
        make_config("inverted-pendulum", method, critic_hidden=(8,), **values)
        for method in ("cddt", "icct-2-feature-gumbel")
    ]
    run = train(configs, tmp_path / "run")
    paths = record_run(run.folder, tmp_path / "results", 2, 1)
    for path in paths:
        record = json.loads(path.read_text())
        assert len(record["crisp"]["final"]["returns"]) == 2
        assert record["members"] == 2
    kept = {path.name for path in (tmp_path / "results" / "policies").iterdir()}
    assert "inverted-pendulum.cddt.paper.seed-0.best.safetensors" in kept
    rows = {row.method: row for row in read_evidence(tmp_path / "results").rows}
    assert set(rows) == {
        "cddt",
        "cddt-crisp",
        "icct-2-feature-gumbel",
        "icct-2-feature-gumbel-crisp",
    }
    assert rows["cddt"].checkpoints
    assert not rows["cddt-crisp"].checkpoints  # it was never evaluated while training
    assert rows["cddt-crisp"].selected == [record_of(paths[0])["crisp"]["best"]["mean"]]
    assert (rows["cddt"].parameters, rows["cddt-crisp"].parameters) == ([8], [5])  # as in the paper


def record_of(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def test_missing_policies_and_damaged_records_are_refused(tmp_path: Path) -> None:
    config = make_config("inverted-pendulum", "icct-static", steps=60, learning_starts=60)
    run = train(config, tmp_path / "run")
    next((run.folder / "policies").glob("*.final.json")).unlink()
    with pytest.raises(ConfigError, match="there is no final policy of icct-static seed 0"):
        record_run(run.folder, tmp_path, 1, 1)
    (tmp_path / "broken.json").write_text("{}")
    with pytest.raises(ConfigError, match=r"broken\.json is not a record"):
        read_records(tmp_path)
    (tmp_path / "notes.toml").write_text('lunar-lander = "It lands."\nmoon = 3')
    with pytest.raises(ConfigError, match=r"notes\.toml: 'moon' must be a task"):
        read_notes(tmp_path)


def test_a_task_of_ones_own_has_its_table_and_its_curves(tmp_path: Path) -> None:
    config = make_config(
        "Pendulum-v1",
        "icct-static",
        steps=400,
        learning_starts=200,
        batch_size=16,
        evaluate_every=200,
    )
    run = train(config, tmp_path / "run")
    (path,) = record_run(run.folder, tmp_path / "results", 2, 1)
    assert path.name == "Pendulum-v1.icct-static.generic.seed-0.json"
    rows = read_evidence(tmp_path / "results").rows
    text = by_task(rows, {})
    own = text[text.index("## Pendulum-v1") :]
    assert "| icct-static | generic, batch_size 16, learning_starts 200" in own
    assert "not run" not in own
    assert draw_curves(rows, tmp_path / "learning-curves.png")
    assert (tmp_path / "learning-curves.png").stat().st_size > 5000


def test_a_report_of_nothing_has_every_published_number() -> None:
    """Each stands in the section of its task and the row of its method, beside what is missing."""
    pages = by_task([], {}).split("\n## ")[1:]
    sections = {text.partition("\n")[0]: text.splitlines() for text in pages}
    assert list(sections) == list(TASK_ORDER)
    assert len(TABLE1) == 15
    for task, method in product(TASK_ORDER, TABLE1):
        mean, error = PAPER_RESULTS[task, method]
        beginning = f"| {method} | paper | 0 | | | | not run | not run | | not run |"
        assert f"{beginning} {mean:g} ± {error:g} |" in sections[task]
    assert PAPER_RESULTS["lunar-lander", "icct-2-feature"] == (258.4, 7.0)
    assert PAPER_RESULTS["figure-eight", "mlp-max"] == (1104.3, 9.4)
    text = summary([])
    assert text.count("not run (") >= (len(TABLE1) + len(ICCT_ROWS)) * len(TASK_ORDER)
    assert "below it in 0; 36 are not run" in " ".join(text.split())


def record(method: str, seed: int, score: float, **changes: object) -> dict[str, object]:
    config = make_config("multi-lane-ring", method, seeds=(seed,), **changes)
    fresh = {kind: {"mean": score} for kind in ("best", "final")}
    return {
        "format": "icct-record",
        "version": 1,
        "task": config.task.name,
        "method": method,
        "recipe": config.recipe,
        "config": config.as_json(),
        "best_checkpoint": {"mean": score},
        "fresh": fresh,
    }


def test_no_row_mixes_configurations() -> None:
    """Beside the present preset, a row says what is otherwise in it."""
    records = [
        record("icct-2-feature", 0, 1280.0),
        record("icct-2-feature", 1, 1260.0, sharpness="shared", learning_starts=10_000),
        record("mlp-max", 0, 1000.0, sharpness="shared"),  # which a perceptron has not
    ]
    text = by_task(rows_of(records), {})
    assert "| icct-2-feature | paper | 1 | 16 | 205 | 500,000 | 1280.0 |" in text
    other = "paper, learning_starts 10,000, sharpness shared"
    assert f"| icct-2-feature | {other} | 1 | 16 | 205 | 500,000 | 1260.0 |" in text
    assert "| mlp-max | paper | 1 |  | 83458 | 500,000 | 1000.0 |" in text


def test_records_of_earlier_presets_are_read_and_told_apart() -> None:
    """What lies beside `earlier-preset` is by the present presets, what lies in it is not."""
    results = Path(__file__).parents[2] / "results"
    present, earlier = (
        [json.loads(path.read_text()) for path in folder.glob("*.json")]
        for folder in (results, results / "earlier-preset")
    )
    assert len(read_records(results)) == len(present) + len(earlier)
    assert not any(deviations(record) for record in present)
    assert all(deviations(record) for record in earlier)


def test_a_run_of_the_recipe_becomes_records_and_a_row(tmp_path: Path) -> None:
    recipe = make_recipe(
        "inverted-pendulum",
        ("icct-1-feature",),
        teacher=("zoo:pole-balancer",),
        seeds=(0, 1),
        rounds=0,
        round_episodes=1,
        polish_episodes=0,
        validation_episodes=2,
        fresh_episodes=2,
    )
    run, results = tmp_path / "run", tmp_path / "results"
    assert follow(recipe, run, workers=1).finished
    paths = record_recipe(run, results)
    assert len(paths) == 2
    record = json.loads(paths[1].read_text())
    assert record["seed"] == 1
    assert len(record["final"]["fresh"]["returns"]) == 2
    tree = results / "recipe" / "policies" / paths[1].name
    assert tree.read_bytes() == (run / "policies" / "seed-1.json").read_bytes()
    scores = [json.loads(path.read_text())["final"]["fresh"]["mean"] for path in paths]
    text = by_task(read_evidence(results).rows, {})
    changed = "rounds 0, round_episodes 1, polish_episodes 0, validation_episodes 2, "
    assert f"| icct-1-feature | icct, {changed}fresh_episodes 2 | 2 |" in text
    assert f"| **{mean_and_error(scores)}** |" in text
    assert "| file + " in text
    paths[0].write_text("{}")
    with pytest.raises(ConfigError, match="not a record of a recipe run"):
        read_recipe_records(results)
    about = json.loads((run / "run.json").read_text())
    del about["elapsed_s"]
    (run / "run.json").write_text(json.dumps(about))
    with pytest.raises(ConfigError, match="is not finished"):
        record_recipe(run, results)
