"""The paper's evaluation: which cells there are, what is missing, and the work that makes it."""

import json
import shutil
from pathlib import Path

import pytest

from icct.bench.cells import Cell, cells, is_recorded, record_file
from icct.bench.cost import gpu_seconds, held_seconds, sb3_seconds, trainings
from icct.bench.missing import missing_table, to_train
from icct.bench.pieces import Settings, pieces, teacher_files
from icct.bench.sizes import paper_size
from icct.cli.main import main
from icct.errors import ConfigError
from icct.lock import only_writer
from icct.work.drive import drive
from icct.work.piece import Piece, next_piece, unmet_needs

RESULTS = Path(__file__).parents[2] / "results"
RING = "single-lane-ring.{}.paper.seed-0.json"


def test_every_cell_of_every_table_and_figure() -> None:
    table = cells("table1", "paper", range(5))
    assert len({(cell.task, cell.method) for cell in table}) == 15 * 6
    assert len(cells("curves", "paper", range(5))) == 11 * 6 * 5
    assert len(cells("table1", "icct", range(5))) == 5 * 6 * 5  # all ICCT rows but L1
    assert len(cells("gumbel", "paper", (0,))) == 9 * 2
    sizes = {(c.method, c.leaves) for c in cells("tradeoff", "paper", (0,))}
    assert len(sizes) == 9 + 4  # two features at 8 leaves are in both figures
    assert ("icct-2-feature", None) in sizes  # as in Table 1
    assert ("icct-static", 8) in sizes  # which has 32 leaves there
    with pytest.raises(ConfigError, match="Did you mean 'lunar-lander'"):
        cells("table1", "paper", (0,), ["lunar-landr"])
    with pytest.raises(ConfigError, match="plain training"):
        cells("gumbel", "icct", (0,))


def test_sizes_are_the_papers() -> None:
    assert paper_size("lunar-lander", "dt") == (256, 1022)
    assert paper_size("multi-lane-ring", "dt-dagger") == (31, 122)
    assert paper_size("figure-eight", "cddt-crisp") == (16, 61)
    assert paper_size("multi-lane-ring", "mlp-upper") == (None, 3266)


def results_with(tmp_path: Path, *methods: str) -> Path:
    """Return a folder of results with records of some methods on the ring, seed 0, none crisp."""
    tmp_path.mkdir(exist_ok=True)
    for method in methods:
        record = json.loads((RESULTS / RING.format(method)).read_text())
        record.pop("crisp", None)
        (tmp_path / RING.format(method)).write_text(json.dumps(record))
    return tmp_path


def test_a_record_counts_only_with_the_present_configuration(tmp_path: Path) -> None:
    results = results_with(tmp_path, "icct-static", "cddt")
    cell = Cell("single-lane-ring", "icct-static", 0, "paper")
    assert is_recorded(results, cell)
    assert not is_recorded(results, Cell("single-lane-ring", "icct-static", 1, "paper"))
    file = record_file(results, cell)
    record = json.loads(file.read_text())
    record["config"]["sharpness"] = "shared"
    file.write_text(json.dumps(record))
    assert not is_recorded(results, cell)
    assert is_recorded(results, Cell("single-lane-ring", "cddt", 0, "paper"))
    crisp = Cell("single-lane-ring", "cddt-crisp", 0, "paper")
    assert is_recorded(RESULTS, crisp)
    assert not is_recorded(results, crisp)  # as in records from before crisp trees were scored
    assert to_train([crisp], results) == {("single-lane-ring", "cddt", None): [0]}


def test_missing_cells_become_runs(tmp_path: Path) -> None:
    results = results_with(tmp_path / "results", "cddt")
    asked = cells(
        "table1", "paper", (0, 1), ["single-lane-ring"], ["cddt", "cddt-crisp", "dt", "mlp-lower"]
    )
    missing = [cell for cell in asked if not is_recorded(results, cell)]
    work = {piece.name: piece for piece in pieces(missing, Settings(tmp_path, results, "cpu"))}
    ring = "single-lane-ring"
    assert [name.removeprefix(f"{ring}.") for name in work] == [
        "mlp-max",  # for the oracle of CART
        "cddt",
        "mlp-lower",
        "dt.seed-0",
        "dt.seed-1",
    ]
    begin, record = work[f"{ring}.cddt"].commands()
    assert begin[:2] == ("train", ring)
    assert "0,1," in begin  # seed 0 again: its crisp tree is missing
    assert record[:2] == ("bench", "record")
    assert work[f"{ring}.dt.seed-1"].needs == (results / "oracles" / f"{ring}.safetensors",)
    folder = tmp_path / f"{ring}.cddt"
    folder.mkdir()
    (folder / "run.json").write_text('{"started": "now"}')
    assert work[f"{ring}.cddt"].commands()[0][:3] == ("train", "--resume", str(folder))
    (folder / "run.json").write_text('{"started": "now", "elapsed_s": 3.0}')
    assert work[f"{ring}.cddt"].commands() == [record]
    for seed in (0, 1):
        record_file(results, Cell(ring, "cddt", seed, "paper")).write_text('{"started": "now"}')
    assert work[f"{ring}.cddt"].commands() == []


def test_trees_of_the_recipe_have_the_teachers_of_the_repository(tmp_path: Path) -> None:
    own = teacher_files(RESULTS, Cell("lunar-lander", "icct-static", 1, "icct"))
    assert [path.name for path in own][:2] == [
        "lunar-lander.seed-2.best.json",
        "lunar-lander.seed-2.final.json",
    ]
    last = Cell("multi-lane-ring", "icct-2-feature", 4, "icct")
    assert [path.name for path in teacher_files(RESULTS, last)][
        ::2
    ] == [  # its own seed and the next, which is the first again
        "multi-lane-ring.icct-2-feature.paper.seed-4.best.json",
        "multi-lane-ring.icct-2-feature.paper.seed-0.best.json",
        "multi-lane-ring.icct-complete.paper.seed-4.best.json",
    ]
    assert teacher_files(tmp_path, Cell("lunar-lander", "icct-static", 1, "icct")) == []
    (cell,) = cells("tradeoff", "icct", (3,), methods=["icct-5-feature"])
    (piece,) = pieces([cell], Settings(tmp_path, RESULTS))
    assert piece.name == "lunar-lander.icct-5-feature.8-leaves.seed-3"
    words = piece.commands()[0]
    assert words[words.index("--leaves") + 1] == "8"
    assert str(RESULTS / "tradeoff" / "8-leaves") in piece.record


def test_trees_that_the_recipe_made_teach_sparser_ones(tmp_path: Path) -> None:
    results = tmp_path / "results"
    asked = cells("table1", "icct", (4,), ["multi-lane-ring"], ["icct-static", "icct-2-feature"])
    static, made = pieces(asked, Settings(tmp_path, results))
    assert (made.needs, static.name) == ((), "multi-lane-ring.icct-static.seed-4")
    teach = [
        results / "recipe" / "policies" / f"multi-lane-ring.icct-2-feature.seed-{seed}.json"
        for seed in (4, 0)
    ]
    assert list(static.needs) == teach
    words = static.commands()[0]
    place = words.index("--teacher") + 1
    assert words[place : place + 3] == (*map(str, teach), "--out")
    teach[0].parent.mkdir(parents=True)
    teach[0].write_text("{}")
    assert next_piece([static]) is None
    assert unmet_needs([static]) == [f"{static.name}: waits for {teach[1]}"]
    teach[1].write_text("{}")
    assert next_piece([static]) is static


def test_trees_that_begin_alike_are_made_by_one_run(tmp_path: Path) -> None:
    methods = ["icct-static", "icct-2-feature", "icct-complete"]
    asked = cells("table1", "icct", (0, 1), ["multi-lane-ring"], methods)
    work = {piece.name: piece for piece in pieces(asked, Settings(tmp_path, RESULTS))}
    ring = "multi-lane-ring"
    assert set(work) == {
        f"{ring}.{shapes}.seed-{seed}"
        for shapes in ("icct-static", "icct-2-feature+icct-complete")
        for seed in (0, 1)
    }
    both = work[f"{ring}.icct-2-feature+icct-complete.seed-1"]
    words = both.commands()[0]
    place = words.index("--method")
    assert words[place + 1 : place + 4] == ("icct-2-feature", "icct-complete", "--seeds")
    names = [f"{ring}.{method}.seed-1.json" for method in methods[1:]]
    assert [path.name for path in both.records] == names


def test_work_is_done_in_processes_and_stopped_in_time(tmp_path: Path) -> None:
    show = Piece("show", "t", ("show", "zoo:ring-cruiser"), ())
    wrong = Piece("wrong", "t", ("show", "zoo:nothing"), ())
    later = Piece("later", "t", ("show", "zoo:ring-cruiser"), (), needs=(tmp_path / "never",))
    said: list[str] = []
    outcome = drive([show, wrong, later], jobs=2, logs=tmp_path, say=said.append)
    assert (outcome.done, outcome.failed, outcome.stopped) == (["show"], ["wrong"], ["later"])
    assert "ring-cruiser: 3 leaves" in (tmp_path / "show.log").read_text()
    assert any("status 2, see" in line for line in said)
    assert any(f"waits for {tmp_path / 'never'}" in line for line in said)
    long = Piece("long", "t", ("bench", "growing", "--steps", "1000000"), ())
    outcome = drive([long], jobs=1, logs=tmp_path, minutes=0.05, say=said.append)
    assert outcome.stopped == ["long"]


def test_the_command_plans_before_it_starts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    recorded = "inverted-pendulum.mlp-max.paper.seed-0.json"
    shutil.copy(RESULTS / recorded, tmp_path)
    words = ["bench", "table1", "--tasks", "inverted-pendulum", "--seeds", "1"]
    words += ["--results", str(tmp_path), "--methods"]
    assert main([*words, "mlp-max", "--plan"]) == 0
    assert "0 of 1 cells are missing" in capsys.readouterr().out
    assert main([*words, "mlp-max", "mlp-lower", "--plan", "--device", "cpu"]) == 0
    said = capsys.readouterr()
    assert "1 of 2 cells are missing" in said.out
    assert "here, 1 at a time: about " in said.err
    took_s = json.loads((tmp_path / recorded).read_text())["elapsed_s"]  # one agent, as one took
    assert f"NVIDIA H200, as recorded: about {took_s // 60:.0f}:{took_s % 60:02.0f} min" in said.err
    assert [path.name for path in tmp_path.iterdir()] == [recorded]


def test_what_it_took_and_what_it_would_take(tmp_path: Path) -> None:
    records = [
        json.loads((RESULTS / RING.format(method)).read_text())
        for method in ("icct-static", "mlp-lower")
    ]
    (one, other) = sorted(trainings(records), key=lambda training: training.elapsed_s)
    assert (one.agents, one.steps, one.batch_size) == (1, 100_000, 1024)
    assert one.rows == 100_000 * 1024
    alone = (one.elapsed_s + other.elapsed_s) / (one.rows + other.rows)
    assert gpu_seconds(records, 5000) == pytest.approx(5000 * alone)
    began = ("2026-11-17T10:00:00+0000", "2026-11-17T10:00:30+0000")
    shared = [
        record | {"started": start, "elapsed_s": 60.0}
        for record, start in zip(records, began, strict=True)
    ]
    known = [
        *shared,
        records[0] | {"started": None, "elapsed_s": 1e6},
    ]  # alone, or not: nobody knows
    assert gpu_seconds(known, 2 * one.rows) == pytest.approx(90.0)
    assert gpu_seconds([], 5000) is None
    assert held_seconds([one, other]) == one.elapsed_s + other.elapsed_s
    overlap = [
        one._replace(started="2026-11-17T10:00:00+0000", elapsed_s=60.0),
        one._replace(started="2026-11-17T10:00:30+0000", elapsed_s=60.0),
    ]
    assert held_seconds(overlap) == 90.0
    assert sb3_seconds([one]) == pytest.approx(100_000 / 43.0)
    assert "| table1 | single-lane-ring | dt, dt-dagger, " in missing_table(tmp_path, records)


def test_one_driver_at_a_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["bench", "table1", "--tasks", "inverted-pendulum", "--seeds", "1", "--no-forecast"]
    words += ["--results", str(tmp_path), "--methods", "mlp-max", "--out", str(tmp_path / "runs")]
    (tmp_path / "runs").mkdir()
    with only_writer(tmp_path, tmp_path / "runs" / "driver.lock"):
        assert main(words) == 2
    assert "is being written by process" in capsys.readouterr().err
