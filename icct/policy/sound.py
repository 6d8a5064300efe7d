"""Whether the parts of a policy fit together; every `Policy` that exists has been checked here."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, get_args

from icct.errors import PolicyError, did_you_mean, shown
from icct.policy.parts import LONGEST_NAME, Action, Feature, Leaf, Split, Squash, check_text

if TYPE_CHECKING:
    from icct.policy.policy import Policy


def check_policy(policy: "Policy") -> None:
    """Refuse a policy whose parts do not fit together."""
    check_text(policy.name, "the policy's name", LONGEST_NAME)
    if policy.squash not in get_args(Squash):
        raise PolicyError(
            f"squash is {shown(policy.squash)}, expected one of {', '.join(get_args(Squash))}."
        )
    for kind, things in (("feature", policy.features), ("action", policy.actions)):
        if not things:
            raise PolicyError(f"There is no {kind}; a policy needs at least one.")
        seen: set[str] = set()
        for thing in things:
            if thing.name in seen:
                raise PolicyError(f"Two {kind}s are called {thing.name!r}; names must differ.")
            seen.add(thing.name)
    for action in policy.actions if policy.squash == "tanh" else ():
        if not (math.isfinite(action.low) and math.isfinite(action.high)):
            raise PolicyError(
                f"action {action.name!r}: squash 'tanh' needs finite limits, found "
                f"[{action.low}, {action.high}]; use 'clip' or 'none'."
            )
    if not policy.nodes:
        raise PolicyError("There is no node; a policy needs at least one leaf.")
    for index, node in enumerate(policy.nodes):
        if isinstance(node, Split):
            _check_split(node, f"split {index}", policy)
        else:
            _check_leaf(node, f"leaf {index}", policy)
    _check_is_tree(policy)


def _check_split(split: Split, where: str, policy: "Policy") -> None:
    _check_feature_index(split.feature, where, policy)
    _check_finite(split.threshold, f"{where}: threshold")
    for side, child in (("below", split.below), ("above", split.above)):
        if not _is_index(child, policy.nodes):
            raise PolicyError(
                f"{where}: {side} leads to node {child!r}, but the nodes are "
                f"0 to {len(policy.nodes) - 1}."
            )


def _check_leaf(leaf: Leaf, where: str, policy: "Policy") -> None:
    if len(leaf.controllers) != len(policy.actions):
        raise PolicyError(
            f"{where}: found {len(leaf.controllers)} controllers, expected one for each of "
            f"{listed_names(policy.actions)}."
        )
    for action, controller in zip(policy.actions, leaf.controllers, strict=True):
        _check_finite(controller.bias, f"{where}: bias of {action.name}")
        for index, weight in controller.weights:
            _check_feature_index(index, f"{where}: {action.name}", policy)
            _check_finite(weight, f"{where}: weight of {policy.features[index].name}")
        indexes = [index for index, _ in controller.weights]
        for index, following in pairwise(indexes):
            if index == following:
                raise PolicyError(
                    f"{where}: {action.name} has two weights for {policy.features[index].name}."
                )
    if leaf.log_std is not None:
        if len(leaf.log_std) != len(policy.actions):
            raise PolicyError(
                f"{where}: log_std has {len(leaf.log_std)} numbers, expected "
                f"{len(policy.actions)}, one for each action."
            )
        for value in leaf.log_std:
            _check_finite(value, f"{where}: log_std")


def _check_is_tree(policy: "Policy") -> None:
    """Refuse cycles, nodes with two parents and nodes that nothing leads to."""
    parent: dict[int, int] = {}
    for index in policy.splits:
        split = policy.split(index)
        for child in (split.below, split.above):
            if child == 0:
                raise PolicyError(f"split {index} leads back to node 0, the root: a cycle.")
            if child in parent:
                raise PolicyError(
                    f"node {child} is reached from split {parent[child]} and from split {index}; "
                    "in a tree each node has one parent."
                )
            parent[child] = index
    # With one parent each, a node that the root does not reach has no parent or is on a cycle.
    reached, waiting = {0}, [0]
    while waiting:
        node = policy.nodes[waiting.pop()]
        if isinstance(node, Split):
            reached |= {node.below, node.above}
            waiting += [node.below, node.above]
    for index in range(len(policy.nodes)):
        if index not in reached:
            why = f"split {parent[index]}, on a cycle," if index in parent else "nothing"
            raise PolicyError(f"node {index} is unreachable: {why} leads to it. Remove it.")


def _check_feature_index(index: object, where: str, policy: "Policy") -> None:
    if not _is_index(index, policy.features):
        raise PolicyError(
            f"{where} uses feature {index!r}, but the features are 0 to "
            f"{len(policy.features) - 1} ({listed_names(policy.features)})."
        )


def _check_finite(value: object, where: str) -> None:
    if not isinstance(value, float) or not math.isfinite(value):
        raise PolicyError(f"{where} is {value!r}, expected a finite number.")


def _is_index(value: object, things: Sequence[object]) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(things)


def listed_names(things: Sequence[Feature] | Sequence[Action]) -> str:
    """Return the names of features or actions, the first of many."""
    names = [thing.name for thing in things]
    return ", ".join(names if len(names) <= 12 else [*names[:11], f"... {len(names)} in all"])


def index_of(name: str, things: Sequence[Feature] | Sequence[Action], kind: str, of: str) -> int:
    """Return the position of a feature or an action by its name."""
    names = [thing.name for thing in things]
    if name not in names:
        raise PolicyError(
            f"{of}: {name!r} is not one of its {kind}s ({listed_names(things)})."
            f"{did_you_mean(name, names)}"
        )
    return names.index(name)
