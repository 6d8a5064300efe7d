"""What would another action have brought? Episodes that differ from a policy's own for a while.

A probe shifts one action's rule for some steps of an episode and changes nothing else. Up to there
the episode is the policy's own, step by step, so the difference of the two returns is what the
shift brought, with the same luck. `extend` looks for where such differences are gains.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from icct.envs.episodes import Job, Player
from icct.policy import Leaf, Policy
from icct.policy.parts import Node
from icct.polish.compiled import CompiledActor
from icct.polish.game import Pool, Recorder, Table
from icct.polish.journal import Journal
from icct.polish.parameters import rows_by_node, rule_unit

SHIFTS = (-3.5, -1.75, 1.75, 3.5)  # in units of the rule: from the middle of the range to its limit
DURATIONS = (1 / 40, 1 / 20)  # of the episode
BATCHES = 4  # of probes; later ones are of such kinds and begin where earlier ones have gained
PARTS = 12  # of an episode, for that
AT_LEAST = 0.02  # the share of probes of a kind, or in a part, where none has gained


@dataclass(frozen=True)
class Probe:
    """A shift of one action's rule, for some steps of one episode."""

    seed: int
    action: int
    shift: float  # in units of the rule
    first: int
    steps: int


@dataclass(frozen=True)
class Probed:
    """What probes have brought, one row each."""

    seen: Table  # the observation where the probe began, (probes, features)
    actions: NDArray[np.int64]
    shifts: NDArray[np.float64]
    gains: NDArray[np.float64]  # of the return


def shifted(policy: Policy, action: int, shift: float, units: dict[int, list[float]]) -> Policy:
    """Return a policy with one action's rule shifted in every leaf, by so many of its units."""
    nodes: list[Node] = list(policy.nodes)
    for index in policy.leaves:
        nodes[index] = shifted_leaf(policy.leaf(index), action, shift * units[index][action])
    return replace(policy, nodes=tuple(nodes))


def shifted_leaf(leaf: Leaf, action: int, change: float) -> Leaf:
    """Return a leaf with the constant of one rule changed."""
    rules = list(leaf.controllers)
    rules[action] = replace(rules[action], bias=rules[action].bias + change)
    return replace(leaf, controllers=tuple(rules))


def units_of(policy: Policy, seen: Table) -> dict[int, list[float]]:
    """Return the unit of every rule of every leaf, by what the leaf sees."""
    rows = rows_by_node(policy, seen)
    return {
        index: [
            rule_unit(policy, action, rule, rows[index]) if len(rows[index]) else 1.0
            for action, rule in enumerate(policy.leaf(index).controllers)
        ]
        for index in policy.leaves
    }


class Prober:
    """A policy and its own episodes, to be probed.

    Args:
        pool: Who plays.
        memory: Remembers what probes returned; the policy's own episodes are played again.
        policy: What is probed.
        seeds: Of its episodes.
        rng: Draws the probes.
    """

    def __init__(
        self,
        pool: Pool,
        memory: Journal,
        policy: Policy,
        seeds: Sequence[int],
        rng: np.random.Generator,
    ) -> None:
        self._pool, self._memory = pool, memory
        self._policy, self._seeds, self._rng = policy, seeds, rng
        own = pool.answers([Job(own_episode, policy, [seed]) for seed in seeds])
        self._returns = [total for total, _ in own]
        self._tables: list[Table] = [table for _, table in own]
        self.units = units_of(policy, np.concatenate(self._tables))

    def probe(self, count: int, played: Callable[[int], None] | None = None) -> Probed:
        """Return what so many probes bring; `played` is told of each batch."""
        rows: list[tuple[int, Probe]] = []
        gains: list[float] = []
        kinds = [(action, s) for action in range(len(self._policy.actions)) for s in SHIFTS]
        part_shares, kind_shares = np.full(PARTS, 1 / PARTS), np.full(len(kinds), 1 / len(kinds))
        for number in range(BATCHES):
            size = count * (number + 1) // BATCHES - count * number // BATCHES
            chosen: list[int] = self._rng.choice(len(kinds), size, p=kind_shares).tolist()
            batch = [self._drawn(*kinds[kind], part_shares) for kind in chosen]
            gains += self._played(batch)
            rows += batch
            if played is not None:
                played(size)
            part_shares = _shares([self._part(*row) for row in rows], gains, PARTS)
            of_kind = [kinds.index((one.action, one.shift)) for _, one in rows]
            kind_shares = _shares(of_kind, gains, len(kinds))
        return Probed(
            seen=np.array([self._tables[i][one.first] for i, one in rows]),
            actions=np.array([one.action for _, one in rows]),
            shifts=np.array([one.shift for _, one in rows]),
            gains=np.array(gains),
        )

    def _part(self, episode: int, probe: Probe) -> int:
        return PARTS * probe.first // len(self._tables[episode])

    def _drawn(self, action: int, shift: float, shares: NDArray[np.float64]) -> tuple[int, Probe]:
        """Return the number of an episode and a probe of it, its part drawn by these shares."""
        rng = self._rng
        episode = int(rng.integers(len(self._seeds)))
        length = len(self._tables[episode])
        place = (rng.choice(PARTS, p=shares) + rng.random()) / PARTS
        return episode, Probe(
            seed=self._seeds[episode],
            action=action,
            shift=shift,
            first=min(int(place * length), length - 1),
            steps=max(1, round(float(rng.choice(DURATIONS)) * length)),
        )

    def _played(self, batch: Sequence[tuple[int, Probe]]) -> list[float]:
        """Return what each probe gains, in the order of the batch."""
        probes = [one for _, one in batch]
        jobs = [Job(probed_return, (self._policy, self.units, one), [one.seed]) for one in probes]
        asked = self._policy, probes
        (totals,) = self._memory.answer(asked, lambda: [self._pool.answers(jobs)])
        return [
            total - self._returns[episode]
            for total, (episode, _) in zip(totals, batch, strict=True)
        ]


def _shares(groups: Sequence[int], gains: Sequence[float], count: int) -> NDArray[np.float64]:
    """Return how much of the next probes each group gets: by its mean gain, losses taken as 0."""
    members, positive = np.array(groups), np.maximum(gains, 0.0)
    gained = np.array([positive[members == g].mean() if g in groups else 0.0 for g in range(count)])
    if not gained.any():
        return np.full(count, 1 / count)
    floor = min(AT_LEAST, 0.5 / count)  # of many kinds, half of the probes at most
    shares: NDArray[np.float64] = floor + (1 - count * floor) * gained / gained.sum()
    return shares


def own_episode(player: Player, policy: Policy, seeds: Sequence[int]) -> tuple[float, Table]:
    """Return an episode's return and what was seen in it."""
    recorder = Recorder(policy)
    (seed,) = seeds
    total = player.play(recorder, seed).total_reward
    return total, np.array(recorder.seen, dtype=np.float64)


def probed_return(
    player: Player, asked: tuple[Policy, dict[int, list[float]], Probe], seeds: Sequence[int]
) -> float:
    """Return the return of an episode with a probe in it."""
    (seed,) = seeds
    return player.play(Probing(*asked), seed).total_reward


class Probing:
    """A policy that is shifted for the steps of a probe; for one episode."""

    def __init__(self, policy: Policy, units: dict[int, list[float]], probe: Probe) -> None:
        self._usual = CompiledActor(policy).act
        self._shifted = CompiledActor(shifted(policy, probe.action, probe.shift, units)).act
        self._first, self._end = probe.first, probe.first + probe.steps
        self._step = -1

    def act(self, observation: ArrayLike) -> NDArray[np.float64]:
        """Act as the policy does, but for the steps of the probe."""
        self._step += 1
        probing = self._first <= self._step < self._end
        return self._shifted(observation) if probing else self._usual(observation)
