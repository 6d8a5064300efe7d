"""`icct VERB ...`: finds the verb's file, parses its options, runs it, turns errors into text.

A verb lives in the file of its name and offers `EXAMPLES`, `add_arguments(parser)` and
`run(options) -> exit status`. Only the verb that was asked for is imported.
"""

import argparse
import importlib
import sys
import traceback
from collections.abc import Sequence

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
    "polish": "search directly for numbers that make a policy better",
    "prune": "drop leaves, weights and digits that no episode needs",
    "distill": "make a readable tree that acts like a trained teacher",
    "adapt": "train a policy on where conditions have changed, and let it grow",
    "evaluate": "run a policy or a scripted driver on a task and report its returns",
    "audit": "run a policy and remark on what looks odd: unused leaves, ties, saturation",
    "robot": "drive one of 14 robots on a figure eight, in the Robotarium's simulator",
    "bench": "run the paper's evaluation, make its tables and the zoo, measure speed beside peers",
}
WRONG_USE = 2
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
    shown_in_full = "--traceback" in words
    try:
        with stopped_by_sigterm():
            return _run(verb, [word for word in words[1:] if word != "--traceback"])
    except SystemExit as exit_request:  # argparse has printed help (0) or what was wrong (2)
        return int(exit_request.code or 0)
    except KeyboardInterrupt:
        print(f"icct {verb}: stopped.", file=sys.stderr)
        return STOPPED
    except BrokenPipeError:  # the reader of our output, such as `head`, has gone
        sys.stderr.close()
        return 0
    except Exception as error:
        if shown_in_full:
            traceback.print_exc()
        print(f"icct {verb}: {_in_words(error)}", file=sys.stderr)
        return WRONG_USE if isinstance(error, IcctError | OSError) else UNEXPECTED


def _run(verb: str, words: list[str]) -> int:
    module = importlib.import_module(f"icct.cli.{verb}")
    parser = Parser(
        prog=f"icct {verb}",
        description=VERBS[verb][0].upper() + VERBS[verb][1:] + ".",
        epilog=module.EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    module.add_arguments(parser)
    status: int = module.run(parser.parse_args(words))
    return status


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
        "Status: 0 done, yes; 1 no (refuted, not improved); 2 wrong use, or the system refused;",
        "3 undecided; 4 vacuous; 70 a defect of icct (--traceback shows where); 130 stopped.",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
