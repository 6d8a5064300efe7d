"""Policy → (Policy, report): change one thing by hand and learn what the change can do.

A number is raw, or a text with its unit: `"3.3 m/s"`. Nothing is changed in place. Each edit adds a
sentence to the policy's history, and its report bounds how far the new policy can act from the old
one inside the declared bounds.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction

from icct.errors import PolicyError
from icct.policy.difference import ActionBound, difference
from icct.policy.given import read_bias, read_quantity, read_weight
from icct.policy.parts import Controller, Leaf, Node, Split
from icct.policy.policy import Policy
from icct.policy.quantity import exact_scale, physical_text
from icct.policy.units import ONE, scales_of


@dataclass(frozen=True)
class Report:
    """What a change did: one sentence per change, and how far each action can have moved."""

    changes: tuple[str, ...]
    bounds: tuple[ActionBound, ...]

    def __str__(self) -> str:
        moved = [bound for bound in self.bounds if bound.largest > 0]
        effect = [f"  {bound}" for bound in moved] or ["  no action changes inside the bounds"]
        return "\n".join([*(self.changes or ("nothing changed",)), *effect])


def set_threshold(policy: Policy, node: int, threshold: float | str) -> tuple[Policy, Report]:
    """Return the policy with another threshold at a split.

    >>> from icct.zoo import zoo_policy
    >>> edited, report = set_threshold(zoo_policy("ring-cruiser"), 0, "3.6 m/s")
    >>> report.changes
    ('split 0: threshold 0.1 becomes 0.12 (3 to 3.6 m/s)',)
    """
    split = _split(policy, node)
    feature = policy.features[split.feature]
    with _naming(f"split {node}: threshold"):
        raw = read_quantity(threshold, feature) if isinstance(threshold, str) else threshold
    moved = _moved(split.threshold, raw, *exact_scale(feature.unit))
    return _changed(
        policy, {node: replace(split, threshold=raw)}, f"split {node}: threshold {moved}"
    )


def set_weight(
    policy: Policy, node: int, action: str, feature: str, weight: float | str
) -> tuple[Policy, Report]:
    """Return the policy with another weight of one feature in a leaf; 0 takes the feature out."""
    leaf, position = _leaf(policy, node), policy.action_index(action)
    index = policy.feature_index(feature)
    with _naming(f"leaf {node}: weight of {feature}"):
        if isinstance(weight, str):
            weight = read_weight(weight, policy, position, index)
    weights = dict(leaf.controllers[position].weights)
    scale, unit = scales_of(policy).weight(index, position), _weight_unit(policy, position, index)
    moved = _moved(weights.pop(index, 0.0), weight, scale, unit)
    change = f"leaf {node}: {action} {feature} weight {moved}"
    if weight != 0.0:
        weights[index] = weight
    rule = Controller(tuple(weights.items()), leaf.controllers[position].bias)
    return _changed(policy, {node: _with_rule(leaf, position, rule)}, change)


def set_bias(policy: Policy, node: int, action: str, bias: float | str) -> tuple[Policy, Report]:
    """Return the policy with another constant term in a leaf."""
    leaf, position = _leaf(policy, node), policy.action_index(action)
    with _naming(f"leaf {node}: bias of {action}"):
        if isinstance(bias, str):
            bias = read_bias(bias, policy, position)
    rule = leaf.controllers[position]
    unit = "" if policy.squash == "tanh" else policy.actions[position].physical_unit
    moved = _moved(rule.bias, bias, scales_of(policy).bias(position), unit)
    change = f"leaf {node}: {action} bias {moved}"
    return _changed(policy, {node: _with_rule(leaf, position, replace(rule, bias=bias))}, change)


def replace_leaf(
    policy: Policy, node: int, controllers: Mapping[str, Controller]
) -> tuple[Policy, Report]:
    """Return the policy with other rules for some actions of a leaf."""
    leaf = _leaf(policy, node)
    for action, rule in controllers.items():
        leaf = _with_rule(leaf, policy.action_index(action), rule)
    change = f"leaf {node}: new rules for {', '.join(controllers)}"
    return _changed(policy, {node: leaf}, change)


def replace_subtree(policy: Policy, node: int, subtree: tuple[Node, ...]) -> tuple[Policy, Report]:
    """Return the policy with the node, and all below it, replaced by another tree.

    The indexes inside `subtree` count from its own root, 0. A single leaf prunes the tree there.
    """
    _node(policy, node)
    graft = replace(policy, nodes=subtree).nodes  # refuses a subtree that is not a sound tree
    offset = len(policy.nodes)
    nodes: dict[int, Node] = dict(enumerate(policy.nodes))
    for position, new in enumerate(graft):
        if isinstance(new, Split):
            new = replace(new, below=new.below + offset, above=new.above + offset)
        nodes[node if position == 0 else offset + position] = new
    change = f"node {node}: replaced by a tree of {len(graft)} nodes"
    edited = replace(policy, nodes=renumbered(nodes)).noted(f"edited: {change}")
    return edited, Report((change,), difference(policy, edited).actions)


def subtree_of(policy: Policy, node: int) -> tuple[Node, ...]:
    """Return the node and all below it as a tree of its own, with its root at 0."""
    _node(policy, node)
    return renumbered(dict(enumerate(policy.nodes)), root=node)


def rename(policy: Policy, names: Mapping[str, str]) -> tuple[Policy, Report]:
    """Return the policy with other names for features or actions."""
    for name in names:
        if name not in {a.name for a in policy.actions}:
            policy.feature_index(name)  # raises for a name that is neither
    edited = replace(
        policy,
        features=tuple(replace(f, name=names.get(f.name, f.name)) for f in policy.features),
        actions=tuple(replace(a, name=names.get(a.name, a.name)) for a in policy.actions),
    )
    changes = tuple(f"{old} is now called {new}" for old, new in names.items())
    edited = edited.noted(f"renamed: {', '.join(changes)}")
    still = tuple(ActionBound(action.name, action.unit, 0.0) for action in edited.actions)
    return edited, Report(changes, still)


def renumbered(nodes: Mapping[int, Node], root: int = 0) -> tuple[Node, ...]:
    """Return the nodes that the root reaches, numbered from the root down, `below` first."""
    order, waiting = [], [root]
    while waiting:
        index = waiting.pop()
        order.append(index)
        if isinstance(node := nodes[index], Split):
            waiting += [node.above, node.below]
    new_index = {old: new for new, old in enumerate(order)}
    return tuple(
        replace(node, below=new_index[node.below], above=new_index[node.above])
        if isinstance(node := nodes[old], Split)
        else node
        for old in order
    )


@contextmanager
def _naming(what: str) -> Iterator[None]:
    """Say what it was that could not be read."""
    try:
        yield
    except ValueError as error:
        raise PolicyError(f"{what} is {error}.") from None


def _moved(before: float, after: float, scale: Fraction, unit: str) -> str:
    """Return how a number changes, with every digit; in physical units where those differ."""
    raw = f"{physical_text(before, ONE)} becomes {physical_text(after, ONE)}"
    if scale == 1:
        return raw
    physical = f"{physical_text(before, scale)} to {physical_text(after, scale)} {unit}"
    return f"{raw} ({physical.rstrip()})"


def _weight_unit(policy: Policy, action: int, feature: int) -> str:
    above = "" if policy.squash == "tanh" else policy.actions[action].physical_unit
    return f"{above} per {policy.features[feature].physical_unit or 1}".strip()


def _changed(policy: Policy, nodes: dict[int, Node], change: str) -> tuple[Policy, Report]:
    replaced = tuple(nodes.get(index, node) for index, node in enumerate(policy.nodes))
    edited = replace(policy, nodes=replaced).noted(f"edited: {change}")
    return edited, Report((change,), difference(policy, edited).actions)


def _with_rule(leaf: Leaf, position: int, rule: Controller) -> Leaf:
    rules = (*leaf.controllers[:position], rule, *leaf.controllers[position + 1 :])
    return replace(leaf, controllers=rules)


def _node(policy: Policy, index: int) -> Node:
    if not 0 <= index < len(policy.nodes):
        raise PolicyError(
            f"{policy.name} has no node {index}; its nodes are 0 to {len(policy.nodes) - 1}."
        )
    return policy.nodes[index]


def _split(policy: Policy, index: int) -> Split:
    node = _node(policy, index)
    if not isinstance(node, Split):
        raise PolicyError(
            f"{policy.name}: node {index} is a leaf and has no threshold; its splits are "
            f"{', '.join(map(str, policy.splits)) or 'none'}."
        )
    return node


def _leaf(policy: Policy, index: int) -> Leaf:
    node = _node(policy, index)
    if not isinstance(node, Leaf):
        raise PolicyError(
            f"{policy.name}: node {index} is a split and has no rules; its leaves are "
            f"{', '.join(map(str, policy.leaves))}."
        )
    return node
