"""Policy × task → better policy, or the same one: direct search on the return, honestly chosen.

The search uses its own episodes, the choice others, the report others again. What is returned beats
the start on fresh validation episodes beyond their noise; otherwise it is the start itself.
"""

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from icct.envs.episodes import mean_and_error
from icct.envs.find import Named, find_task
from icct.errors import ConfigError
from icct.policy import Policy
from icct.policy.file import policy_to_json
from icct.policy.parts import Scalar
from icct.polish.engine import import_cma
from icct.polish.game import Game, TaskGame
from icct.polish.journal import Journal
from icct.polish.moves import structure_changes
from icct.polish.objective import Objective, beats, score
from icct.polish.search import Accept, PolishConfig, Search, Status
from icct.seeds import Purpose, seeds_above
from icct.stop import stop_requests


@dataclass(frozen=True)
class Scores:
    """Returns of the start and of the result on the same episodes."""

    start: tuple[float, ...]
    result: tuple[float, ...]

    def as_dict(self, objective: Objective) -> dict[str, Any]:
        """Return the statistics of both as plain values, ready for JSON."""
        return {
            who: {
                "episodes": len(returns),
                "mean": math.fsum(returns) / len(returns),
                "standard_error": mean_and_error(returns)[1],
                "objective": float(score(returns, objective)),
                "returns": list(returns),
            }
            for who, returns in (("start", self.start), ("result", self.result))
        }


@dataclass(frozen=True)
class Polished:
    """What a polishing run found; `policy` is the start itself when nothing was better."""

    policy: Policy
    improved: bool
    stopped: bool  # by Ctrl-C or SIGTERM
    task: str
    config: PolishConfig
    validation: Scores  # of the final choice: of the start and of what came closest to it
    report: Scores | None  # None when stopped
    changes: tuple[str, ...]  # of structure, from the start to the policy
    generations: int
    episodes: int
    elapsed_s: float

    def as_dict(self) -> dict[str, Any]:
        """Return everything but the policy as plain values, ready for JSON."""
        objective = self.config.objective
        return {
            "task": self.task,
            "improved": self.improved,
            "stopped": self.stopped,
            "config": asdict(self.config),
            "validation": self.validation.as_dict(objective),
            "report": None if self.report is None else self.report.as_dict(objective),
            "changes": list(self.changes),
            "generations": self.generations,
            "episodes": self.episodes,
            "elapsed_s": round(self.elapsed_s, 1),
        }

    def as_text(self) -> str:
        """Return a short answer for people."""
        verdict = (
            "better than the start beyond noise, on validation episodes"
            if self.improved
            else "nothing beat the start beyond noise: the original is kept"
        )
        lines = [f"{self.policy.name} on {self.task}: {verdict}"]
        for name, scores in (("validation", self.validation), ("report", self.report)):
            if scores is not None:
                before, after = (_with_error(r) for r in (scores.start, scores.result))
                count = len(scores.start)
                lines.append(f"  {name:<11} {before} before, {after} after ({count} episodes each)")
                if self.config.objective != "mean":
                    before, after = (
                        f"{float(score(r, self.config.objective)):.2f}"
                        for r in (scores.start, scores.result)
                    )
                    lines.append(f"  {'':<11} {before} and {after}: {self.config.objective}")
        lines += [f"  changed     {change}" for change in self.changes]
        lines.append(
            f"  search      {self.generations:,} generations, {self.episodes:,} episodes, "
            f"{self.elapsed_s / 60:.1f} min{', stopped' if self.stopped else ''}"
        )
        return "\n".join(lines)


def polish(
    policy: Policy,
    task: Named,
    config: PolishConfig,
    *,
    workers: int = 1,
    options: Mapping[str, Scalar] | None = None,
    accept: Accept | None = None,
    journal: Path | None = None,
    resume: bool = False,
    progress: Callable[[Status], None] | None = None,
) -> Polished:
    """Return a policy with a higher return on a task, or the same one, with what was found.

    Ctrl-C or SIGTERM ends the search, and the best so far counts. For a budget in evaluations the
    result depends on the start and the configuration alone, whatever the number of workers.

    Args:
        policy: Where to start.
        task: A task, or what `find_task` takes: `lunar-lander`, a Gymnasium id, a task card.
        config: The budget, the objective, the seed.
        workers: 1 plays in this process; more are processes of their own.
        options: Options of the environment.
        accept: Says whether a policy may be returned; must hold for the start.
        journal: A file that remembers the run, to resume it; a new one, unless it is resumed.
        resume: Go on with the run that the journal remembers.
        progress: Called after each generation.
    """
    found = find_task(task, options)
    found.check_fits(policy)
    if workers < 1:
        raise ConfigError(f"workers is {workers}, expected at least 1.")
    with stop_requests() as stop:
        game = TaskGame(found, workers, stop.check)
        try:
            return polish_on(
                game, policy, found.title, config, accept=accept, journal=journal, resume=resume,
                progress=progress,
            )  # fmt: skip
        finally:
            game.close()


def polish_on(
    game: Game,
    policy: Policy,
    task: str,
    config: PolishConfig,
    *,
    accept: Accept | None = None,
    journal: Path | None = None,
    resume: bool = False,
    progress: Callable[[Status], None] | None = None,
) -> Polished:
    """Do what `polish` does, with any game that plays the episodes."""
    if accept is not None and not accept(policy):
        raise ConfigError(
            f"{policy.name} is not accepted itself: what must stay true has to hold at the start."
        )
    about = {
        "start": fingerprint(policy),
        "task": task,
        "cma": import_cma().__version__,
        **asdict(config),
        "without": list(config.without),  # as JSON gives it back
    }
    memory = Journal(game, journal, about, resume)
    try:
        search = Search(policy, memory, config, accept, progress)
        return _finished(search, memory, task)
    finally:
        memory.close()


def _finished(search: Search, game: Journal, task: str) -> Polished:
    """Search, choose and report."""
    config, start = search.config, search.start
    stopped, report = False, None
    try:
        search.run()
        # On fresh episodes: the champion was the best of several on those it was chosen on.
        first, count = config.validation_episodes, config.choice_episodes
        ours, theirs = _play(game, search, Purpose.VALIDATE, range(first, first + count))
    except KeyboardInterrupt:
        stopped, ours, theirs = True, start.returns, search.champion.returns
    champion = search.champion
    improved = champion is not start and beats(theirs, ours, config.objective)
    episodes, elapsed_s = game.episodes, game.elapsed_s
    policy = start.policy
    changes = structure_changes(policy, champion.policy) if improved else ()
    if improved:
        policy = champion.policy.noted(
            f"polished from {fingerprint(policy)}: {episodes:,} episodes of {task}, objective "
            f"{config.objective}, seed {config.seed}, {len(changes)} changes of structure"
        )
    if not stopped:
        before, after = _play(game, search, Purpose.REPORT, range(config.report_episodes))
        report = Scores(tuple(before), tuple(after if improved else before))
    return Polished(
        policy=policy,
        improved=improved,
        stopped=stopped,
        task=task,
        config=config,
        validation=Scores(tuple(ours), tuple(theirs)),
        report=report,
        changes=changes,
        generations=search.status.generation,
        episodes=episodes,
        elapsed_s=elapsed_s,
    )


def fingerprint(policy: Policy) -> str:
    """Return the first 12 digits of the SHA-256 of the policy's file."""
    return hashlib.sha256(policy_to_json(policy).encode()).hexdigest()[:12]


def _play(game: Journal, search: Search, kind: Purpose, numbers: range) -> list[list[float]]:
    seeds = seeds_above(kind, search.config.seed, numbers)
    return game.returns([(search.start.policy, seeds), (search.champion.policy, seeds)])


def _with_error(returns: Sequence[float]) -> str:
    return "{:.2f} ± {:.2f}".format(*mean_and_error(returns))
