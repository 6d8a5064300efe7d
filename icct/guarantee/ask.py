"""Plant × policy × question → Proved | Refuted | Unknown: look for a counterexample, then prove."""

import time
from dataclasses import replace
from pathlib import Path

from icct.guarantee.answer import Answer, Proved, Refuted, Unknown
from icct.guarantee.folder import Folder, digest
from icct.guarantee.loop import Asked, Loop
from icct.guarantee.prove import Progress, prove
from icct.plant import Plant
from icct.plant.falsify import Effort, falsify
from icct.policy import Policy

MOST_BOXES = 4096


def guarantee(
    plant: Plant,
    policy: Policy,
    asked: Asked,
    *,
    most_boxes: int = MOST_BOXES,
    workers: int = 1,
    folder: Path | None = None,
    effort: Effort | None = None,
    progress: Progress | None = None,
) -> Answer:
    """Return whether the plant under the policy does what is asked, from every start.

    Args:
        plant: The model.
        policy: The controller.
        asked: What is asked, from where, and whether for all time.
        most_boxes: How many boxes of starts to try before giving up.
        workers: Processes.
        folder: Where to keep what was found, to go on after an interruption; None: nowhere.
        effort: How hard to look for a counterexample first.
        progress: Called with the boxes done and known so far.
    """
    began = time.monotonic()
    question = replace(asked.question, condition=plant.checked(asked.question.condition))
    asked = replace(asked, question=question)
    Loop(plant, policy, asked)  # refuses what cannot be asked, before anything takes long
    found = falsify(plant, policy, asked.question, asked.start, effort)
    if found.refuted:
        return Refuted(asked, plant, found, time.monotonic() - began)
    for name, part in _stages(asked):
        kept = None if folder is None else Folder(folder / name, _about(plant, policy, part))
        search = prove(plant, policy, part, most_boxes, workers, kept, progress)
        if search.open:
            return Unknown(part, plant, search, found, time.monotonic() - began)
    return Proved(asked, plant, search, time.monotonic() - began)


def _stages(asked: Asked) -> list[tuple[str, Asked]]:
    """Return what has to be proved: with a home, first that everything from there comes back."""
    if asked.home is None:
        return [("start", asked)]
    return [("home", replace(asked, start=asked.home, home=None)), ("start", asked)]


def _about(plant: Plant, policy: Policy, asked: Asked) -> dict[str, object]:
    """Return what tells a question from every other one, as plain values."""
    return {
        "plant": plant.name,
        "policy": policy.name,
        "asked": asked.question.text,
        "digest": digest(f"{plant!r} {policy!r} {asked!r}"),
    }
