"""What a distillation keeps between rounds, in one file, so that the same request goes on."""

import io
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from icct.distill.pairs import Pairs
from icct.distill.request import Request, Round
from icct.envs.task import Task
from icct.errors import ConfigError, IcctError
from icct.files import json_from, write_atomically
from icct.policy import Policy
from icct.policy.file import policy_from_json, policy_to_json


@dataclass(frozen=True)
class Progress:
    """All pairs so far, and the student of each round."""

    pairs: Pairs
    rounds: tuple[Round, ...]
    students: tuple[Policy, ...]
    teacher_mean: float


def write_progress(path: Path | None, task: Task, request: Request, done: Progress) -> None:
    """Keep what is done; without a path, nothing."""
    if path is None:
        return
    about = {
        "request": _as_json(task, request),
        "rounds": [asdict(this) for this in done.rounds],
        "students": [policy_to_json(student) for student in done.students],
        "teacher_mean": done.teacher_mean,
    }
    content = io.BytesIO()
    np.savez_compressed(
        content,
        observations=done.pairs.observations,
        actions=done.pairs.actions,
        about=np.array(json.dumps(about)),
    )
    write_atomically(path, content.getvalue(), ConfigError)


def read_progress(path: Path | None, task: Task, request: Request) -> Progress | None:
    """Return what was kept of the same request, or None."""
    if path is None or not path.exists():
        return None
    try:
        with np.load(path, allow_pickle=False) as file:
            about: Any = json_from(str(file["about"]))
            pairs = Pairs(file["observations"], file["actions"])
        rounds = tuple(Round(**this) for this in about["rounds"])
        students = tuple(policy_from_json(this) for this in about["students"])
        kept, teacher_mean = about["request"], float(about["teacher_mean"])
    except (OSError, ValueError, KeyError, TypeError, BadZipFile, IcctError) as error:
        raise ConfigError(
            f"{path}: the rounds kept there cannot be read ({error}). Remove it to start anew."
        ) from None
    if kept != _as_json(task, request):
        raise ConfigError(
            f"{path} keeps the rounds of another request ({json.dumps(kept)}). Repeat that one to "
            "go on with it, or remove the file to start anew."
        )
    return Progress(pairs, rounds, students, teacher_mean)


def _as_json(task: Task, request: Request) -> dict[str, Any]:
    return {**asdict(request), "task": task.name, "options": dict(task.options)}
