"""Policy × task → better policy, or the same one: direct search on the return, honestly chosen.

The search uses its own episodes, the choice others, the report others again. What is returned beats
the start on fresh validation episodes beyond their noise; otherwise it is the start itself.
"""

import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path

from icct.envs.find import Named, find_task
from icct.errors import ConfigError
from icct.policy import Policy
from icct.policy.file import policy_to_json
from icct.policy.parts import Scalar
from icct.polish.choice import ChoicePlan, best_of, rival_wins
from icct.polish.climb import import_cma
from icct.polish.config import PolishConfig
from icct.polish.game import Game, MakePool, TaskGame
from icct.polish.journal import Journal
from icct.polish.result import Polished, Scores
from icct.polish.search import Accept, Search, Status, Validated
from icct.seeds import Purpose, seeds_above
from icct.stop import stop_requests


def polish(
    policy: Policy,
    task: Named,
    config: PolishConfig,
    *,
    workers: int | None = None,
    pool: MakePool | None = None,
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
        workers: 1 plays in this process; more are processes of their own. None: one for each core.
        pool: Makes who plays instead of such workers: a cluster.
        options: Options of the environment.
        accept: Says whether a policy may be returned; must hold for the start.
        journal: A file that remembers the run, to resume it; a new one, unless it is resumed.
        resume: Go on with the run that the journal remembers.
        progress: Called after each generation.
    """
    found = find_task(task, options)
    found.check_fits(policy)
    if workers is None:
        workers = len(os.sched_getaffinity(0))
    if workers < 1:
        raise ConfigError(f"workers is {workers}, expected at least 1.")
    with stop_requests() as stop:
        game = (
            TaskGame(found, workers, stop.check)
            if pool is None
            else TaskGame.played_by(pool(found, stop.check))
        )
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
    stopped = False
    try:
        search.run()
        plan = search.choice_plan  # once: by the clock, it may be another one a batch later
        rival = _qualified(search, game, plan)
        improved, ours, theirs = _choice(search, game, plan, rival)
    except KeyboardInterrupt:
        stopped, rival = True, search.incumbent
        improved, ours, theirs = _choice_so_far(search)
    episodes, elapsed_s = game.episodes, game.elapsed_s
    policy, report = start.policy, None
    if improved:
        policy = rival.policy.noted(
            f"polished from {fingerprint(policy)}: {episodes:,} episodes of {task}, objective "
            f"{config.objective}, seed {config.seed}"
        )
    if not stopped and config.report_episodes:
        seeds = seeds_above(Purpose.REPORT, config.seed, range(config.report_episodes))
        players = (start.policy, policy) if improved else (policy,)
        returns = game.returns([(player, seeds) for player in players])
        report = Scores(tuple(returns[0]), tuple(returns[-1]))
    return Polished(
        policy=policy,
        improved=improved,
        stopped=stopped,
        nothing_to_gain=search.nothing_to_gain,
        task=task,
        config=config,
        validation=Scores(tuple(ours), tuple(theirs)),
        report=report,
        generations=search.status.generation,
        episodes=episodes,
        elapsed_s=elapsed_s,
    )


def _qualified(search: Search, game: Journal, plan: ChoicePlan) -> Validated:
    """Return the best of the finalists on fresh episodes: who was the best at checks was lucky."""
    config, finalists = search.config, search.finalists(plan.finalists)
    if len(finalists) < 2:
        return search.incumbent
    seeds = _fresh_seeds(config, 0, config.batch)
    returns = game.returns([(one.policy, seeds) for one in finalists])
    return finalists[best_of(returns, config.objective)]


def _choice(
    search: Search, game: Journal, plan: ChoicePlan, rival: Validated
) -> tuple[bool, list[float], list[float]]:
    """Let the start play its rival on fresh episodes.

    Those before do not count: the rival was the best of several on them.
    """
    config, start = search.config, search.start
    if rival is start:
        return False, start.returns, start.returns
    after = config.batch if plan.finalists > 1 else 0

    def play(first: int, count: int) -> list[list[float]]:
        seeds = _fresh_seeds(config, after + first, count)
        return game.returns([(start.policy, seeds), (rival.policy, seeds)])

    return rival_wins(play, config.batch, plan.batches, config.objective)


def _fresh_seeds(config: PolishConfig, first: int, count: int) -> list[int]:
    """Return the seeds of validation episodes that no check has used."""
    first += config.validation_episodes
    return seeds_above(Purpose.VALIDATE, config.seed, range(first, first + count))


def _choice_so_far(search: Search) -> tuple[bool, list[float], list[float]]:
    """Choose by the checks alone, where there is no time for more."""
    ours, theirs = search.start.returns, search.incumbent.returns
    return rival_wins(lambda *_: (ours, theirs), len(ours), 1, search.config.objective)


def fingerprint(policy: Policy) -> str:
    """Return the first 12 digits of the SHA-256 of the policy's file."""
    return hashlib.sha256(policy_to_json(policy).encode()).hexdigest()[:12]
