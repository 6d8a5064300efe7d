"""Whether guarantees can be trusted: three ways to catch a proof that is wrong.

    python benchmarks/guarantee_soundness.py tubes --trajectories 100000
    python benchmarks/guarantee_soundness.py forever --trajectories 100000
    python benchmarks/guarantee_soundness.py known --plants 200
    python benchmarks/guarantee_soundness.py sabotage --controllers 50

tubes: trajectories of every plant that ships, under its tree, from random and corner starts and
with disturbances that jump, integrated to 1e-12: none may leave a tube that is proved.
forever: the same of guarantees for all time: each comes back to the starts in time, and none breaks
the condition until then, nor in four times as long.
known: random plants with random trees and a question whose answer a fine grid of starts gives. What
is false may not be proved, what is true may not be refuted.
sabotage: trees of the zoo with a defect that a simulation shows to be one. None may be proved, with
the falsifier switched off; with it they should be refuted.
"""

import argparse
import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from icct.guarantee import Asked, Proved, Refuted, guarantee
from icct.guarantee.contain import outside
from icct.guarantee.loop import Loop
from icct.guarantee.prove import prove
from icct.plant import Plant, read_plant, shipped_plants
from icct.plant.falsify import Effort, kept_by, replay
from icct.plant.file import plant_from_toml
from icct.plant.margin import margin
from icct.plant.question import Question
from icct.plant.simulate import Trajectories, periods, simulate, within
from icct.policy import Controller, Leaf, Policy, Split
from icct.policy.parts import Node
from icct.verify import Property
from icct.zoo import load_policy, zoo_names

BLOCK = 5000  # trajectories at a time
LITTLE = Effort(
    samples=32, generations=2, size=16, per_period=4
)  # one state is soon searched through

# -- tubes ----------------------------------------------------------------------------------------


def questions() -> Iterator[tuple[Plant, Policy, Asked]]:
    """Yield every shipped plant with its tree and each of its questions, and one more tree."""
    for name in [name for name in shipped_plants() if f"plant/{name}" in zoo_names()]:
        plant = read_plant(f"plant:{name}")
        for question in plant.questions:
            yield plant, load_policy(f"zoo:plant/{name}"), Asked(question, plant.start)
    plant, trained = read_plant("plant:cart-pole"), "zoo:inverted-pendulum/icct-2-feature"
    yield plant, load_policy(trained), Asked(plant.questions[0], plant.start)


def check_tubes(count: int, boxes: int, only: str | None) -> None:
    """Print how many trajectories leave the tube of each question that is proved."""
    for plant, policy, asked in questions():
        if only not in (None, plant.name):
            continue
        asked = replace(asked, to_the_end=True)
        began = time.monotonic()
        answer = guarantee(plant, policy, asked, workers=2, most_boxes=boxes)
        row = {
            "plant": plant.name,
            "tree": policy.name,
            "question": asked.question.text,
            "answer": answer.word,
        }
        row["seconds"] = round(time.monotonic() - began, 1)
        if isinstance(answer, Proved):
            row["boxes"] = len(answer.search.proved)
            row |= trajectories_outside(plant, policy, answer, count)
        print(json.dumps(row), flush=True)


def trajectories_outside(
    plant: Plant, policy: Policy, answer: Proved, count: int
) -> dict[str, object]:
    """Return how many of so many trajectories leave a proved tube."""
    rng, loop = np.random.default_rng(0), Loop(plant, policy, answer.asked)
    seconds = answer.asked.question.time
    box = [(one.low, one.high) for one in plant.disturbances]
    left = samples = 0
    for first in range(0, count, BLOCK):
        parts = rng.uniform(size=(min(BLOCK, count - first), len(plant.states)))
        parts[::2] = np.round(parts[::2])  # corners
        jumps = rng.uniform(size=(len(parts), len(periods(plant, seconds)), len(box)))
        jumps[::3] = np.round(jumps[::3])
        noise = within(box, jumps.reshape(-1, len(box))).reshape(jumps.shape) if box else jumps
        starts = within(answer.asked.start, parts)
        went = simulate(plant, policy, starts, seconds, disturbances=noise, samples=loop.steps)
        escaped = outside(answer.search, went.times, went.states) & ~arrived(answer.asked, went)
        left += int(escaped.any(axis=1).sum())
        samples += escaped.size
    return {"trajectories": count, "samples": samples, "outside": left}


def arrived(asked: Asked, went: Trajectories) -> NDArray[np.bool_]:
    """Return the samples from when on a goal has been reached: there the tube may have ended."""
    if asked.goal is None:
        return np.zeros(went.states.shape[:2], dtype=bool)
    held = margin(asked.goal, went.values()) >= -1e-9
    reached: NDArray[np.bool_] = np.logical_or.accumulate(held, axis=1)
    return reached


# -- for all time ---------------------------------------------------------------------------------

FOREVER = {  # plant → half the widths of the box of starts, and the seconds to come back in
    "cart-pole": ((0.2, 0.03, 0.1, 0.1), 6),
    "lane-keeping": ((2.0, 0.15, 0.3, 0.3), 6),
}


def check_forever(count: int, boxes: int, only: str | None) -> None:
    """Print how many trajectories break a guarantee for all time, or do not come back."""
    for name, (widths, seconds) in FOREVER.items():
        if only not in (None, name):
            continue
        plant, policy = read_plant(f"plant:{name}"), load_policy(f"zoo:plant/{name}")
        box = tuple((-Fraction(str(width)), Fraction(str(width))) for width in widths)
        question = replace(plant.questions[0], time=Fraction(seconds))
        answer = guarantee(plant, policy, Asked(question, box, forever=True), most_boxes=boxes)
        row = {"plant": name, "answer": answer.word, "trajectories": count}
        rng, broken, away = np.random.default_rng(0), 0, 0
        for first in range(0, count, BLOCK):
            parts = rng.uniform(size=(min(BLOCK, count - first), len(plant.states)))
            parts[::2] = np.round(parts[::2])  # corners
            went = simulate(plant, policy, within(box, parts), 4 * question.time, samples=2)
            broken += int((margin(question.condition.conclusion, went.values()) < 0).any(1).sum())
            moments = (went.times > 0) & (went.times <= seconds)
            inside = (np.abs(went.states) <= np.array(widths) + 1e-9).all(axis=2)
            away += int((~inside[:, moments].any(axis=1)).sum())
        print(json.dumps({**row, "broken": broken, "not back": away}), flush=True)


# -- known answers --------------------------------------------------------------------------------

RATES = (  # of a state x under an action u, from gentle to wild
    "{a}*x + {b}*u",
    "{a}*sin(2*x) + {b}*u",
    "{a}*x^3 + {b}*u",
    "{a}*tanh(3*x) + {b}*u*cos(x)",
    "{a}*x/(2 + x^2) + {b}*u",
    "{a}*abs(x) + {b}*u",
    "{a}*exp(-x^2) + {b}*u",
    "{a}*atan(x) + {b}*max(u, x/2)",
)
MODEL = """
format = "icct-plant"
version = 1
name = "random"
summary = "Random."
source = "Random."
leaves_out = ["nothing"]
period = {period}
[states.x]
unit = ""
rate = "{rate}"
start = [{low}, {high}]
[actions.u]
unit = ""
low = -1
high = 1
[observations.x]
unit = ""
low = -100
high = 100
"""


def random_loop(rng: np.random.Generator) -> tuple[Plant, Policy]:
    """Return a random plant of one state, and a random tree for it."""
    rate = str(rng.choice(RATES)).format(a=_number(rng, -1.5, 1.0), b=_number(rng, 0.3, 2.0))
    low = rng.uniform(-1, 1)
    text = MODEL.format(
        period=_number(rng, 0.02, 0.3), rate=rate, low=f"{low:.3f}", high=f"{low + 0.5:.3f}"
    )
    plant = plant_from_toml(text.encode())
    thresholds = np.sort(rng.uniform(-1.5, 1.5, rng.integers(1, 4)))
    nodes: list[Node] = []
    for number, threshold in enumerate(thresholds):
        nodes += [Split(0, float(threshold), 2 * number + 1, 2 * number + 2), _leaf(rng)]
    squash = "tanh" if rng.uniform() < 0.5 else "clip"
    return plant, Policy("random", plant.features, plant.actions, (*nodes, _leaf(rng)), squash)


def check_known(count: int, grid: int, boxes: int, seed: int = 0) -> Counter[str]:
    """Ask a true and a false question of random loops; return how often each answer was given."""
    rng, answers = np.random.default_rng(seed), Counter[str]()
    while sum(answers.values()) < 2 * count:
        plant, policy = random_loop(rng)
        thresholds = [node.threshold for node in policy.nodes if isinstance(node, Split)]
        ((low, high),) = plant.start
        near = [np.nextafter(t, way) for t in thresholds for way in (-np.inf, np.inf)]
        inside = [t for t in (*thresholds, *near) if low <= t <= high]
        starts = np.concatenate([np.linspace(float(low), float(high), grid), inside])
        went = simulate(plant, policy, starts[:, None], Fraction(2), samples=4)
        most = float(np.nanmax(went.states))
        if not np.isfinite(went.states).all() or np.abs(went.states).max() > 50:
            continue
        spread = 0.02 * (1 + abs(most))
        for truth, bound in (("true", most + spread), ("false", most - spread)):
            question = Question("always", Property(f"x <= {bound:.9f}"), Fraction(2))
            asked = Asked(question, plant.start)
            search = prove(plant, policy, asked, boxes)
            found = guarantee(plant, policy, asked, most_boxes=1, effort=LITTLE)
            word = "refuted" if isinstance(found, Refuted) else "unknown"
            answers[f"{truth}: {'proved' if not search.open else word}"] += 1
    return answers


# -- sabotage -------------------------------------------------------------------------------------


def sabotaged(policy: Policy, rng: np.random.Generator) -> Policy:
    """Return a policy with one or two of its leaves or splits broken."""
    nodes = list(policy.nodes)
    for index in rng.choice(len(nodes), min(2, len(nodes)), replace=False):
        node = nodes[index]
        if isinstance(node, Split):
            nodes[index] = replace(node, below=node.above, above=node.below)
            continue
        factor = float(rng.choice([-1.0, 0.0, -3.0]))
        nodes[index] = Leaf(
            tuple(
                Controller(tuple((f, factor * w) for f, w in rule.weights), rule.bias * factor)
                for rule in node.controllers
            )
        )
    return replace(policy, nodes=tuple(nodes))


def check_sabotage(count: int, boxes: int, only: Sequence[str] = (), seed: int = 0) -> Counter[str]:
    """Ask of sabotaged controllers; return how often each answer was given.

    Args:
        count: How many.
        boxes: The most boxes of starts to try, with the falsifier switched off.
        only: The plants to ask of; none: all.
        seed: Other controllers for another one.
    """
    rng, answers = np.random.default_rng(seed), Counter[str]()
    asked_of = [row for row in questions() if not only or row[0].name in only]
    while sum(answers.values()) < count:
        plant, policy, asked = asked_of[int(rng.integers(len(asked_of)))]
        broken = sabotaged(policy, rng)
        starts = within(asked.start, rng.uniform(size=(500, len(plant.states))))
        went = simulate(plant, broken, starts, asked.question.time, samples=8)
        if kept_by(asked.question, went)[0].min() > -0.01:
            continue  # no defect that shows
        search = prove(plant, broken, asked, boxes)
        found = guarantee(plant, broken, asked, most_boxes=1)
        if not search.open:
            answers["proved"] += 1
        elif isinstance(found, Refuted):
            worst = replay(plant, broken, asked.question, found.found.worst)
            answers["refuted, replays" if worst < 0 else "refuted, does not replay"] += 1
        else:
            answers["unknown"] += 1
    return answers


def _number(rng: np.random.Generator, low: float, high: float) -> str:
    return f"{rng.uniform(low, high):.3f}"


def _leaf(rng: np.random.Generator) -> Leaf:
    return Leaf((Controller(((0, float(rng.normal())),), float(rng.normal())),))


def main() -> None:
    """Run one of the checks and print what it found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("check", choices=("tubes", "forever", "known", "sabotage"))
    parser.add_argument("--trajectories", type=int, default=100_000)
    parser.add_argument("--plant", help="tubes: of this plant only")
    parser.add_argument("--plants", type=int, default=200)
    parser.add_argument("--controllers", type=int, default=50)
    parser.add_argument("--grid", type=int, default=2001, help="known: starts that are simulated")
    parser.add_argument("--seed", type=int, default=0, help="known, sabotage: where they begin")
    parser.add_argument("--boxes", type=int, default=256)
    options = parser.parse_args()
    began = time.monotonic()
    if options.check == "tubes":
        check_tubes(options.trajectories, options.boxes, options.plant)
    elif options.check == "forever":
        check_forever(options.trajectories, options.boxes, options.plant)
    elif options.check == "known":
        print(json.dumps(check_known(options.plants, options.grid, options.boxes, options.seed)))
    else:
        print(json.dumps(check_sabotage(options.controllers, options.boxes, (), options.seed)))
    print(f"{time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
