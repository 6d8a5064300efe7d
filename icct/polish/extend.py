"""Policy × task → the same policy with new splits, where another action pays.

Polishing moves numbers and leaves the splits alone. What it cannot find is a place, seldom visited
or early in an episode, where the same rule should say something else. Probes (probe.py) find it:
a regression tree over where they began says in which regions a shift gained, each region becomes a
candidate, a few splits around a copy of the leaf whose rule is shifted, and the best candidate is
taken if it gains on episodes of its own. That is done again as long as something is found.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from icct.envs.episodes import EpisodePool, mean_and_error
from icct.envs.find import Named, find_task
from icct.errors import ConfigError, MissingExtraError
from icct.policy import Policy, Split
from icct.policy.edit import renumbered
from icct.policy.parts import Node
from icct.polish.choice import rival_wins
from icct.polish.game import TaskGame
from icct.polish.probe import Probed, Prober, shifted_leaf
from icct.seeds import Purpose, seeds_above
from icct.stop import stop_requests

ROUNDS, EPISODES = 3, 64  # by default
PROBED_EPISODES = 32  # of the policy itself, which probes begin in
DEEPEST = 3  # conditions of a region
FEWEST = 15  # probes in a region
FEWEST_PROBES = 2 * FEWEST  # of a round
SURE = 2.0  # standard errors: of a region's gain above 0, and of a candidate's
CANDIDATES = 8  # of a round
OF_A_KIND = 2  # of them, with the same leaf, action and shift
FIRST_EPISODES = 16  # of every candidate; the best ones play on
BEST = 3


@dataclass(frozen=True)
class Region:
    """Where a shift of one leaf's rule has gained: conditions (feature, threshold, is above)."""

    leaf: int
    action: int
    change: float  # of the rule's constant
    conditions: tuple[tuple[int, float, bool], ...]
    gain: float  # mean of its probes
    error: float  # standard error of that
    probes: int

    @property
    def worth(self) -> float:
        """What it surely gains, over all of its probes."""
        return (self.gain - SURE * self.error) * self.probes


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
    *,
    leaves: int,
    seed: int = 0,
    probes: int = 600,
    rounds: int = ROUNDS,
    episodes: int = EPISODES,
    workers: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Extended:
    """Return a policy with new splits that returns more beyond noise, or the same one.

    Args:
        policy: What to extend.
        task: What it drives: a task, or what `find_task` takes.
        leaves: How many leaves it may have.
        seed: The same seed, the same result.
        probes: Episodes with a probe, in each round.
        rounds: How often at most something is added.
        episodes: To choose a candidate by, and as many again for the last decision.
        workers: Processes that play; the result is the same with any number.
        progress: Called with (episodes played, the most that there may be).
    """
    found = find_task(task)
    found.check_fits(policy)
    if probes < FEWEST_PROBES or rounds < 1 or episodes < FIRST_EPISODES or workers < 1:
        raise ConfigError(
            f"Extending needs at least {FEWEST_PROBES} probes, 1 round, {FIRST_EPISODES} episodes "
            "and 1 worker."
        )
    import_cart()
    with stop_requests() as stop, EpisodePool(found, workers, check=stop.check) as pool:
        extension = _Extension(pool, policy, leaves, seed, probes, rounds, episodes, progress)
        return extension.result()


def most_episodes(probes: int, rounds: int = ROUNDS, episodes: int = EPISODES) -> int:
    """Return how many episodes an extension plays at most.

    >>> most_episodes(600, 3, 64)
    3160
    """
    choice = FIRST_EPISODES * (1 + CANDIDATES) + (episodes - FIRST_EPISODES) * (1 + BEST)
    return rounds * (PROBED_EPISODES + probes + choice) + 4 * episodes


class _Extension:
    """An extension in progress."""

    def __init__(
        self,
        pool: EpisodePool,
        policy: Policy,
        leaves: int,
        seed: int,
        probes: int,
        rounds: int,
        episodes: int,
        progress: Callable[[int, int], None] | None,
    ) -> None:
        self._pool, self._game = pool, TaskGame.played_by(pool)
        self._start, self._leaves, self._seed = policy, leaves, seed
        self._probes, self._rounds, self._episodes = probes, rounds, episodes
        self._progress, self._played = progress or (lambda played, most: None), 0
        self._most = most_episodes(probes, rounds, episodes)
        self._rng = np.random.default_rng((0xE47E, seed))
        self._numbers = 0  # of episodes that were asked for: each choice has its own

    def result(self) -> Extended:
        """Add what pays, round by round, and decide."""
        policy, changes = self._start, list[str]()
        for _ in range(self._rounds):
            room = self._leaves - len(policy.leaves)
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
                self._episodes, 2, "mean",
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
        prober = Prober(self._pool, policy, self._fresh(PROBED_EPISODES), self._rng)
        self._count(PROBED_EPISODES)
        probed = prober.probe(self._probes, self._count)
        return regions_of(policy, probed, prober.units, room)

    def _best(self, policy: Policy, regions: Sequence[Region]) -> Region | None:
        """Return the region whose candidate gains most, if it surely gains."""
        left, seeds = list(regions), self._fresh(self._episodes)
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
        found = self._game.returns([(policy, seeds) for policy in policies])
        self._count(len(policies) * len(seeds))
        return found

    def _fresh(self, count: int) -> list[int]:
        """Return the seeds of episodes that nothing was played in before."""
        numbers = range(self._numbers, self._numbers + count)
        self._numbers += count
        return seeds_above(Purpose.EXTEND, self._seed, numbers)

    def _count(self, episodes: int) -> None:
        self._played += episodes
        self._progress(self._played, self._most)

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


def regions_of(
    policy: Policy, probed: Probed, units: dict[int, list[float]], room: int
) -> list[Region]:
    """Return where probes have surely gained, the most worth first."""
    found: list[Region] = []
    leaves = policy.leaves_of(probed.seen)
    for leaf in np.unique(leaves).tolist():
        for action, shift in sorted(set(zip(probed.actions, probed.shifts, strict=True))):
            rows = (leaves == leaf) & (probed.actions == action) & (probed.shifts == shift)
            if rows.sum() >= FEWEST_PROBES:
                change = float(shift) * units[leaf][action]
                own = _regions_of_a_kind(
                    probed.seen[rows], probed.gains[rows], leaf, int(action), change, room
                )
                found += sorted(own, key=lambda region: -region.worth)[:OF_A_KIND]
    return sorted(found, key=lambda region: -region.worth)[:CANDIDATES]


def _regions_of_a_kind(
    seen: Any, gains: Any, leaf: int, action: int, change: float, room: int
) -> list[Region]:
    """Return the regions of a regression tree, at every depth, in which a shift surely gains."""
    low, high = np.quantile(gains, (0.05, 0.95))  # one crash must not hide where the others gain
    gains = np.clip(gains, low, high)
    cart = import_cart()(max_depth=DEEPEST, min_samples_leaf=FEWEST, random_state=0)
    tree = cart.fit(seen, gains).tree_
    passed = cart.decision_path(seen).toarray().astype(bool)
    conditions: dict[int, dict[tuple[int, bool], float]] = {0: {}}
    found = []
    for node in range(tree.node_count):  # parents before their children
        if tree.children_left[node] >= 0:
            feature, threshold = int(tree.feature[node]), float(tree.threshold[node])
            for child, above in (
                (tree.children_left[node], False),
                (tree.children_right[node], True),
            ):
                conditions[int(child)] = conditions[node] | {(feature, above): threshold}
        own = gains[passed[:, node]]
        mean, error = mean_and_error(own.tolist())
        region = Region(
            leaf, action, change,
            tuple((feature, at, above) for (feature, above), at in conditions[node].items()),
            mean, error, len(own),
        )  # fmt: skip
        if region.worth > 0 and 1 <= len(region.conditions) <= room:
            found.append(region)
    return found


def grafted(policy: Policy, region: Region) -> Policy:
    """Return the policy with a region's splits in place of its leaf, the shifted rule inside."""
    nodes: dict[int, Node] = dict(enumerate(policy.nodes))
    leaf, place = policy.leaf(region.leaf), region.leaf
    for feature, threshold, above in region.conditions:
        inside, outside = len(nodes), len(nodes) + 1
        below, beyond = (outside, inside) if above else (inside, outside)
        nodes[place] = Split(feature, threshold, below, beyond)
        nodes[inside] = nodes[outside] = leaf
        place = inside
    nodes[place] = shifted_leaf(leaf, region.action, region.change)
    return replace(policy, nodes=renumbered(nodes))


def import_cart() -> Any:  # it has no types
    """Return scikit-learn's regression tree, or say how to get it."""
    try:
        from sklearn.tree import DecisionTreeRegressor
    except ImportError:
        raise MissingExtraError(
            'Extending needs scikit-learn. Install it with: pip install "icct[distill]"'
        ) from None
    return DecisionTreeRegressor
