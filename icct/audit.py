"""Policy × task → Audit: what episodes show that no proof asks about.

Runs the policy and counts; what holds for all observations is `icct.verify`'s business. The one
exception is the mirror: how far the rules are from the task's symmetry is exact.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from icct.envs.find import Named, find_task
from icct.evaluate import Progress, evaluate
from icct.policy import Policy, Split
from icct.policy.difference import ActionBound, difference
from icct.policy.mirror import Mirror, mirrored
from icct.policy.text import number
from icct.verify.measure import saturation_limits

ALIKE = 0.01  # share of an action's range by which a mirrored policy may differ unnoticed


@dataclass(frozen=True)
class Audit:
    """What was seen in some episodes."""

    policy: str
    task: str
    episodes: int
    steps: int
    unvisited: tuple[int, ...]  # leaves that never acted
    outside: tuple[tuple[str, int], ...]  # feature → observations outside its declared bounds
    ties: tuple[tuple[int, int], ...]  # split → observations exactly on its threshold
    saturated: tuple[tuple[str, float], ...]  # action → share of the steps at a limit
    saturated_too_often: tuple[str, ...]
    unlike_mirror: tuple[ActionBound, ...] | None  # None: the task has no mirror symmetry

    @property
    def findings(self) -> int:
        """The number of things to look at."""
        unlike = self.unlike_mirror or ()
        groups = (self.unvisited, self.outside, self.ties, self.saturated_too_often, unlike)
        return sum(map(len, groups))

    def as_text(self) -> str:
        """Return a line for each thing to look at."""
        lines = [f"{self.policy} on {self.task}: {self.episodes} episodes, {self.steps} steps"]
        if self.unvisited:
            lines.append(f"  never visited: leaves {', '.join(map(str, self.unvisited))}")
        lines += [
            f"  outside the bounds: {name} in {count} of {self.steps} observations"
            for name, count in self.outside
        ]
        lines += [
            f"  tie: {count} observations exactly on the threshold of split {split}"
            for split, count in self.ties
        ]
        shares = dict(self.saturated)
        lines += [
            f"  saturated: {name} in {100 * shares[name]:.3g} % of the steps"
            for name in self.saturated_too_often
        ]
        lines += [
            f"  unlike its mirror image: {bound.action} by up to {number(bound.largest)}"
            for bound in self.unlike_mirror or ()
        ]
        if not self.findings:
            lines.append("  nothing to remark")
        return "\n".join(lines)

    def as_json(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON."""
        unlike = self.unlike_mirror
        return {
            **vars(self),
            "outside": dict(self.outside),
            "ties": {str(split): count for split, count in self.ties},
            "saturated": dict(self.saturated),
            "unlike_mirror": None if unlike is None else {b.action: b.largest for b in unlike},
        }


class _Recorder:
    """Acts as the policy and keeps what it saw."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.seen: list[NDArray[np.float64]] = []

    def act(self, observation: ArrayLike) -> NDArray[np.float64]:
        self.seen.append(np.array(observation, dtype=np.float64))
        return self.policy.act(observation)


def audit(
    policy: Policy,
    task: Named,
    *,
    episodes: int = 10,
    seed: int = 0,
    saturation: float = 0.5,
    progress: Progress | None = None,
) -> Audit:
    """Return what some episodes of a policy show.

    Args:
        policy: The policy to run.
        task: A task, or what `find_task` takes: `figure-eight`, a Gymnasium id, a task card.
        episodes: How many.
        seed: The same seed gives the same episodes.
        saturation: The share of steps at a limit from which an action is remarked upon.
        progress: Called with (episodes done, episodes in all) after each.
    """
    found = find_task(task)
    found.check_fits(policy)
    recorder = _Recorder(policy)
    evaluate(recorder, found, episodes=episodes, seed=seed, progress=progress)
    table = np.stack(recorder.seen)
    visited = set(policy.leaves_of(table).tolist())
    saturated = _saturated(policy, table)
    return Audit(
        policy=policy.name,
        task=found.name,
        episodes=episodes,
        steps=len(table),
        unvisited=tuple(leaf for leaf in policy.leaves if leaf not in visited),
        outside=_outside(policy, table),
        ties=_ties(policy, table),
        saturated=saturated,
        saturated_too_often=tuple(name for name, share in saturated if share > saturation),
        unlike_mirror=None if found.mirror is None else _unlike(policy, found.mirror),
    )


def _outside(policy: Policy, table: NDArray[np.float64]) -> tuple[tuple[str, int], ...]:
    # In float32, as tasks observe, so that a value on the bound is not outside.
    low, high = (
        np.array([getattr(feature, end) for feature in policy.features], dtype=np.float32)
        for end in ("low", "high")
    )
    counts = ((table < low) | (table > high)).sum(axis=0).tolist()
    named = zip(policy.features, counts, strict=True)
    return tuple((feature.name, count) for feature, count in named if count)


def _ties(policy: Policy, table: NDArray[np.float64]) -> tuple[tuple[int, int], ...]:
    """Count the observations that reach a split with a value equal to its threshold."""
    found, waiting = [], [(0, table)]
    while waiting:
        index, rows = waiting.pop()
        node = policy.nodes[index]
        if isinstance(node, Split):
            column = rows[:, node.feature]
            if count := int((column == node.threshold).sum()):
                found.append((index, count))
            waiting.append((node.above, rows[column > node.threshold]))
            waiting.append((node.below, rows[column <= node.threshold]))
    return tuple(sorted(found))


def _saturated(policy: Policy, table: NDArray[np.float64]) -> tuple[tuple[str, float], ...]:
    acted = policy.act_batch(table)
    shares = []
    for position, action in enumerate(policy.actions):
        low, high = saturation_limits(policy, position)
        at_limit = (acted[:, position] <= low) | (acted[:, position] >= high)
        shares.append((action.name, float(at_limit.mean())))
    return tuple(shares)


def _unlike(policy: Policy, mirror: Mirror) -> tuple[ActionBound, ...]:
    bounds = difference(policy, mirrored(policy, mirror)).actions
    ranges = [action.high - action.low for action in policy.actions]
    pairs = zip(bounds, ranges, strict=True)
    return tuple(bound for bound, width in pairs if bound.largest > ALIKE * width)
