"""The run folder: finished runs stay, one writer at a time, damaged files are named."""

import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from icct.cli.main import main
from icct.errors import ConfigError
from icct.learn.checkpoint import FILE
from icct.learn.run import Run, read_run
from icct.learn.train import Status, resume, train
from icct.lock import only_writer
from tests.learn.test_stop import small


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a finished run and one that was stopped, to be copied."""

    def stop(status: Status) -> None:
        signal.raise_signal(signal.SIGTERM)

    place = tmp_path_factory.mktemp("made")
    train(small(steps=60), place / "finished")
    train(small(steps=3000, learning_starts=2900), place / "stopped", report=stop)
    return place


@pytest.fixture
def finished(made: Path, tmp_path: Path) -> Run:
    return read_run(Path(shutil.copytree(made / "finished", tmp_path / "run")))


@pytest.fixture
def stopped(made: Path, tmp_path: Path) -> Run:
    return read_run(Path(shutil.copytree(made / "stopped", tmp_path / "run")))


def content(folder: Path) -> dict[str, bytes]:
    return {str(p): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_a_finished_run_is_left_alone(finished: Run, capsys: pytest.CaptureFixture[str]) -> None:
    before = content(finished.folder)
    assert main(["train", "--resume", str(finished.folder)]) == 0
    captured = capsys.readouterr()
    assert "is finished, and left as it is" in captured.err
    assert f"policies are in {finished.folder / 'policies'}" in captured.out
    assert content(finished.folder) == before
    again = resume(finished.folder)
    assert again.finished
    assert again.members == finished.members
    assert main(["train", "inverted-pendulum", "--out", str(finished.folder)]) == 2
    assert "It is finished; choose another folder." in capsys.readouterr().err
    assert content(finished.folder) == before


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--steps", "100"], "steps: {run} goes on as it was configured, with 3000"),
        (["--actor-lr", "0.5"], "actor_lr"),
        (["lunar-lander"], "with inverted-pendulum"),
        (["--method", "mlp-max"], "with icct-2-feature"),
        (["--method", "icct-2-feature", "mlp-max"], "with icct-2-feature"),
        (["--seeds", "2"], "with (0,)"),
        (["--grow"], "grow"),
        (["--option", "pole_length=1.2"], "option: "),
        (["--init", "zoo:pole-balancer"], "init"),
        (["--config", "other.toml"], "with 3000"),
        (["--out", "elsewhere"], "goes on where it is"),
    ],
)
def test_what_contradicts_a_run_is_refused(
    words: list[str],
    says: str,
    stopped: Run,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("other.toml").write_text("steps = 7\n")
    before = content(stopped.folder)
    assert main(["train", "--resume", str(stopped.folder), *words]) == 2
    assert says.format(run=stopped.folder) in capsys.readouterr().err
    assert content(stopped.folder) == before


def test_what_agrees_with_a_run_is_not_refused(finished: Run) -> None:
    words = ["inverted-pendulum", "--method", "icct-2-feature", "--seeds", "1", "--steps", "60"]
    assert main(["train", *words, "--resume", str(finished.folder)]) == 0


def hold(folder: Path, taken: object, leave: object) -> None:
    with only_writer(folder, folder / "run.lock"):
        taken.set()  # type: ignore[attr-defined]
        leave.wait()  # type: ignore[attr-defined]


def test_one_writer_at_a_time_and_a_dead_one_locks_nothing(stopped: Run) -> None:
    context = multiprocessing.get_context("spawn")
    taken, leave = context.Event(), context.Event()
    other = context.Process(target=hold, args=(stopped.folder, taken, leave))
    other.start()
    taken.wait(60)
    try:
        for write in (lambda: resume(stopped.folder), lambda: train(small(), stopped.folder)):
            with pytest.raises(ConfigError, match=f"is being written by process {other.pid} on "):
                write()
    finally:
        other.kill()
        other.join()
    assert (stopped.folder / "run.lock").exists()  # it could not tidy up
    assert resume(stopped.folder).finished
    assert not (stopped.folder / "run.lock").exists()


@pytest.mark.parametrize(
    "damage",
    [
        "",
        "{",
        "[]",
        '{"format": "icct-run", "version": 1}',
        '{"format": "icct-run", "version": 1, "groups": 3}',
        '{"format": "icct-run", "version": 1, "groups": [{"steps": "many"}]}',
        '{"format": "icct-run", "version": 1, "groups": [{"stps": 3}]}',
        '{"format": "icct-run", "version": 1, "groups": [%s], "members": [[]], "elapsed_s": 1}',
        '{"format": "icct-run", "version": 1, "groups": [%s], "elapsed_s": "long"}',
        "[" * 100_000,
        "9" * 5000,
        "\0",
    ],
)
def test_a_damaged_run_file_is_named(damage: str, tmp_path: Path) -> None:
    config = json.dumps(small().as_json())
    (tmp_path / "run.json").write_text(damage.replace("%s", config))
    with pytest.raises(ConfigError, match=r"run\.json"):
        read_run(tmp_path)


@pytest.mark.parametrize(
    "damage",
    [
        {},
        {"step": "7"},
        {"step": 10**9},
        {"pending": [[7, 1]]},
        {"pending": [[0]]},
        {"pending": 3},
        {"members": []},
        {"members": [{"recent": 3}]},
        {"metrics_bytes": -1},
        {"elapsed_s": []},
    ],
)
def test_a_damaged_checkpoint_is_named(damage: dict[str, object], stopped: Run) -> None:
    from safetensors import safe_open
    from safetensors.torch import save_file

    path = stopped.folder / FILE
    with safe_open(path, framework="pt") as file:
        about = file.metadata()
        tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
    told = json.loads(about["progress"]) | damage if damage else []
    save_file(tensors, path, metadata=about | {"progress": json.dumps(told)})
    with pytest.raises(ConfigError, match="not a readable checkpoint"):
        resume(stopped.folder)


@pytest.mark.parametrize(
    "damage", ["\0", "step\n1", "step,group,seed,metric,value\nx,g,0,score,1\n", '"' * 3, "\xff"]
)
def test_damaged_measurements_are_named(
    damage: str, finished: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (finished.folder / "metrics.csv").write_bytes(damage.encode("latin-1"))
    words = ["bench", "record", str(finished.folder), "--results", str(tmp_path / "results")]
    assert main(words) == 2
    assert "metrics.csv" in capsys.readouterr().err


def test_damaged_measurements_do_not_stop_a_run(stopped: Run) -> None:
    (stopped.folder / "metrics.csv").write_bytes(b"\xff\0")
    assert resume(stopped.folder).finished


FULL_DISK = """
import resource, sys
from icct.cli.main import main
if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
    sys.exit(main(sys.argv[2:]))
"""


@pytest.mark.parametrize(
    ("recipe", "most"), [("paper", 500), ("paper", 6000), ("paper", 20_000), ("icct", 20_000)]
)
def test_a_full_disk_ends_in_words(recipe: str, most: int, tmp_path: Path) -> None:
    """No file may grow beyond a limit: the run file, policies, measurements, the checkpoint."""
    script, run = tmp_path / "limited.py", tmp_path / "run"
    script.write_text(FULL_DISK)
    words = ["train", "inverted-pendulum", "--steps", "3000", "--learning-starts", "2990"]
    words += ["--evaluate-every", "500", "--evaluate-episodes", "1", "--buffer-size", "9000"]
    words += ["--critic-hidden", "64", "--checkpoint-minutes", "0.01", "--out", str(run)]
    words += ["--device", "cpu", "--recipe", recipe]
    done = subprocess.run(
        [sys.executable, str(script), str(most), *words],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert "cannot be written" in done.stderr
    assert not list(run.rglob(".*"))
    assert (run / "run.json").exists() == (most > 500)  # else the folder is free for another try
