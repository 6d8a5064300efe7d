"""`icct VERB ...`: finds the verb's file, parses its options, runs it, turns errors into text.

A verb lives in the file of its name and offers `EXAMPLES`, `add_arguments(parser)` and
`run(options) -> exit status`. Only the verb that was asked for is imported.
"""

import argparse
import importlib
import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, redirect_stderr
from typing import Any

from icct.cli.flags import STOPPED, Parser
from icct.errors import IcctError, did_you_mean, printable
from icct.stop import stopped_by_sigterm

VERBS = {
    "show": "print a policy in words, and the path of an observation through it",
    "verify": "prove a property for all observations, or refute it with one that replays",
    "guarantee": "prove what a plant under a policy does from every start, or refute it",
    "measure": "ranges, jumps, slopes and trends of the actions; room around an observation",
    "diff": "the largest difference of two policies, and the observation that shows it",
    "edit": "change a threshold, a weight, a leaf or a name; write a new policy",
    "simplify": "remove what cannot happen, merge what is equal, round; write a new policy",
    "export": "write a policy as C, Python, ONNX, DOT, LaTeX or JSON Schema",
    "draw": "draw a policy as a figure",
    "view": "watch a policy think, live in a browser; change it there",
    "record": "write an episode with the lit tree as one HTML page or a video",
    "report": "write all that is known about a policy as one HTML page",
    "tasks": "list the tasks, or show one with its features and actions",
    "train": "make controllers for a task: teach, distil, polish; or train plainly",
    "tune": "search over sizes and recipes; the front of return against parameters",
    "polish": "search directly for numbers that make a policy better",
    "extend": "add leaves where probes show that another action pays",
    "prune": "drop leaves, weights and digits that no episode needs",
    "distill": "make a readable tree that acts like a trained teacher",
    "adapt": "train a policy on where conditions have changed, and let it grow",
    "evaluate": "run a policy or a scripted driver on a task and report its returns",
    "audit": "run a policy and remark on what looks odd: unused leaves, ties, saturation",
    "robot": "drive one of 14 robots on a figure eight, in the Robotarium's simulator",
    "bench": "run the paper's evaluation, make its tables and the zoo, measure speed beside peers",
    "completion": "print a script with which a shell completes verbs, options and files",
}
WRONG_USE = 2
# Flags of every verb, wherever they stand.
EVERYWHERE = {
    "--quiet": "no progress and no hints: print results, and errors",
    "--traceback": "show where an unexpected error comes from",
}
UNEXPECTED = 70  # EX_SOFTWARE; 1 is an answer of verify and polish


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not words or words[0] in ("-h", "--help"):
        print(usage())
        return 0 if words else WRONG_USE
    if words[0] == "--version":
        from icct import __version__

        print(f"icct {__version__}")
        return 0
    verb = words[0]
    if verb not in VERBS:
        print(
            f"icct: there is no verb {verb!r}.{did_you_mean(verb, VERBS)} "
            f"Known are {', '.join(VERBS)}; see icct --help.",
            file=sys.stderr,
        )
        return WRONG_USE
    everywhere, own = _divided(words[1:])
    try:
        with stopped_by_sigterm():
            options = parser_of(verb).parse_args(own)
            with _silence() if "--quiet" in everywhere else nullcontext():
                status: int = verb_file(verb).run(options)
            return status
    except SystemExit as exit_request:  # argparse has printed help (0) or what was wrong (2)
        return int(exit_request.code or 0)
    except KeyboardInterrupt:
        print(f"icct {verb}: stopped.", file=sys.stderr)
        return STOPPED
    except BrokenPipeError:  # the reader of our output, such as `head`, has gone
        sys.stderr.close()
        return 0
    except Exception as error:
        if "--traceback" in everywhere:
            traceback.print_exc()
        print(f"icct {verb}: {_in_words(error)}", file=sys.stderr)
        return WRONG_USE if isinstance(error, IcctError | OSError) else UNEXPECTED


def parser_of(verb: str) -> Parser:
    """Return what reads the command line of a verb."""
    module = verb_file(verb)
    parser = Parser(
        prog=f"icct {verb}",
        description=VERBS[verb][0].upper() + VERBS[verb][1:] + ".",
        epilog=module.EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_everything(module, parser)
    return parser


def add_everything(module: Any, parser: Parser) -> None:
    """Declare the options of a verb, and those of every verb."""
    module.add_arguments(parser)
    for flag, text in EVERYWHERE.items():
        parser.add_argument(flag, action="store_true", help=text)


def verb_file(verb: str) -> Any:
    """Return the module of a verb."""
    return importlib.import_module(f"icct.cli.{verb}")


def _divided(words: Sequence[str]) -> tuple[set[str], list[str]]:
    """Return the flags of every verb among some words, and the other words."""
    end = words.index("--") if "--" in words else len(words)
    everywhere = EVERYWHERE.keys() & set(words[:end])
    return everywhere, [word for word in words[:end] if word not in everywhere] + [*words[end:]]


@contextmanager
def _silence() -> Iterator[None]:
    """Drop what is printed on stderr: progress and hints. Errors are printed afterwards."""
    with open(os.devnull, "w") as nothing, redirect_stderr(nothing):
        yield


def _in_words(error: Exception) -> str:
    """Return what to tell: of a mistake, of what the system refused, or of a defect of ours."""
    if isinstance(error, IcctError):
        return str(error)
    if isinstance(error, OSError):
        where = "" if error.filename is None else f"{error.filename}: "
        return printable(f"{where}{error.strerror or error}.")
    return (
        f"this should not happen ({type(error).__name__}: {printable(str(error))}). Please report "
        "it, with the command and what it prints with --traceback."
    )


def usage() -> str:
    """Return the text of `icct --help`."""
    width = max(map(len, VERBS))
    lines = [
        "usage: icct VERB ...",
        "",
        "Small readable controllers: learn, check, edit, ship.",
        "",
    ]
    lines += [f"  {verb:<{width}}  {help_text}" for verb, help_text in VERBS.items()]
    lines += [
        "",
        "`icct VERB --help` explains one verb, with examples; `icct --version` prints the version.",
        "Every verb takes --quiet (no progress) and --traceback (where an error comes from).",
        "Status: 0 done, yes; 1 no (refuted, not improved); 2 wrong use, or the system refused;",
        "3 undecided; 4 vacuous; 70 a defect of icct (--traceback shows where); 130 stopped.",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
