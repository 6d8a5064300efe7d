"""Who learns: the teacher is distilled in every way there is, and the best student is kept."""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from icct.commit import source_commit
from icct.distill import Request, distill
from icct.distill.request import Splits
from icct.envs.actor import Actor
from icct.policy import Policy
from icct.policy.file import read_policy, write_policy
from icct.recipe.config import Student
from icct.recipe.folder import Folder
from icct.recipe.judge import Judge, size_of
from icct.recipe.show import Show
from icct.recipe.teaching import Teaching


class Distilling:
    """The second stage of a run; what is in the folder is not done again.

    Args:
        folder: Of the run.
        judge: Scores the students.
        show: Is told how it stands.
        teaching: Has chosen the teachers.
        save: Writes down how the run stands.
    """

    def __init__(
        self,
        folder: Folder,
        judge: Judge,
        show: Show,
        teaching: Teaching,
        save: Callable[[], None],
    ) -> None:
        self.folder, self.recipe, self.task = folder, folder.recipe, folder.recipe.task
        self.judge, self.show, self.teaching, self.save = judge, show, teaching, save

    def distil(self, student: Student, seed: int) -> None:
        """Distil the teacher in every way there is, and keep the best student on validation."""
        entry = self.folder.tree(student, seed)
        if "distilled" in entry:
            return
        began = time.monotonic()
        name, teacher = self.teaching.chosen(seed)
        if isinstance(teacher, Policy) and self._is_student(teacher, student):
            policy = teacher
        else:
            for kind in self._kinds(student, teacher):
                self._student(student, seed, teacher, name, kind)
            candidates = entry["candidates"]
            best = max(candidates, key=lambda kind: candidates[kind]["mean"])
            policy = read_policy(self.folder.file("distilled", student, seed, f".{best}"))
        policy = named(policy, student, seed)
        write_policy(policy, self.folder.file("distilled", student, seed))
        entry["distilled"] = {
            "fresh": self.judge.fresh(policy, seed, f"the student of {student.method}"),
            **size_of(policy),
            "elapsed_s": round(time.monotonic() - began, 1),
        }
        self.save()
        self.show.scored("distilled", title_of(student, seed), entry["distilled"]["fresh"])

    def _is_student(self, teacher: Policy, student: Student) -> bool:
        """Return whether a tree is what is asked for already: as small, its rules as short."""
        if not self._keeps_shape(teacher, student):
            return False
        rules = (rule for index in teacher.leaves for rule in teacher.leaf(index).controllers)
        longest = max(len(rule.weights) for rule in rules)
        return student.features is None or longest <= student.features

    def _keeps_shape(self, teacher: Policy, student: Student) -> bool:
        """Return whether the splits of a tree may be those of a student."""
        leaves = len(teacher.leaves)
        complete = leaves == 2**teacher.depth
        return 2 <= leaves <= student.leaves and (complete or not self.recipe.balanced)

    def _kinds(self, student: Student, teacher: Actor) -> tuple[Splits, ...]:
        """Return how the splits may be found: grown anew, or kept from a teacher that is a tree."""
        if not student.features or not isinstance(teacher, Policy):
            return ("grow",)
        return ("grow", "teacher") if self._keeps_shape(teacher, student) else ("grow",)

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
        title = f"{title_of(student, seed)}, splits {'grown' if kind == 'grow' else 'kept'}"
        self.show.stage("distil", title)
        with self.show.counting("episodes") as report:
            result = distill(
                teacher,
                self.task,
                request,
                workers=self.judge.workers,
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
        self.save()
        rounds.unlink(missing_ok=True)


def named(policy: Policy, student: Student, seed: int) -> Policy:
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


def title_of(student: Student, seed: int) -> str:
    """Return what a tree is called in messages."""
    return f"{student.method} seed {seed}"
