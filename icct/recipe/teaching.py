"""Who teaches: teachers are trained, or are files; the best on validation episodes is chosen."""

from collections.abc import Callable
from typing import Any

from icct.envs.actor import Actor
from icct.envs.task import Task
from icct.errors import ConfigError
from icct.evaluate import load_actor
from icct.recipe.config import TEACHER
from icct.recipe.folder import Folder
from icct.recipe.judge import Judge
from icct.recipe.show import Show


class Teaching:
    """The first stage of a run; what is in the folder is not done again.

    Args:
        folder: Of the run.
        judge: Scores the candidates.
        show: Is told how it stands.
        training: Options of `icct.learn.train.train`.
        save: Writes down how the run stands.
    """

    def __init__(
        self,
        folder: Folder,
        judge: Judge,
        show: Show,
        training: dict[str, Any],
        save: Callable[[], None],
    ) -> None:
        self.folder, self.recipe, self.about = folder, folder.recipe, folder.about
        self.judge, self.show, self.training, self.save = judge, show, training, save

    def teach(self) -> None:
        """Train the teachers, where they are not files, and choose one for each seed."""
        if self.recipe.teach is not None and "teaching" not in self.about:
            from icct.learn.run import RUN_FILE
            from icct.learn.train import resume, train

            self.show.stage("teach", f"{self.recipe.teach.members} of {TEACHER}")
            place, task = self.folder.teacher, self.recipe.task
            with self.show.teaching() as report:
                if (place / RUN_FILE).exists():
                    run = resume(place, task=task, report=report, **self.training)
                else:
                    run = train(self.recipe.teach, place, report=report, **self.training)
            if not run.finished:
                raise KeyboardInterrupt
            self.about["teaching"] = {
                "elapsed_s": round(run.elapsed_s, 1),
                "environment_steps": self.recipe.teach.steps * self.recipe.teach.members,
            }
            self.save()
        for seed in self.recipe.seeds:
            self._choose(seed)

    def chosen(self, seed: int) -> tuple[str, Actor]:
        """Return the file of the teacher of a seed, and the teacher."""
        name: str = self.about["teachers"][str(seed)]["file"]
        return name, self._loaded(name)

    def _choose(self, seed: int) -> None:
        """Let the candidates of a seed play the same validation episodes; the best one teaches."""
        if str(seed) in self.about["teachers"]:
            return
        names = self._candidates(seed)
        actors = [self._loaded(name) for name in names]
        scores = self.judge.validated(actors, seed, f"choosing the teacher of seed {seed}")
        best = max(range(len(names)), key=lambda place: scores[place]["mean"])
        self.about["teachers"][str(seed)] = {
            "file": names[best],
            "candidates": [
                {"file": name, **score} for name, score in zip(names, scores, strict=True)
            ],
            "fresh": self.judge.fresh(actors[best], seed, "the teacher"),
        }
        self.save()
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
        return teacher_of(str(self.folder.path / name) if inside else name, self.recipe.task)


def teacher_of(named: str, task: Task) -> Actor:
    """Return the actor of a file, if it can drive and so teach."""
    actor = load_actor(named, task)
    if hasattr(actor, "env_options"):
        raise ConfigError(f"{named} leaves the driving to the simulator: it cannot teach.")
    return actor
