"""follow(recipe, folder) → a readable tree for each method and seed: teach, distil, polish, prune.

Every stage leaves its files and its scores in the run folder, and what is there is not done again:
to go on after a stop is to follow the recipe once more.
"""

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from icct.commit import source_commit
from icct.distill import Request, distill
from icct.distill.request import Splits
from icct.envs.actor import Actor
from icct.envs.episodes import EpisodePool, Job, mean_and_error, returns
from icct.envs.find import Named, find_task
from icct.envs.task import Task
from icct.errors import ConfigError
from icct.evaluate import evaluate, load_actor
from icct.lock import only_writer
from icct.policy import Policy
from icct.policy.file import read_policy, write_policy
from icct.polish import PolishConfig, polish_to, prune
from icct.polish.climb import import_cma
from icct.polish.to_file import journal_of
from icct.recipe.config import TEACHER, Recipe, Student
from icct.recipe.folder import LOCK_FILE, Folder
from icct.recipe.show import Show
from icct.seeds import FRESH, Purpose, seeds_above
from icct.stop import stopped_by_sigterm

POLISHING = 0.85  # of a tree's share of the time that is left; pruning and scoring get the rest
FEWEST_MINUTES = 0.05  # of polishing a tree, where the stages before have taken all there was


@dataclass(frozen=True)
class Result:
    """What a run of the recipe leaves behind."""

    folder: Folder
    finished: bool  # else it was stopped, and `go_on` goes on

    def policy(self, method: str | None = None, seed: int | None = None) -> Policy:
        """Return a tree to deploy; by default the first."""
        for student, own in self.folder.recipe.trees:
            if method in (None, student.method) and seed in (None, own):
                return read_policy(self.folder.file("policies", student, own))
        raise ConfigError(f"{self.folder.path}: there is no tree of {method} with seed {seed}.")


def follow(
    recipe: Recipe,
    out: str | Path,
    *,
    workers: int | None = None,
    show: Show | None = None,
    **training: Any,
) -> Result:
    """Make every tree of a recipe in a new run folder.

    Ctrl-C and SIGTERM stop it at a place to go on from; the result says so.

    Args:
        recipe: What to do.
        out: The run folder to make.
        workers: Processes that play episodes; by default as many as there are cores.
        show: Is told how the run stands.
        **training: Options of `icct.learn.train.train` for the teachers: device and so on.
    """
    path = Path(out)
    _check_before(recipe, recipe.teacher_files)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error.strerror}.") from None
    with only_writer(path, path / LOCK_FILE):
        return _Run(Folder.new(path, recipe), workers, show, training).to_the_end()


def go_on(
    folder: str | Path,
    *,
    task: Named | None = None,
    workers: int | None = None,
    show: Show | None = None,
    **training: Any,
) -> Result:
    """Go on with a run that was stopped; a finished one is returned as it is."""
    path, named = Path(folder), None if task is None else find_task(task)
    found = Folder.read(path, named)
    if found.finished:
        return Result(found, finished=True)
    taught = all("distilled" in found.tree(*tree) for tree in found.recipe.trees)
    _check_before(found.recipe, () if taught else found.recipe.teacher_files)
    with only_writer(path, path / LOCK_FILE):
        return _Run(Folder.read(path, named), workers, show, training).to_the_end()


def _check_before(recipe: Recipe, teachers: Sequence[str]) -> None:
    """Refuse before hours of work what would be refused after them; `teachers` are files."""
    if recipe.polish_episodes:
        import_cma()
        recipe.polishing(seed=0)
    for named in teachers:
        _teacher_of(named, recipe.task)


def _teacher_of(named: str, task: Task) -> Actor:
    actor = load_actor(named, task)
    if hasattr(actor, "env_options"):
        raise ConfigError(f"{named} leaves the driving to the simulator: it cannot teach.")
    return actor


class _Run:
    """A run in progress."""

    def __init__(
        self, folder: Folder, workers: int | None, show: Show | None, training: dict[str, Any]
    ) -> None:
        self.folder, self.recipe = folder, folder.recipe
        self.task, self.about = self.recipe.task, folder.about
        self.workers = workers or len(os.sched_getaffinity(0))
        self.show, self.training = show or Show(), training
        self._earlier_s = float(self.about.get("spent_s", 0.0))
        self._began = time.monotonic()

    @property
    def spent_s(self) -> float:
        """Seconds since the run began, without those in which it was stopped."""
        return self._earlier_s + time.monotonic() - self._began

    def to_the_end(self) -> Result:
        """Take every stage that is left."""
        try:
            with stopped_by_sigterm():
                self._teach()
                for student, seed in self.recipe.trees:
                    self._distil(student, seed)
                for student, seed in self.recipe.trees:
                    self._polish(student, seed)
                    self._prune(student, seed)
        except KeyboardInterrupt:
            self._save()
            return Result(self.folder, finished=False)
        self.about["elapsed_s"] = round(self.spent_s, 1)
        self._save()
        return Result(self.folder, finished=True)

    def _save(self) -> None:
        self.about["spent_s"] = round(self.spent_s, 1)
        self.folder.save()

    # -- teach ----------------------------------------------------------------------------------

    def _teach(self) -> None:
        """Train the teachers, where they are not files, and choose one for each seed."""
        if self.recipe.teach is not None and "teaching" not in self.about:
            from icct.learn.run import RUN_FILE
            from icct.learn.train import resume, train

            self.show.stage("teach", f"{self.recipe.teach.members} of {TEACHER}")
            with self.show.teaching() as report:
                if (self.folder.teacher / RUN_FILE).exists():
                    run = resume(
                        self.folder.teacher, task=self.task, report=report, **self.training
                    )
                else:
                    run = train(
                        self.recipe.teach, self.folder.teacher, report=report, **self.training
                    )
            if not run.finished:
                raise KeyboardInterrupt
            self.about["teaching"] = {
                "elapsed_s": round(run.elapsed_s, 1),
                "environment_steps": self.recipe.teach.steps * self.recipe.teach.members,
            }
            self._save()
        for seed in self.recipe.seeds:
            self._choose_teacher(seed)

    def _choose_teacher(self, seed: int) -> None:
        """Let the candidates of a seed play the same validation episodes; the best one teaches."""
        if str(seed) in self.about["teachers"]:
            return
        names = self._candidates(seed)
        actors = [self._loaded(name) for name in names]
        scores = self._validated(actors, seed, f"choosing the teacher of seed {seed}")
        best = max(range(len(names)), key=lambda place: scores[place]["mean"])
        self.about["teachers"][str(seed)] = {
            "file": names[best],
            "candidates": [
                {"file": name, **score} for name, score in zip(names, scores, strict=True)
            ],
            "fresh": self._fresh(actors[best], seed, "the teacher"),
        }
        self._save()
        self.show.scored("teacher", names[best], self.about["teachers"][str(seed)]["fresh"])

    def _candidates(self, seed: int) -> list[str]:
        """Return the teachers to choose from: files named by the user, or files in the folder."""
        if self.recipe.teach is None:
            return list(self.recipe.teacher_files)
        return [
            f"teacher/policies/seed-{member}.{kind}.json"
            for member in self.recipe.teacher_seeds(seed)
            for kind in ("best", "final")
        ]

    def _loaded(self, name: str) -> Actor:
        inside = self.recipe.teach is not None
        return _teacher_of(str(self.folder.path / name) if inside else name, self.task)

    # -- distil ---------------------------------------------------------------------------------

    def _distil(self, student: Student, seed: int) -> None:
        """Distil the teacher in every way there is, and keep the best student on validation."""
        entry = self.folder.tree(student, seed)
        if "distilled" in entry:
            return
        began = time.monotonic()
        name = self.about["teachers"][str(seed)]["file"]
        teacher = self._loaded(name)
        if student.features is None and isinstance(teacher, Policy):
            policy = teacher  # it has the shape that is asked for
        else:
            for kind in self._kinds(student, teacher):
                self._student(student, seed, teacher, name, kind)
            candidates = entry["candidates"]
            best = max(candidates, key=lambda kind: candidates[kind]["mean"])
            policy = read_policy(self.folder.file("distilled", student, seed, f".{best}"))
        policy = _named(policy, student, seed)
        write_policy(policy, self.folder.file("distilled", student, seed))
        entry["distilled"] = {
            "fresh": self._fresh(policy, seed, f"the student of {student.method}"),
            **size_of(policy),
            "elapsed_s": round(time.monotonic() - began, 1),
        }
        self._save()
        self.show.scored("distilled", _title(student, seed), entry["distilled"]["fresh"])

    def _kinds(self, student: Student, teacher: Actor) -> tuple[Splits, ...]:
        """Return how the splits may be found: grown anew, or kept from a teacher that is a tree."""
        if not student.features or not isinstance(teacher, Policy):
            return ("grow",)
        leaves = len(teacher.leaves)
        complete = leaves == 2**teacher.depth
        fits = 2 <= leaves <= student.leaves and (complete or not self.recipe.balanced)
        return ("grow", "teacher") if fits else ("grow",)

    def _student(
        self, student: Student, seed: int, teacher: Actor, name: str, kind: Splits
    ) -> None:
        """Distil the teacher in one way; all ways are scored on the same validation episodes."""
        candidates = self.folder.tree(student, seed).setdefault("candidates", {})
        if kind in candidates:
            return
        recipe = self.recipe
        features = len(self.task.features) if student.features is None else student.features
        request = Request(
            leaves=student.leaves,
            features=features,
            dagger=recipe.rounds,
            episodes=recipe.round_episodes,
            seed=seed,
            teacher=Path(name).name,
            splits=kind,
            balanced=recipe.balanced and kind == "grow",
            validation_episodes=recipe.validation_episodes,
        )
        file = self.folder.file("distilled", student, seed, f".{kind}")
        rounds = file.with_suffix(".rounds.npz")
        title = f"{_title(student, seed)}, splits {'grown' if kind == 'grow' else 'kept'}"
        self.show.stage("distil", title)
        with self.show.counting("episodes") as report:
            result = distill(
                teacher,
                self.task,
                request,
                workers=self.workers,
                progress_file=rounds,
                report=report,
            )
        write_policy(result.policy, file)
        candidates[kind] = {
            "episodes": recipe.validation_episodes,
            "mean": result.mean,
            "standard_error": result.standard_error,
            "round": result.best,
        }
        self._save()
        rounds.unlink(missing_ok=True)

    # -- polish ---------------------------------------------------------------------------------

    def _polish(self, student: Student, seed: int) -> None:
        entry = self.folder.tree(student, seed)
        if "polished" in entry or not self.recipe.polish_episodes:
            return
        start = read_policy(self.folder.file("distilled", student, seed))
        output = self.folder.file("polished", student, seed)
        self.show.stage("polish", _title(student, seed))
        with self.show.polishing() as report:
            result = polish_to(
                output,
                start,
                self.task,
                self._polishing(student, seed),
                resume=journal_of(output).exists(),
                workers=self.workers,
                progress=report,
            )
        if result.stopped:
            raise KeyboardInterrupt
        scores = entry["distilled"]["fresh"]
        if result.improved:
            scores = self._fresh(result.policy, seed, f"{_title(student, seed)}, polished")
        entry["polished"] = {
            "improved": result.improved,
            "episodes": result.episodes,
            "fresh": scores,
            **size_of(result.policy),
            "elapsed_s": round(result.elapsed_s, 1),
        }
        self._save()
        self.show.scored("polished", _title(student, seed), scores)

    def _polishing(self, student: Student, seed: int) -> PolishConfig:
        """Return how to polish a tree; by the clock, it gets its share of the time that is left."""
        entry, minutes = self.folder.tree(student, seed), self.recipe.minutes
        if minutes is None:
            return self.recipe.polishing(seed)
        if "polish_minutes" not in entry:
            left = [t for t in self.recipe.trees if "polished" not in self.folder.tree(*t)]
            share = (60 * minutes - self.spent_s) / 60 / len(left)
            share = max(FEWEST_MINUTES, POLISHING * share)
            entry["polish_minutes"] = round(share, 3)
            self._save()
        return PolishConfig(minutes=entry["polish_minutes"], seed=seed, report_episodes=0)

    # -- prune ----------------------------------------------------------------------------------

    def _prune(self, student: Student, seed: int) -> None:
        """Write the tree to deploy: fewer digits, leaves and weights, as far as that is free."""
        entry = self.folder.tree(student, seed)
        if "final" in entry:
            return
        stage = "polished" if "polished" in entry else "distilled"
        policy = read_policy(self.folder.file(stage, student, seed))
        self.show.stage("prune", _title(student, seed))
        began = time.monotonic()
        episodes = 2 * self.recipe.validation_episodes
        result = prune(policy, self.task, seed=seed, episodes=episodes, workers=self.workers)
        final = result.policy
        scores = entry[stage]["fresh"]
        if final.nodes != policy.nodes:
            scores = self._fresh(final, seed, f"{_title(student, seed)}, pruned")
        write_policy(final, self.folder.file("policies", student, seed))
        entry["final"] = {
            "fresh": scores,
            **size_of(final),
            "pruned": result.as_dict(),
            "elapsed_s": round(time.monotonic() - began, 1),
        }
        self._save()
        self.show.scored("final", _title(student, seed), scores)

    # -- scores ---------------------------------------------------------------------------------

    def _validated(self, actors: list[Actor], seed: int, title: str) -> list[dict[str, float]]:
        """Return mean and standard error of each actor on the same validation episodes."""
        seeds = seeds_above(Purpose.CHOOSE, seed, range(self.recipe.validation_episodes))
        jobs = [Job(returns, actor, [seed]) for actor in actors for seed in seeds]
        found: list[float] = [0.0] * len(jobs)
        with EpisodePool(self.task, self.workers) as pool, self.show.counting(title) as report:
            for done, (place, (value,)) in enumerate(pool.finished(jobs), start=1):
                found[place] = value
                report(done, len(jobs))
        scores = []
        for number in range(len(actors)):
            own = found[number * len(seeds) : (number + 1) * len(seeds)]
            mean, error = mean_and_error(own)
            scores.append({"episodes": len(own), "mean": mean, "standard_error": error})
        return scores

    def _fresh(self, actor: Actor, seed: int, title: str) -> dict[str, Any]:
        """Return how an actor scores on episodes that nothing is chosen on."""
        with self.show.counting(f"fresh episodes, {title}") as report:
            scored = evaluate(
                actor,
                self.task,
                episodes=self.recipe.fresh_episodes,
                seed=FRESH + seed,
                workers=self.workers,
                progress=report,
            )
        values = scored.as_dict()
        kept = ("episodes", "mean", "standard_error", "median", "min", "max", "mean_length")
        return {key: values[key] for key in (*kept, "collisions", "returns")}


def size_of(policy: Policy) -> dict[str, int]:
    """Return what there is to read in a tree."""
    return {
        "leaves": len(policy.leaves),
        "depth": policy.depth,
        "parameters": policy.parameter_count,
    }


def _named(policy: Policy, student: Student, seed: int) -> Policy:
    """Return a policy that says which method, seed and recipe it is of."""
    kept = tuple(one for one in policy.provenance.config if one[0] != "recipe")
    provenance = replace(
        policy.provenance,
        method=student.method,
        seed=seed,
        commit=source_commit(),
        config=(("recipe", "icct"), *kept),
    )
    return replace(policy, name=f"{student.method}-seed-{seed}", provenance=provenance)


def _title(student: Student, seed: int) -> str:
    return f"{student.method} seed {seed}"
