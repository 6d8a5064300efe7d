"""`icct completion SHELL`: a script with which a shell completes verbs, options and files."""

import argparse
from typing import Any

from icct.cli.flags import Parser
from icct.errors import MissingExtraError

SHELLS = ("bash", "zsh", "tcsh")
# Arguments that are files, or may be.
FILES = {"policy", "actor", "teacher", "before", "after", "task", "config", "init", "output"}
FILES |= {"resume", "out", "properties", "check", "usage", "run", "results", "script", "video"}

EXAMPLES = """examples:
  icct completion bash > ~/.local/share/bash-completion/completions/icct
  icct completion zsh > ~/.zsh/completions/_icct        a folder of your $fpath, before compinit
  icct completion tcsh > ~/.icct.tcsh                   and `source ~/.icct.tcsh` in ~/.tcshrc
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of this verb."""
    parser.add_argument("shell", choices=SHELLS, help="the shell that is to complete")


def run(options: argparse.Namespace) -> int:
    """Print the script."""
    try:
        import shtab
    except ImportError:
        raise MissingExtraError(
            'Completion needs shtab. Install it with: pip install "icct[completion]"'
        ) from None
    parser = whole_parser()
    for action in _actions(parser):
        if action.dest in FILES and not action.choices:
            action.complete = shtab.FILE  # how shtab is told
    print(shtab.complete(parser, shell=options.shell))
    return 0


def whole_parser() -> Parser:
    """Return one parser of all verbs."""
    from icct.cli.main import VERBS, add_everything, verb_file

    parser = Parser(prog="icct")
    verbs = parser.add_subparsers(dest="verb")
    for verb, text in VERBS.items():
        add_everything(verb_file(verb), verbs.add_parser(verb, help=text))
    return parser


def _actions(parser: Any) -> list[Any]:
    """Return all arguments of a parser and of those inside it."""
    found = []
    for action in parser._actions:
        found.append(action)
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                found += _actions(inner)
    return found
