"""Policy × task → the same policy with new splits, where another action pays.

Polishing moves numbers and leaves the splits alone. What it cannot find is a place, seldom visited
or early in an episode, where the same rule should say something else. Probes (probe.py) find it:
where they have gained (regions.py) is a candidate for new splits, and the best candidate is taken
if it gains on episodes of its own. That is done again as long as something is found.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from icct.envs.episodes import EpisodePool, mean_and_error
from icct.envs.find import Named, find_task
from icct.errors import ConfigError
from icct.policy import Policy
from icct.polish.choice import rival_wins
from icct.polish.game import Pool, TaskGame
from icct.polish.journal import Journal
from icct.polish.polish import fingerprint
from icct.polish.probe import Prober
from icct.polish.regions import (
    CANDIDATES,
    FEWEST_PROBES,
    SURE,
    Region,
    grafted,
    import_cart,
    regions_of,
)
from icct.seeds import Purpose, seeds_above
from icct.stop import stop_requests

PROBED_EPISODES = 32  # of the policy itself, which probes begin in
FIRST_EPISODES = 16  # of every candidate; the best ones play on
BEST = 3


@dataclass(frozen=True)
class ExtendConfig:
    """How far to extend, and how much to play for it. The same seed, the same result."""

    leaves: int  # that the policy may have in the end
    seed: int = 0
    probes: int = 600  # episodes with a probe, in each round
    rounds: int = 3  # how often at most something is added
    episodes: int = 64  # to choose a candidate by, and as many again for the last decision

    def __post_init__(self) -> None:
        if self.probes < FEWEST_PROBES or self.rounds < 1 or self.episodes < FIRST_EPISODES:
            raise ConfigError(
                f"Extending needs at least {FEWEST_PROBES} probes, 1 round and {FIRST_EPISODES} "
                f"episodes; found {self.probes}, {self.rounds} and {self.episodes}."
            )

    @property
    def most_episodes(self) -> int:
        """How many episodes are played at most.

        >>> ExtendConfig(leaves=16).most_episodes
        3160
        """
        choice = FIRST_EPISODES * (1 + CANDIDATES) + (self.episodes - FIRST_EPISODES) * (1 + BEST)
        return self.rounds * (PROBED_EPISODES + self.probes + choice) + 4 * self.episodes


@dataclass(frozen=True)
class Extended:
    """A policy with new splits, or the same one, and the returns that decided."""

    policy: Policy
    improved: bool
    changes: tuple[str, ...]
    before: tuple[float, ...]  # returns in the same episodes, on which nothing was chosen
    after: tuple[float, ...]
    episodes: int  # played in all

    def as_dict(self) -> dict[str, Any]:
        """Return everything but the policy as plain values, ready for JSON."""
        found: dict[str, Any] = {
            "improved": self.improved,
            "changes": list(self.changes),
            "episodes": self.episodes,
        }
        for name, values in (("before", self.before), ("after", self.after)):
            if values:  # else nothing was found, and nothing to decide
                mean, error = mean_and_error(values)
                found[name] = {"episodes": len(values), "mean": mean, "standard_error": error}
        return found


def extend(
    policy: Policy,
    task: Named,
    config: ExtendConfig,
    *,
    workers: int = 1,
    journal: Path | None = None,
    resume: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Extended:
    """Return a policy with new splits that returns more beyond noise, or the same one.

    Ctrl-C or SIGTERM raises KeyboardInterrupt; what was played is in the journal.

    Args:
        policy: What to extend.
        task: What it drives: a task, or what `find_task` takes.
        config: How far, and by how many episodes.
        workers: Processes that play; the result is the same with any number.
        journal: A file that remembers the run, to resume it; a new one, unless it is resumed.
        resume: Go on with the run that the journal remembers.
        progress: Called with (episodes played, the most that there may be).
    """
    found = find_task(task)
    found.check_fits(policy)
    if workers < 1:
        raise ConfigError(f"workers is {workers}, expected at least 1.")
    import_cart()
    about = {"extends": fingerprint(policy), "task": found.title, **asdict(config)}
    with stop_requests() as stop, EpisodePool(found, workers, check=stop.check) as pool:
        memory = Journal(TaskGame.played_by(pool), journal, about, resume)
        try:
            return _Extension(pool, memory, policy, config, progress).result()
        finally:
            memory.close()


class _Extension:
    """An extension in progress."""

    def __init__(
        self,
        pool: Pool,
        memory: Journal,
        policy: Policy,
        config: ExtendConfig,
        progress: Callable[[int, int], None] | None,
    ) -> None:
        self._pool, self._memory, self._start, self._config = pool, memory, policy, config
        self._progress, self._played = progress or (lambda played, most: None), 0
        self._rng = np.random.default_rng((0xE47E, config.seed))
        self._numbers = 0  # of episodes that were asked for: each choice has its own

    def result(self) -> Extended:
        """Add what pays, round by round, and decide."""
        policy, changes = self._start, list[str]()
        for _ in range(self._config.rounds):
            room = self._config.leaves - len(policy.leaves)
            regions = self._regions(policy, room) if room > 0 else []
            found = self._best(policy, regions)
            if found is None:
                break
            policy = grafted(policy, found)
            changes.append(self._said(found))
        improved, before, after = bool(changes), list[float](), list[float]()
        if changes:
            improved, before, after = rival_wins(
                lambda first, count: self._returns([self._start, policy], self._fresh(count)),
                self._config.episodes, 2, "mean",
            )  # fmt: skip
        if improved:
            policy = policy.noted(f"extended: {'; '.join(changes)}; {self._played:,} episodes")
        return Extended(
            policy if improved else self._start,
            improved,
            tuple(changes),
            tuple(before),
            tuple(after),
            self._played,
        )

    def _regions(self, policy: Policy, room: int) -> list[Region]:
        seeds = self._fresh(PROBED_EPISODES)
        prober = Prober(self._pool, self._memory, policy, seeds, self._rng)
        self._count(PROBED_EPISODES)
        probed = prober.probe(self._config.probes, self._count)
        return regions_of(policy, probed, prober.units, room)

    def _best(self, policy: Policy, regions: Sequence[Region]) -> Region | None:
        """Return the region whose candidate gains most, if it surely gains."""
        left, seeds = list(regions), self._fresh(self._config.episodes)
        rows: dict[Region, list[float]] = {region: [] for region in regions}
        own: list[float] = []
        for part, few in ((seeds[:FIRST_EPISODES], BEST), (seeds[FIRST_EPISODES:], 1)):
            if not left:
                return None
            if part:
                found = self._returns([policy, *(grafted(policy, one) for one in left)], part)
                own += found[0]
                for region, returns in zip(left, found[1:], strict=True):
                    rows[region] += returns
            left = sorted(left, key=lambda one: -float(np.mean(rows[one])))[:few]
        gains = np.subtract(rows[left[0]], own)
        mean, error = mean_and_error(gains.tolist())
        return left[0] if mean > SURE * error else None

    def _returns(self, policies: Sequence[Policy], seeds: Sequence[int]) -> list[list[float]]:
        found = self._memory.returns([(policy, seeds) for policy in policies])
        self._count(len(policies) * len(seeds))
        return found

    def _fresh(self, count: int) -> list[int]:
        """Return the seeds of episodes that nothing was played in before."""
        numbers = range(self._numbers, self._numbers + count)
        self._numbers += count
        return seeds_above(Purpose.EXTEND, self._config.seed, numbers)

    def _count(self, episodes: int) -> None:
        self._played += episodes
        self._progress(self._played, self._config.most_episodes)

    def _said(self, region: Region) -> str:
        """Return a region in words, in physical units."""
        conditions = []
        for number, threshold, above in region.conditions:
            feature = self._start.features[number]
            limit = f"{threshold * feature.scale:.4g} {feature.physical_unit}".rstrip()
            conditions.append(f"{feature.name} {'>' if above else '<='} {limit}")
        action = self._start.actions[region.action].name
        more = "more" if region.change > 0 else "less"
        return f"{more} {action} where {' and '.join(conditions)}"
