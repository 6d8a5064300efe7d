"""distill(teacher, request) → the best tree of some rounds: fit, drive, ask the teacher, aggregate.

One round is plain imitation; more are DAgger. What a round learned is kept in a file, so that the
same request goes on after a stop.
"""

import io
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from icct import __version__
from icct.distill.model_tree import fit_model_tree
from icct.distill.pairs import Pairs, collect
from icct.envs.actor import Actor
from icct.envs.episodes import EpisodePool, mean_and_error
from icct.envs.find import Named, find_task, remembered
from icct.envs.task import Task
from icct.errors import ConfigError, IcctError, MissingExtraError
from icct.files import json_from, write_atomically
from icct.policy import Policy, Provenance
from icct.policy.file import policy_from_json, policy_to_json
from icct.policy.sklearn import from_sklearn
from icct.seeds import DISTILLING

Report = Callable[[int, int], None]  # (episodes done, episodes in all)


@dataclass(frozen=True)
class Request:
    """What is asked of a distillation."""

    leaves: int
    features: int | None = None  # weights of a leaf's rule; None: constant leaves, by CART
    dagger: int = 0  # rounds of DAgger after the first fit
    episodes: int = 20  # of each round
    seed: int = 0
    teacher: str = "teacher"  # its name, for the record

    def __post_init__(self) -> None:
        for name, least in (("leaves", 2), ("dagger", 0), ("episodes", 1), ("seed", 0)):
            value = getattr(self, name)
            if value < least:
                raise ConfigError(f"{name} is {value}, expected at least {least}.")
        if self.features is not None and self.features < 1:
            raise ConfigError(
                f"features is {self.features}, expected at least 1; constant leaves are what CART "
                "gives without --features."
            )

    @property
    def method(self) -> str:
        """The name of the method: the paper's for constant leaves."""
        base = "dt" if self.features is None else f"distilled-{self.features}-feature"
        return f"{base}-dagger" if self.dagger else base


@dataclass(frozen=True)
class Round:
    """One student: what it was fitted to, and what it returned."""

    pairs: int
    leaves: int
    mean: float
    standard_error: float


@dataclass(frozen=True)
class Distillation:
    """The best student, and how all of them did."""

    policy: Policy
    rounds: tuple[Round, ...]
    best: int
    teacher_mean: float


def distill(
    teacher: Actor,
    task: Named,
    request: Request,
    *,
    workers: int = 1,
    progress_file: Path | None = None,
    report: Report | None = None,
) -> Distillation:
    """Return the best of `dagger + 1` students; each drives the episodes that teach the next one.

    Args:
        teacher: Anything with `act`; picklable, where there are workers.
        task: A task, or what `find_task` takes.
        request: What is asked.
        workers: Processes that share the episodes of a round; the result is the same with any.
        progress_file: Where finished rounds are kept; a call with the same request goes on there.
            Remove it when the result is safe.
        report: Called after each episode.
    """
    found = find_task(task)
    done = _read_progress(progress_file, found, request)

    def show(finished: int, _: int) -> None:
        if report is not None:
            before = (0 if done is None else 1 + len(done.rounds)) * request.episodes
            report(before + finished, (request.dagger + 2) * request.episodes)

    def drive(student: Actor, number: int) -> tuple[Pairs, tuple[float, float]]:
        pairs, episodes = collect(
            teacher,
            student,
            pool,
            episodes=request.episodes,
            seed=DISTILLING + 1000 * request.seed + number,
            progress=show,
        )
        return pairs, mean_and_error([episode.total_reward for episode in episodes])

    with EpisodePool(found, min(workers, request.episodes)) as pool:
        if done is None:
            pairs, (mean, _) = drive(teacher, 0)
            done = _Progress(pairs, (), None, mean)
            _write_progress(progress_file, found, request, done)
        for number in range(len(done.rounds), request.dagger + 1):
            student = _fit(done.pairs, found, request)
            seen, (mean, error) = drive(student, number + 1)
            this = Round(len(done.pairs), len(student.leaves), mean, error)
            best = not done.rounds or this.mean >= max(earlier.mean for earlier in done.rounds)
            done = _Progress(
                done.pairs.joined(seen),
                (*done.rounds, this),
                student if best else done.best,
                done.teacher_mean,
            )
            _write_progress(progress_file, found, request, done)
    assert done.best is not None  # there is at least one round
    means = [this.mean for this in done.rounds]
    chosen = max(range(len(means)), key=lambda i: (means[i], i))
    return Distillation(done.best, done.rounds, chosen, done.teacher_mean)


def _fit(pairs: Pairs, task: Task, request: Request) -> Policy:
    provenance = Provenance(
        task=task.name,
        task_card=remembered(task),
        method=request.method,
        seed=request.seed,
        versions=(("icct", __version__),),
        config=(("teacher", request.teacher), ("leaves", request.leaves)),
        history=(f"distilled from {request.teacher}: {len(pairs)} pairs",),
    )
    name = f"{request.method}-seed-{request.seed}"
    if request.features is not None:
        return fit_model_tree(
            pairs,
            task.features,
            task.actions,
            leaves=request.leaves,
            leaf_features=request.features,
            name=name,
            provenance=provenance,
        )
    try:
        from sklearn.tree import DecisionTreeRegressor
    except ImportError:
        raise MissingExtraError(
            'CART needs scikit-learn. Install it with: pip install "icct[distill]"'
        ) from None
    cart = DecisionTreeRegressor(max_leaf_nodes=request.leaves, random_state=request.seed)
    cart.fit(pairs.observations, pairs.actions)
    policy = from_sklearn(cart, task.features, task.actions, name=name)
    return replace(policy, provenance=provenance)


# -- what is kept between rounds ------------------------------------------------------------------


@dataclass(frozen=True)
class _Progress:
    pairs: Pairs
    rounds: tuple[Round, ...]
    best: Policy | None
    teacher_mean: float


def _write_progress(path: Path | None, task: Task, request: Request, done: _Progress) -> None:
    if path is None:
        return
    about = {
        "request": _as_json(task, request),
        "rounds": [asdict(this) for this in done.rounds],
        "best": None if done.best is None else policy_to_json(done.best),
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


def _read_progress(path: Path | None, task: Task, request: Request) -> _Progress | None:
    if path is None or not path.exists():
        return None
    try:
        with np.load(path, allow_pickle=False) as file:
            about: Any = json_from(str(file["about"]))
            pairs = Pairs(file["observations"], file["actions"])
        rounds = tuple(Round(**this) for this in about["rounds"])
        best = None if about["best"] is None else policy_from_json(about["best"])
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
    return _Progress(pairs, rounds, best, teacher_mean)


def _as_json(task: Task, request: Request) -> dict[str, Any]:
    return {**asdict(request), "task": task.name, "options": dict(task.options)}
