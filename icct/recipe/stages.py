"""The stages of the recipe after distilling, on one run folder: extend, polish, prune.

A stage reads the files of the one before, and leaves its own file and its scores in the folder.
"""

import os
import time
from itertools import takewhile
from typing import Any

from icct.policy import Policy
from icct.policy.file import read_policy, write_policy
from icct.polish import ExtendConfig, PolishConfig, extend_to, polish_to, prune
from icct.polish.to_file import journal_of
from icct.recipe.config import Student
from icct.recipe.distilling import Distilling, named, title_of
from icct.recipe.folder import Folder, in_pass, stages
from icct.recipe.judge import Judge, size_of
from icct.recipe.show import Show
from icct.recipe.teaching import Teaching

POLISHING = 0.85  # of a tree's share of the time that is left; pruning and scoring get the rest
PASS_SEEDS = 1_000_000  # between the seeds of two passes
FEWEST_MINUTES = 0.05  # of polishing a tree, where the stages before have taken all there was


class Stages:
    """The stages of a run: what a tree has behind it is in the folder, and not done again."""

    def __init__(
        self, folder: Folder, workers: int | None, show: Show | None, training: dict[str, Any]
    ) -> None:
        self.folder, self.recipe = folder, folder.recipe
        self.task, self.about = self.recipe.task, folder.about
        self.stages = stages(self.recipe.passes)
        self.workers = workers or len(os.sched_getaffinity(0))
        self.show = show or Show()
        self.judge = Judge(self.recipe, self.workers, self.show)
        self.teaching = Teaching(folder, self.judge, self.show, training, self.save)
        self.distilling = Distilling(folder, self.judge, self.show, self.teaching, self.save)
        self._earlier_s = float(self.about.get("spent_s", 0.0))
        self._began = time.monotonic()

    @property
    def spent_s(self) -> float:
        """Seconds since the run began, without those in which it was stopped."""
        return self._earlier_s + time.monotonic() - self._began

    def save(self) -> None:
        """Write down how the run stands."""
        self.about["spent_s"] = round(self.spent_s, 1)
        self.folder.save()

    # -- what is the same need not be done twice ------------------------------------------------

    def share(self, student: Student, seed: int) -> None:
        """Take over what an earlier shape has become of the same tree: its search is the same."""
        entry = self.folder.tree(student, seed)
        other = None if "final" in entry else self._twin(student, seed)
        if other is None:
            return
        made = self.folder.tree(other, seed)
        for stage in (stage for stage in self.stages[1:] if stage in made):
            place = "policies" if stage == "final" else stage
            policy = read_policy(self.folder.file(place, other, seed))
            write_policy(named(policy, student, seed), self.folder.file(place, student, seed))
            entry[stage] = made[stage]
        entry["same_as"] = other.method
        self.save()
        self.show.scored("final", title_of(student, seed), entry["final"]["fresh"])

    def _twin(self, student: Student, seed: int) -> Student | None:
        """Return an earlier shape that has as many leaves and began with the same tree."""
        own = read_policy(self.folder.file("distilled", student, seed))
        for other in takewhile(lambda one: one != student, self.recipe.students):
            begun = read_policy(self.folder.file("distilled", other, seed))
            if other.leaves == student.leaves and begun.nodes == own.nodes:
                return other
        return None

    # -- search: extend and polish, in passes ---------------------------------------------------

    def search(self, student: Student, seed: int) -> None:
        """Extend and polish a tree; again as long as there are passes and leaves are added."""
        for number in range(1, self.recipe.passes + 1):
            added = self._extend(student, seed, number)
            if number > 1 and not added:
                break
            self._polish(student, seed, number)

    def _extend(self, student: Student, seed: int, number: int) -> bool:
        """Add leaves where they pay, in place of those that no episode needs; return if any are."""
        entry, recipe = self.folder.tree(student, seed), self.recipe
        if not recipe.extend_probes or recipe.balanced:
            return False
        stage = in_pass("extended", number)
        if stage not in entry:
            output = self.folder.file(stage, student, seed)
            self.show.stage("extend", title_of(student, seed))
            began = time.monotonic()
            short = self._shortened(student, seed, number)
            config = ExtendConfig(
                leaves=student.leaves,
                seed=seed_of_pass(seed, number),
                probes=recipe.extend_probes,
            )
            with self.show.counting("episodes at most") as report:
                result = extend_to(
                    output,
                    short,
                    self.task,
                    config,
                    resume=journal_of(output).exists(),
                    workers=self.workers,
                    progress=report,
                )
            title = f"{title_of(student, seed)}, extended"
            entry[stage] = {
                "fresh": self.judge.fresh(result.policy, seed, title),
                **size_of(result.policy),
                "added": result.as_dict(),
                "episodes": entry[in_pass("shortened", number)]["episodes"] + result.episodes,
                "elapsed_s": round(time.monotonic() - began, 1),
            }
            self.save()
            self.show.scored(stage, title_of(student, seed), entry[stage]["fresh"])
        return bool(entry[stage]["added"]["improved"])

    def _shortened(self, student: Student, seed: int, number: int) -> Policy:
        """Return the tree of the stage before without the leaves that no episode needs."""
        entry, before = self.folder.tree(student, seed), self._latest(student, seed)
        file = self.folder.file(before, student, seed, ".short")
        stage = in_pass("shortened", number)
        if stage not in entry:
            start = read_policy(self.folder.file(before, student, seed))
            with self.show.counting("episodes") as report:
                result = prune(
                    start, self.task, seed=seed, episodes=2 * self.recipe.validation_episodes,
                    workers=self.workers, progress=report,
                )  # fmt: skip
            write_policy(result.policy, file)
            entry[stage] = {"episodes": result.episodes}
            self.save()
        return read_policy(file)

    def _polish(self, student: Student, seed: int, number: int) -> None:
        """Search for better numbers of a tree, by its return."""
        entry, stage = self.folder.tree(student, seed), in_pass("polished", number)
        if stage in entry or not self.recipe.polish_episodes:
            return
        before = self._latest(student, seed)
        start = read_policy(self.folder.file(before, student, seed))
        output = self.folder.file(stage, student, seed)
        self.show.stage("polish", title_of(student, seed))
        with self.show.polishing() as report:
            result = polish_to(
                output,
                start,
                self.task,
                self._polishing(student, seed, number),
                resume=journal_of(output).exists(),
                workers=self.workers,
                progress=report,
            )
        if result.stopped:
            raise KeyboardInterrupt
        scores = entry[before]["fresh"]
        if result.improved:
            scores = self.judge.fresh(result.policy, seed, f"{title_of(student, seed)}, polished")
        entry[stage] = {
            "improved": result.improved,
            "episodes": result.episodes,
            "fresh": scores,
            **size_of(result.policy),
            "elapsed_s": round(result.elapsed_s, 1),
        }
        self.save()
        self.show.scored(stage, title_of(student, seed), scores)

    def _polishing(self, student: Student, seed: int, number: int) -> PolishConfig:
        """Return how to polish a tree; by the clock, it gets its share of the time that is left."""
        entry, minutes = self.folder.tree(student, seed), self.recipe.minutes
        if minutes is None:
            return self.recipe.polishing(seed_of_pass(seed, number))
        if "polish_minutes" not in entry:
            left = [t for t in self.recipe.trees if "polished" not in self.folder.tree(*t)]
            share = (60 * minutes - self.spent_s) / 60 / len(left)
            share = max(FEWEST_MINUTES, POLISHING * share)
            entry["polish_minutes"] = round(share, 3)
            self.save()
        return PolishConfig(minutes=entry["polish_minutes"], seed=seed, report_episodes=0)

    # -- prune ----------------------------------------------------------------------------------

    def prune(self, student: Student, seed: int) -> None:
        """Write the tree to deploy: fewer digits, leaves and weights, as far as that is free."""
        entry = self.folder.tree(student, seed)
        if "final" in entry:
            return
        stage = self._latest(student, seed)
        policy = read_policy(self.folder.file(stage, student, seed))
        self.show.stage("prune", title_of(student, seed))
        began = time.monotonic()
        episodes = 2 * self.recipe.validation_episodes
        result = prune(policy, self.task, seed=seed, episodes=episodes, workers=self.workers)
        final = result.policy
        scores = entry[stage]["fresh"]
        if final.nodes != policy.nodes:
            scores = self.judge.fresh(final, seed, f"{title_of(student, seed)}, pruned")
        write_policy(final, self.folder.file("policies", student, seed))
        entry["final"] = {
            "fresh": scores,
            **size_of(final),
            "pruned": result.as_dict(),
            "elapsed_s": round(time.monotonic() - began, 1),
        }
        self.save()
        self.show.scored("final", title_of(student, seed), scores)

    def _latest(self, student: Student, seed: int) -> str:
        """Return the last stage that a tree has behind it, of those that make one."""
        entry = self.folder.tree(student, seed)
        return [stage for stage in self.stages[:-1] if stage in entry][-1]


def seed_of_pass(seed: int, number: int) -> int:
    """Return the seed of a pass over a tree: each draws its own, and plays its own episodes.

    >>> seed_of_pass(3, 1), seed_of_pass(3, 2)
    (3, 1000003)
    """
    return seed + PASS_SEEDS * (number - 1)
