"""Policy × task → the same controller with less to read, as long as its return does not fall.

Leaves that no episode reaches, weights that hardly move their rule, values far beyond saturation
and digits go, in this order, as much of each as the return on validation episodes allows. All
comparisons are with the policy at the start, on the same episodes, so that small losses cannot add
up.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from icct.envs.episodes import mean_and_error
from icct.envs.find import Named, find_task
from icct.errors import ConfigError
from icct.policy import Controller, Leaf, Policy, Split
from icct.policy.edit import renumbered
from icct.policy.parts import Node
from icct.policy.simplify import simplify
from icct.polish.game import Game, Table, TaskGame
from icct.polish.parameters import Rows, rows_by_node, rule_unit, values_of
from icct.seeds import Purpose, seeds_above

OBSERVED_EPISODES = 20
FIRST_EPISODES = 20  # a variant that loses much in these plays no more
HOPELESS = 2.0  # standard errors of the paired difference that a mean may fall in these
# Variants, boldest first; the first that holds its return is taken.
EFFECTS = (0.3, 0.1, 0.03, 0.01)  # of the action's unit: weights that move their rule less go
LARGEST_VALUES = (2.0, 3.0, 5.0, 10.0)  # before a tanh, which is 0.96 and more from 2 on
DIGITS = (2, 3, 4)
KINDS = 4  # leaves, weights, values, digits


@dataclass(frozen=True)
class Pruned:
    """What is left of a policy, what went, and the returns that allowed it."""

    policy: Policy
    changes: tuple[str, ...]
    before: tuple[float, ...]  # returns on the validation episodes
    after: tuple[float, ...]
    episodes: int  # played in all

    def as_dict(self) -> dict[str, Any]:
        """Return everything but the policy as plain values, ready for JSON."""
        scores = {}
        for name, values in (("before", self.before), ("after", self.after)):
            mean, error = mean_and_error(values)
            scores[name] = {"episodes": len(values), "mean": mean, "standard_error": error}
        return {"changes": list(self.changes), "episodes": self.episodes, **scores}


def prune(
    policy: Policy,
    task: Named,
    *,
    seed: int = 0,
    episodes: int = 100,
    workers: int = 1,
    accept: Callable[[Policy], bool] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Pruned:
    """Return a policy with less to read whose return is no lower, as far as the episodes tell.

    Args:
        policy: What to prune.
        task: What it drives: a task, or what `find_task` takes.
        seed: Of the validation episodes.
        episodes: How many of them.
        workers: Processes that play; the result is the same with any number.
        accept: Says whether a policy may be returned.
        progress: Called with (episodes played, the most that there may be).
    """
    found = find_task(task)
    found.check_fits(policy)
    if episodes < 2 or workers < 1:
        raise ConfigError("Pruning needs at least 2 episodes and 1 worker.")
    game = TaskGame(found, workers)
    try:
        return _Pruning(
            game,
            policy,
            seed,
            episodes,
            accept or (lambda one: True),
            progress or (lambda played, most: None),
        ).result()
    finally:
        game.close()


def most_episodes(episodes: int) -> int:
    """Return how many episodes pruning plays at most, with so many for validation.

    >>> most_episodes(100)
    1380
    """
    variants = 1 + len(EFFECTS) + len(LARGEST_VALUES) + len(DIGITS)
    return (1 + variants) * episodes + KINDS * min(OBSERVED_EPISODES, episodes)


class _Pruning:
    """A pruning in progress."""

    def __init__(
        self,
        game: Game,
        policy: Policy,
        seed: int,
        episodes: int,
        accept: Callable[[Policy], bool],
        progress: Callable[[int, int], None],
    ) -> None:
        self._game, self._start, self._accept = game, policy, accept
        self._progress, self._most, self._played = progress, most_episodes(episodes), 0
        self._seeds = seeds_above(Purpose.PRUNE, seed, range(episodes))
        self._before = game.returns([(policy, self._seeds)])[0]
        self._count(episodes)
        self._policy, self._after = policy, self._before
        self._changes: list[str] = []

    def result(self) -> Pruned:
        """Try what may go, one kind after the other."""
        self._simplify("branches out of reach")
        for kind, variants in (
            ("leaves that no episode reached", _without_unseen_leaves),
            ("weights of little effect", _without_small_weights),
            ("values beyond saturation", _with_smaller_values),
            ("digits", _with_fewer_digits),
        ):
            for variant in variants(self._policy, self._rows(self._policy)):
                if variant.nodes == self._policy.nodes:
                    break
                if self._accept(variant) and (returns := self._holding(variant)):
                    self._take(kind, variant, returns)
                    break
        self._simplify("equal siblings")  # which rounding makes
        final = self._policy
        if self._changes:
            final = final.noted(
                f"pruned: {', '.join(self._changes)}; {len(self._seeds)} validation episodes"
            )
        return Pruned(
            final, tuple(self._changes), tuple(self._before), tuple(self._after), self._played
        )

    def _count(self, episodes: int) -> None:
        self._played += episodes
        self._progress(self._played, self._most)

    def _simplify(self, kind: str) -> None:
        """Remove what can go without any change inside the bounds."""
        simpler, _ = simplify(self._policy)
        if len(simpler.leaves) < len(self._policy.leaves):
            self._take(kind, simpler, self._after)

    def _take(self, kind: str, policy: Policy, returns: Sequence[float]) -> None:
        if policy.nodes != self._policy.nodes and self._accept(policy):
            before, after = self._policy.parameter_count, policy.parameter_count
            self._changes.append(kind if before == after else f"{kind} ({before} -> {after})")
            self._policy, self._after = policy, list(returns)

    def _holding(self, variant: Policy) -> list[float] | None:
        """Return a variant's returns, or None where they fall below the start's."""
        returns: list[float] = []
        for seeds, allowed in (
            (self._seeds[:FIRST_EPISODES], HOPELESS),
            (self._seeds[FIRST_EPISODES:], 0.0),
        ):
            if seeds:
                returns += self._game.returns([(variant, seeds)])[0]
                self._count(len(seeds))
            change = np.subtract(returns, self._before[: len(returns)])
            error = float(change.std(ddof=1)) / len(change) ** 0.5 if len(change) > 1 else 0.0
            if float(change.mean()) < -allowed * error:
                return None
        return returns

    def _rows(self, policy: Policy) -> Rows:
        seen: Table = self._game.observations(policy, self._seeds[:OBSERVED_EPISODES])
        self._count(len(self._seeds[:OBSERVED_EPISODES]))
        return rows_by_node(policy, seen)


def _without_unseen_leaves(policy: Policy, rows: Rows) -> Iterator[Policy]:
    """Yield the policy without the sides of splits that nothing took."""
    nodes: dict[int, Node] = dict(enumerate(policy.nodes))
    for _, index in reversed(list(policy.levels())):  # children before their parents
        node = nodes[index]
        if isinstance(node, Split) and len(rows[index]):
            below, above = len(rows[node.below]), len(rows[node.above])
            if not below or not above:
                nodes[index] = nodes[node.below if below else node.above]
    yield replace(policy, nodes=renumbered(nodes))


def _without_small_weights(policy: Policy, rows: Rows) -> Iterator[Policy]:
    """Yield the policy without weights that move their rule by less than a share of its unit."""
    for effect in EFFECTS:

        def shorter(
            action: int, rule: Controller, seen: Table, effect: float = effect
        ) -> Controller:
            unit, bias = rule_unit(policy, action, rule, seen), rule.bias
            kept = []
            for feature, weight in rule.weights:
                if abs(weight) * float(seen[:, feature].std()) < effect * unit:
                    bias += weight * float(seen[:, feature].mean())
                else:
                    kept.append((feature, weight))
            return Controller(tuple(kept), bias)

        yield _with_rules(policy, rows, shorter)


def _with_smaller_values(policy: Policy, rows: Rows) -> Iterator[Policy]:
    """Yield the policy with rules scaled down to a largest usual value before the tanh."""
    if policy.squash != "tanh":
        return
    for largest in LARGEST_VALUES:

        def smaller(
            action: int, rule: Controller, seen: Table, largest: float = largest
        ) -> Controller:
            value = float(np.median(np.abs(values_of(rule, seen))))
            factor = min(1.0, largest / value) if value else 1.0
            weights = tuple((feature, factor * weight) for feature, weight in rule.weights)
            return Controller(weights, factor * rule.bias)

        yield _with_rules(policy, rows, smaller)


def _with_fewer_digits(policy: Policy, rows: Rows) -> Iterator[Policy]:
    """Yield the policy with every number rounded to a few significant digits."""
    for digits in DIGITS:

        def shorter(value: float, digits: int = digits) -> float:
            return float(f"{value:.{digits}g}")

        nodes = [
            replace(node, threshold=shorter(node.threshold))
            if isinstance(node, Split)
            else replace(
                node,
                controllers=tuple(
                    Controller(
                        tuple((feature, shorter(weight)) for feature, weight in rule.weights),
                        shorter(rule.bias),
                    )
                    for rule in node.controllers
                ),
            )
            for node in policy.nodes
        ]
        yield replace(policy, nodes=tuple(nodes))


def _with_rules(
    policy: Policy, rows: Rows, change: Callable[[int, Controller, Table], Controller]
) -> Policy:
    """Return the policy with every rule changed that some observation reaches."""
    nodes: list[Node] = list(policy.nodes)
    for index in policy.leaves:
        if not len(rows[index]):
            continue
        leaf: Leaf = policy.leaf(index)
        rules = [change(number, rule, rows[index]) for number, rule in enumerate(leaf.controllers)]
        nodes[index] = replace(leaf, controllers=tuple(rules))
    return replace(policy, nodes=tuple(nodes))
