import json
import os
import signal
import subprocess
import sys
import time

import pytest

from icct.cli.main import main
from icct.envs.catalog import TASKS
from icct.policy import Controller, Leaf, Policy, Split
from icct.policy.file import read_policy, write_policy

PENDULUM = TASKS["inverted-pendulum"]
BUDGET = ("--evaluations", "300", "--validation-episodes", "10", "--report-episodes", "4")


@pytest.fixture
def weak(tmp_path):
    """A policy that lets the pole fall after two seconds or so."""
    rule = Leaf((Controller(((1, 2.0), (3, -0.3))),))
    nodes = (Split(1, 0.0, below=1, above=2), rule, rule)
    policy = Policy("weak", PENDULUM.features, PENDULUM.actions, nodes, squash="clip")
    write_policy(policy, tmp_path / "weak.json")
    return tmp_path / "weak.json"


def words(weak, output, *more):
    return ["polish", str(weak), "--task", PENDULUM.name, *BUDGET, "-o", str(output), *more]


def test_a_better_policy_is_written_and_the_workers_change_nothing(weak, tmp_path, capsys):
    assert main(words(weak, tmp_path / "one.json", "--json", "--workers", "1")) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["improved"]
    before, after = (answer["report"][who]["mean"] for who in ("start", "result"))
    assert after > 1.2 * before
    assert main(words(weak, tmp_path / "two.json", "--workers", "2")) == 0
    out = capsys.readouterr().out
    assert out.startswith("weak on inverted-pendulum: better than the start beyond noise")
    better = read_policy(tmp_path / "one.json")
    assert better == read_policy(tmp_path / "two.json")
    assert better.provenance.history[-1].startswith("polished from ")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.json", "two.json", "weak.json"]


def test_a_run_that_was_killed_goes_on(weak, tmp_path, capsys):
    assert main(words(weak, tmp_path / "whole.json")) == 0
    output = tmp_path / "killed.json"
    process = started(weak, output, 3)
    process.kill()
    process.communicate()
    assert not output.exists()
    assert main(words(weak, output, "--resume")) == 0
    assert read_policy(output) == read_policy(tmp_path / "whole.json")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "killed.json",
        "weak.json",
        "whole.json",
    ]


def test_the_original_is_kept_when_nothing_is_better(tmp_path, capsys):
    rule = Leaf((Controller(((0, 1.0), (1, 15.0), (2, 1.5), (3, 2.5))),))
    best = Policy("best", PENDULUM.features, PENDULUM.actions, (rule,), squash="clip")
    write_policy(best, tmp_path / "best.json")
    budget = ("--evaluations", "120", "--validation-episodes", "10", "--report-episodes", "2")
    task = ("--task", PENDULUM.name)
    output = tmp_path / "same.json"
    assert main(["polish", str(tmp_path / "best.json"), *task, *budget, "-o", str(output)]) == 1
    assert "the original is kept" in capsys.readouterr().out
    assert read_policy(output) == best


def test_wrong_use_is_refused(weak, tmp_path, capsys):
    output = str(tmp_path / "out.json")
    for wrong, message in (
        (["--task", PENDULUM.name], "--minutes"),
        (["--task", "lunar-lander", "--minutes", "1"], "does not fit task lunar-lander"),
        (["--task", PENDULUM.name, "--minutes", "1", "--workers", "0"], "workers is 0"),
        (["--task", PENDULUM.name, "--minutes", "1", "--resume"], "nothing to resume"),
        (["--task", PENDULUM.name, "--minutes", "1", "--objective", "max"], "objective is 'max'"),
    ):
        assert main(["polish", str(weak), *wrong, "-o", output]) == 2
        assert message in capsys.readouterr().err
    nowhere = str(tmp_path / "nowhere" / "out.json")
    assert (
        main(["polish", str(weak), "--task", PENDULUM.name, "--minutes", "1", "-o", nowhere]) == 2
    )


def test_properties_that_must_hold(weak, tmp_path, capsys):
    verify = pytest.importorskip("icct.verify")
    properties, output = tmp_path / "safe.toml", tmp_path / "out.json"
    wrong = "when pole_angle > 0.1 then force <= 0"
    properties.write_text(f'[wrong]\nproperty = "{wrong}"\nwhy = "It is not."\n')
    assert main(words(weak, output, "--properties", str(properties))) == 2
    assert "has to hold at the start" in capsys.readouterr().err
    held = "when pole_angle > 0.19 and pole_angular_velocity < 0 then force >= 0.2"
    properties.write_text(f'[held]\nproperty = "{held}"\nwhy = "It pushes back."\n')
    assert main(words(weak, output, "--properties", str(properties))) == 0
    answer = verify.check(read_policy(output), verify.Property(held))
    assert isinstance(answer, verify.Proved)


def test_an_interrupted_run_is_not_thrown_away(weak, tmp_path, capsys):
    output, journal = tmp_path / "out.json", tmp_path / "out.json.journal"
    journal.write_text("what a run remembers\n")
    assert main(words(weak, output)) == 2
    assert "Go on with --resume, or begin anew with --force" in capsys.readouterr().err
    assert journal.read_text() == "what a run remembers\n"
    assert main(words(weak, output, "--force")) == 0
    assert not journal.exists()


def test_signals_write_the_best_so_far_and_a_resume_ends_as_if_never_stopped(
    weak, tmp_path, capsys
):
    whole, output = tmp_path / "whole.json", tmp_path / "stopped.json"
    assert main(words(weak, whole)) == 0
    for number, answers, more in (
        (signal.SIGINT, 3, []),
        (signal.SIGTERM, 5, ["--resume"]),
    ):
        process = started(weak, output, answers, "--workers", "2", *more)
        assert main(words(weak, output, "--resume")) == 2  # one writer at a time
        assert f"is being written by process {process.pid} on" in capsys.readouterr().err
        os.killpg(process.pid, number)  # as a terminal and Slurm do
        _, said = process.communicate(timeout=60)
        assert process.returncode == 130
        *estimate, last = said.splitlines()
        assert [line.partition(": about")[0] for line in estimate] == (
            [] if more else ["search, check and report"]
        )
        assert last == "go on with the same command and --resume"
        read_policy(output)
    assert main(words(weak, output, "--resume")) == 0
    assert read_policy(output) == read_policy(whole)
    assert not list(tmp_path.glob("*.lock"))


def started(weak, output, answers, *more):
    """Start a run of its own, and wait until its journal has so many answers."""
    command = [sys.executable, "-m", "icct.cli.main", *words(weak, output, *more)]
    process = subprocess.Popen(
        command,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    journal, until = output.with_name(f"{output.name}.journal"), time.monotonic() + 60
    while not journal.exists() or journal.read_bytes().count(b"\n") < 1 + answers:
        assert process.poll() is None
        assert time.monotonic() < until
        time.sleep(0.01)
    return process


@pytest.mark.parametrize(
    "damage",
    ["", "[]", "3", "[" * 100_000, "9" * 5000, '{"elapsed_s": 1}', '{"elapsed_s": 1, "returns": 3}',
     '{"elapsed_s": 1, "returns": [["x"]]}', '{"elapsed_s": [], "returns": [[1]]}', "\0"],
)  # fmt: skip
def test_a_damaged_journal_is_refused(damage, weak, tmp_path, capsys):
    output, journal = tmp_path / "out.json", tmp_path / "out.json.journal"
    for head in ("", '{"format": "icct-polish-journal"}\n'):
        journal.write_text(f"{head}{damage}\n")
        assert main(words(weak, output, "--resume")) == 2
        assert "out.json.journal" in capsys.readouterr().err
