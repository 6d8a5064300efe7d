"""Every argument explains itself, slips get suggestions, and output is as loud as asked."""

import argparse
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from icct.cli.colour import coloured, coloured_cells
from icct.cli.main import VERBS, main, parser_of
from icct.cli.progress import PLAIN_EVERY_S, ProgressBar

RING = "zoo:ring-cruiser"


def arguments(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.Action]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                yield from arguments(inner)
        else:
            yield parser.prog, action


@pytest.mark.parametrize("verb", VERBS)
def test_every_argument_has_help(verb: str) -> None:
    found = list(arguments(parser_of(verb)))
    assert len(found) >= 3  # --help, --quiet and --traceback are there in any case
    silent = [(prog, a.option_strings or a.dest) for prog, a in found if not a.help]
    assert silent == []


@pytest.mark.parametrize(
    ("words", "says"),
    [
        # Before argparse asks for the -o that was meant.
        (["simplify", RING, "--ouput", "x"], "no option --ouput. Did you mean '--output'?"),
        (["bench", "speed", "--thread", "3"], "no option --thread. Did you mean '--threads'?"),
        (["verify", RING, "--propertys=x"], "Did you mean '--properties'?"),
        (["evaluate", RING, "--epsiodes", "3"], "Did you mean '--episodes'?"),
        (["show", RING, "-x"], "there is no option -x."),
        (["show", RING, "again"], "'again' is one word too many."),
    ],
)
def test_slips_get_suggestions(
    words: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    printed = capsys.readouterr().err
    assert says in printed
    assert printed.count("\n") == 1


def test_options_after_two_dashes_are_not_ours(capsys: pytest.CaptureFixture[str]) -> None:
    parsed = parser_of("bench").parse_args(["table1", "--plan", "--", "--stpes", "3"])
    assert parsed.options == ["--stpes", "3"]


def test_quiet_keeps_results_and_errors(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("icct.cli.progress.PLAIN_EVERY_S", 0.0)
    words = ["evaluate", "zoo:pole-balancer", "--episodes", "2"]
    assert main(words) == 0
    loud = capsys.readouterr()
    assert "of 2 episodes" in loud.err
    assert main([*words, "--quiet"]) == 0
    quiet = capsys.readouterr()
    assert quiet == (loud.out, "")
    assert main(["show", "none.json", "--quiet"]) == 2
    assert "none.json: cannot be read" in capsys.readouterr().err


def test_the_first_estimate_comes_at_once(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    with ProgressBar("episodes") as progress:
        now[0] += 2.0
        progress(1, 100)
        assert capsys.readouterr().err == "1 of 100 episodes, 3:18 min left\n"
        now[0] += PLAIN_EVERY_S - 1
        progress(2, 100)
        assert capsys.readouterr().err == ""
        now[0] += 1
        progress(3, 100)
        assert capsys.readouterr().err.startswith("3 of 100 episodes")


class Terminal:
    def isatty(self) -> bool:
        return True


def test_verdicts_are_coloured_on_terminals_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal: Any = Terminal()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert coloured("proved   x", "proved", terminal) == "\033[32mproved\033[0m   x"
    table = "slow  proved, margin 1.00  refuted by 0.50"
    assert coloured_cells(table, terminal).count("\033[0m") == 2
    monkeypatch.setenv("NO_COLOR", "1")
    assert coloured("proved   x", "proved", terminal) == "proved   x"
    assert coloured_cells(table, terminal) == table


def test_a_folder_offers_its_policies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", str(tmp_path)]) == 2
    assert "is a folder without policies" in capsys.readouterr().err
    for name in ("policies/seed-0.json", "distilled/seed-0.json"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("{}")
    for verb in ("evaluate", "show"):
        assert main([verb, str(tmp_path)]) == 2
        lines = capsys.readouterr().err.splitlines()
        assert "Name one of those in it" in lines[0]
        assert lines[1:] == [
            f"  {tmp_path}/policies/seed-0.json",
            f"  {tmp_path}/distilled/seed-0.json",
        ]


def test_bash_completes_verbs_flags_and_choices(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("shtab")
    assert main(["completion", "bash"]) == 0
    script = tmp_path / "icct.bash"
    script.write_text(capsys.readouterr().out)

    def completed(*words: str) -> set[str]:
        line = " ".join(f"'{word}'" for word in words)
        ask = (
            f"source {script}; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; "
            "COMP_TYPE=9; _shtab_icct; printf '%s\\n' \"${COMPREPLY[@]}\""
        )
        done = subprocess.run(["bash", "-c", ask], capture_output=True, text=True, check=True)
        return set(done.stdout.split())

    assert completed("icct", "ver") == {"verify"}
    assert completed("icct", "simplify", "--dec") == {"--decimals"}
    assert completed("icct", "export", "--to", "on") == {"onnx"}


def test_the_package_runs_as_the_command_does(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["show", RING, "--observation", "speed_ego=3.54m/s"]
    done = subprocess.run(
        [sys.executable, "-m", "icct", *words], capture_output=True, text=True, check=True
    )
    assert main(words) == 0
    assert done.stdout == capsys.readouterr().out
    wrong = subprocess.run([sys.executable, "-m", "icct", "shwo"], capture_output=True, check=False)
    assert wrong.returncode == 2
