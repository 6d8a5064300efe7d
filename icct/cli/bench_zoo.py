"""`icct bench zoo|cards`: make the shipped policies from the records, and check their cards."""

import argparse
from pathlib import Path

from icct.cli.bench_flags import add_results, add_workers

WRONG = 1


def add_arguments(kinds: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declare the kinds of `icct bench` that are in this file."""
    zoo = kinds.add_parser("zoo", help="make zoo:TASK/METHOD of the best recorded trees")
    zoo.add_argument("--tasks", nargs="+", metavar="TASK", help="these alone")
    zoo.add_argument("--episodes", type=int, default=100, help="of a card's score")
    add_results(zoo)
    zoo.add_argument("--folder", type=Path, help="to write to (default: the package's own)")
    cards = kinds.add_parser("cards", help="does each card's command give its score?")
    cards.add_argument("names", nargs="*", metavar="zoo:NAME", help="default: all of TASK/METHOD")
    cards.add_argument("--random", type=int, metavar="N", help="N of them, drawn at random")
    for parser in (zoo, cards):
        add_workers(parser)


def _zoo(options: argparse.Namespace) -> int:
    from icct.bench.zoo import make_zoo

    made = make_zoo(
        options.results, options.folder, options.tasks, options.episodes, options.workers, print
    )
    print(f"{len(made)} policies")
    return 0


def _cards(options: argparse.Namespace) -> int:
    import random

    from icct.bench.zoo import check_card, recorded_names

    names = [name.removeprefix("zoo:") for name in options.names] or recorded_names()
    if options.random is not None:
        names = random.sample(names, min(options.random, len(names)))
    wrong = 0
    for name in names:
        stated, found = check_card(name, options.workers)
        right = stated == found
        wrong += not right
        print(f"zoo:{name}: {stated} on the card, {found} now{'' if right else '  DIFFERS'}")
    return WRONG if wrong else 0


KINDS = {"zoo": _zoo, "cards": _cards}
