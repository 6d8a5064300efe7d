"""`icct guarantee POLICY --plant FILE`: proved with a tube, refuted by a trajectory, or unknown."""

import argparse
import json
import os
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from icct.cli.flags import whole
from icct.cli.progress import ProgressBar
from icct.errors import ConfigError, did_you_mean
from icct.zoo import load_policy

if TYPE_CHECKING:
    from icct.guarantee import Answer, Asked
    from icct.guarantee.loop import Box
    from icct.plant import Plant
    from icct.plant.question import Kind, Question
    from icct.policy import Policy

STATUSES = {"proved": 0, "refuted": 1, "unknown": 3}
KINDS: "tuple[Kind, ...]" = ("always", "never", "reach")
EXAMPLES = """examples:
  icct guarantee zoo:single-pendulum --plant plant:single-pendulum
  icct guarantee my.json --plant plant:acc --always "gap >= 10 + 1.4*v_ego" --time 5
  icct guarantee my.json --plant car.toml --never "gap < 5" --time 20 --from gap=30..60 speed=25
  icct guarantee my.json --plant plant:cart-pole --always "abs(angle) <= 0.2" --time 3 --forever
  icct guarantee my.json --plant car.toml --out proof --workers 8     # again: it goes on there

Without a condition, the questions of the plant file are asked. States that --from does not name
start where the plant file says. A proof is about real numbers, about the plant as its file says it
is, and about every disturbance inside its box: docs/guarantees.md.
Exit status: 0 all proved; 1 some refuted; else 3 some unknown.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of this verb."""
    parser.add_argument("policy", help="a policy file, or zoo:NAME")
    parser.add_argument("--plant", required=True, help="a plant file, or plant:NAME")
    for kind, what in zip(
        KINDS, ("hold all the time", "never hold", "hold at some moment"), strict=True
    ):
        parser.add_argument(f"--{kind}", metavar="CONDITION", help=f"what must {what}")
    parser.add_argument("--question", metavar="NAME", help="one of the plant file's questions")
    parser.add_argument("--time", type=Fraction, metavar="S", help="for how many seconds")
    parser.add_argument(
        "--from",
        dest="start",
        nargs="+",
        default=[],
        metavar="STATE=LOW..HIGH",
        help="where it starts",
    )
    parser.add_argument(
        "--forever",
        action="store_true",
        help="for all time: within --time everything comes back to where it started, or --home",
    )
    parser.add_argument(
        "--home", nargs="+", metavar="STATE=LOW..HIGH", help="the box to come back to, and stay"
    )
    parser.add_argument("--boxes", type=whole, default=4096, help="how many to try (4096)")
    parser.add_argument("--workers", type=whole, default=os.cpu_count() or 1, help="processes")
    parser.add_argument(
        "--out", type=Path, metavar="FOLDER", help="keep the proof, and go on there"
    )
    parser.add_argument("--figure", type=Path, metavar="FILE", help="draw the tube (PNG, SVG, PDF)")
    parser.add_argument("--json", action="store_true", help="print JSON for a program to read")


def run(options: argparse.Namespace) -> int:
    """Answer every question and print the answers."""
    from icct.guarantee import guarantee
    from icct.plant import read_plant

    policy, plant = load_policy(options.policy), read_plant(options.plant)
    if options.boxes < 1 or options.workers < 1:
        raise ConfigError("--boxes and --workers take whole numbers of at least 1.")
    answers = []
    for asked in _asked(plant, options):
        folder = options.out and options.out / (asked.question.name or "question")
        with ProgressBar("boxes") as progress:
            answers.append(
                guarantee(
                    plant,
                    policy,
                    asked,
                    most_boxes=options.boxes,
                    workers=options.workers,
                    folder=folder,
                    progress=progress,
                )
            )
        if not options.json:
            print(answers[-1].as_text(), flush=True)
    if options.json:
        content = {"policy": policy.name, "plant": plant.name}
        print(json.dumps({**content, "answers": [one.as_json() for one in answers]}, indent=2))
    if options.figure is not None:
        _draw(answers, policy, options.figure)
    words = {answer.word for answer in answers}
    return next((STATUSES[word] for word in ("refuted", "unknown") if word in words), 0)


def _asked(plant: "Plant", options: argparse.Namespace) -> "list[Asked]":
    from icct.guarantee import Asked

    start = _box(plant, options.start, plant.start, "--from")
    home = None if options.home is None else _box(plant, options.home, start, "--home")
    drawn = options.figure is not None and not options.forever
    return [Asked(one, start, options.forever, home, drawn) for one in _questions(plant, options)]


def _questions(plant: "Plant", options: argparse.Namespace) -> "list[Question]":
    from dataclasses import replace

    from icct.plant.question import Question
    from icct.verify import Property

    own = {question.name: question for question in plant.questions}
    given = [(kind, getattr(options, kind)) for kind in KINDS if getattr(options, kind)]
    if given and options.question is not None:
        raise ConfigError("give a condition or --question, not both.")
    if given and options.time is None:
        raise ConfigError("how long? Give --time in seconds (with --forever: to come back).")
    asked = [Question(kind, plant.checked(Property(text)), options.time) for kind, text in given]
    if options.question is not None:
        if options.question not in own:
            raise ConfigError(
                f"{plant.name} has no question {options.question!r}, only "
                f"{', '.join(own) or 'none'}.{did_you_mean(options.question, own)}"
            )
        asked = [own[options.question]]
    elif not given:
        asked = list(own.values())
    if not asked:
        raise ConfigError(
            f"nothing to ask: {plant.name} has no questions. Give --always, --never or --reach."
        )
    return asked if options.time is None else [replace(one, time=options.time) for one in asked]


def _box(plant: "Plant", words: list[str], otherwise: "Box", flag: str) -> "Box":
    """Return the box that STATE=LOW..HIGH words describe; STATE=VALUE is a side of no length."""
    sides = dict(zip((state.name for state in plant.states), otherwise, strict=True))
    for word in words:
        name, _, text = word.partition("=")
        if name not in sides:
            raise ConfigError(
                f"{flag}: {name!r} is not a state of {plant.name} ({', '.join(sides)})."
                f"{did_you_mean(name, sides)}"
            )
        low, dots, high = text.partition("..")
        try:
            sides[name] = (Fraction(low), Fraction(high if dots else low))
        except (ValueError, ZeroDivisionError):
            raise ConfigError(
                f"{flag}: {word!r}, expected {name}=LOW..HIGH or {name}=VALUE with finite numbers."
            ) from None
        if sides[name][0] > sides[name][1]:
            raise ConfigError(f"{flag}: {word!r}: the low end is above the high end.")
    return tuple(sides.values())


def _draw(answers: "list[Answer]", policy: "Policy", path: Path) -> None:
    """Draw the tube of the first question that was proved."""
    from icct.draw import write_figure
    from icct.files import write_atomically
    from icct.guarantee import Proved
    from icct.guarantee.figure import draw_tube

    proved = [answer for answer in answers if isinstance(answer, Proved)]
    if not proved:
        raise ConfigError("--figure: nothing was proved, so there is no tube to draw.")
    write_atomically(path, write_figure(draw_tube(proved[0], policy), str(path)))
