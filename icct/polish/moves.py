"""Structure moves: other features for a split or a leaf, a rule taken over from the sibling.

Each move keeps the tree's shape and the number of features of every rule, and changes the action
as little as it can, but for a nudge: a race of a few episodes sees only what acts differently.
"""

from dataclasses import replace

import numpy as np

from icct.policy import Controller, Leaf, Policy, Split
from icct.policy.parts import Node
from icct.polish.game import Table
from icct.polish.parameters import Rows, rows_by_node, rule_unit, values_of

QUANTILES = (0.05, 0.95)  # a new threshold lies between these of what the split sees
NUDGE = 0.5  # of the action's unit: how far a move shifts a rule, as a standard deviation


def structure_changes(before: Policy, after: Policy) -> tuple[str, ...]:
    """Return in words where two policies of one shape use other features."""
    found = []
    for index, (old, new) in enumerate(zip(before.nodes, after.nodes, strict=True)):
        if isinstance(old, Split) and isinstance(new, Split):
            tested = before.features[new.feature].name
            if new.feature != old.feature:
                found.append(f"split {index} tests {tested} > {new.threshold:.3g}")
            elif new.below != old.below:
                found.append(f"split {index} tests {tested} the other way round")
        elif isinstance(old, Leaf) and isinstance(new, Leaf):
            pairs = zip(before.actions, old.controllers, new.controllers, strict=True)
            for action, was, now in pairs:
                used, uses = ({feature for feature, _ in rule.weights} for rule in (was, now))
                if used != uses:
                    names = ", ".join(before.features[f].name for f in sorted(uses)) or "nothing"
                    found.append(f"leaf {index}: {action.name} uses {names}")
    return tuple(found)


def random_move(policy: Policy, seen: Table, rng: np.random.Generator) -> Policy | None:
    """Return a policy one random move away; None when the drawn place has none."""
    rows = rows_by_node(policy, seen)
    kinds = [_split_feature, _leaf_feature, _leaf_feature, _sibling_rule]
    return kinds[rng.integers(len(kinds))](policy, rows, rng)


def _split_feature(policy: Policy, rows: Rows, rng: np.random.Generator) -> Policy | None:
    """Test another feature, or the same one elsewhere, and revive the leaves nobody reached."""
    live = [i for i in policy.splits if len(rows[i]) > 1]
    feature = int(rng.integers(len(policy.features)))
    if not live:
        return None
    index = live[rng.integers(len(live))]
    split, column = policy.split(index), rows[index][:, feature]
    threshold = float(np.quantile(column, rng.uniform(*QUANTILES)))
    if not column.min() <= threshold < column.max():
        return None
    new = replace(split, feature=feature, threshold=threshold)
    # Turned round where that leaves more observations on the side where they were.
    was_above = rows[index][:, split.feature] > split.threshold
    if np.mean(was_above == (column > threshold)) < 0.5:
        new = replace(new, below=split.above, above=split.below)
    nodes = (*policy.nodes[:index], new, *policy.nodes[index + 1 :])
    return _revived(policy, replace(policy, nodes=nodes), rows, rng)


def _revived(before: Policy, after: Policy, rows: Rows, rng: np.random.Generator) -> Policy:
    """Give each leaf that is reached for the first time the rules its observations had."""
    nodes: list[Node] = list(after.nodes)
    now = rows_by_node(after, rows[0])
    for index in after.leaves:
        if len(now[index]) and not len(rows[index]):
            donors = np.bincount(before.leaves_of(now[index]))
            donor = before.leaf(int(donors.argmax()))
            leaf = nodes[index] = _same_width(after.leaf(index), donor)
            action = int(rng.integers(len(before.actions)))
            nodes[index] = _nudged(before, leaf, action, now[index], rng)
    return replace(after, nodes=tuple(nodes))


def _leaf_feature(policy: Policy, rows: Rows, rng: np.random.Generator) -> Policy | None:
    """Exchange one feature of a rule for another; the new rule is fitted to the old."""
    live = [i for i in policy.leaves if len(rows[i]) > 1]
    index, action = live[rng.integers(len(live))], int(rng.integers(len(policy.actions)))
    leaf = policy.leaf(index)
    rule, seen = leaf.controllers[action], rows[index]
    used = [feature for feature, _ in rule.weights]
    others = [f for f in range(len(policy.features)) if f not in used and seen[:, f].std() > 0]
    if not used or not others:
        return None
    old, new = used[rng.integers(len(used))], others[rng.integers(len(others))]
    kept = [feature for feature in used if feature != old]
    unit = rule_unit(policy, action, rule, seen)
    fitted = _fitted(rule, [*kept, new], seen, unit)
    change = NUDGE * unit / float(seen[:, new].std()) * rng.normal()
    weights = dict(fitted.weights)
    weights[new] += change
    fitted = Controller(tuple(weights.items()), fitted.bias - change * float(seen[:, new].mean()))
    return _with_leaf(policy, index, _with_rule(leaf, action, fitted))


def _fitted(rule: Controller, features: list[int], seen: Table, unit: float) -> Controller:
    """Return the rule over other features that is closest to a rule on what a leaf sees."""
    wanted = np.clip(values_of(rule, seen), -3 * unit, 3 * unit)  # beyond, all is saturated
    middle, spread = seen[:, features].mean(axis=0), seen[:, features].std(axis=0)
    spread[spread == 0] = 1.0
    table = (seen[:, features] - middle) / spread
    ridge = 1e-3 * len(seen) * np.eye(len(features))  # equal columns have no unique fit
    weights = np.linalg.solve(table.T @ table + ridge, table.T @ (wanted - wanted.mean())) / spread
    bias = float(wanted.mean() - weights @ middle)
    return Controller(tuple(zip(features, weights.tolist(), strict=True)), bias)


def _sibling_rule(policy: Policy, rows: Rows, rng: np.random.Generator) -> Policy | None:
    """Take over the rule of the sibling leaf for one action."""
    pairs = [
        (node.below, node.above)
        for node in (policy.nodes[i] for i in policy.splits)
        if isinstance(node, Split)
        and isinstance(policy.nodes[node.below], Leaf)
        and isinstance(policy.nodes[node.above], Leaf)
        and len(rows[node.below])
        and len(rows[node.above])
    ]
    if not pairs:
        return None
    pair = pairs[rng.integers(len(pairs))]
    index, sibling = pair if rng.random() < 0.5 else pair[::-1]
    leaf, donor = policy.leaf(index), policy.leaf(sibling)
    action = int(rng.integers(len(policy.actions)))
    if len(donor.controllers[action].weights) > len(leaf.controllers[action].weights):
        return None
    taken = _with_rule(leaf, action, donor.controllers[action])
    return _with_leaf(policy, index, _nudged(policy, taken, action, rows[index], rng))


def _same_width(node: Leaf, donor: Leaf) -> Leaf:
    """Return the donor's rules where they use no more features than the node's own did."""
    rules = [
        theirs if len(theirs.weights) <= len(ours.weights) else ours
        for ours, theirs in zip(node.controllers, donor.controllers, strict=True)
    ]
    return replace(node, controllers=tuple(rules))


def _nudged(policy: Policy, leaf: Leaf, action: int, seen: Table, rng: np.random.Generator) -> Leaf:
    rule = leaf.controllers[action]
    step = NUDGE * rule_unit(policy, action, rule, seen) * rng.normal()
    return _with_rule(leaf, action, replace(rule, bias=rule.bias + float(step)))


def _with_rule(leaf: Leaf, action: int, rule: Controller) -> Leaf:
    rules = (*leaf.controllers[:action], rule, *leaf.controllers[action + 1 :])
    return replace(leaf, controllers=rules)


def _with_leaf(policy: Policy, index: int, leaf: Leaf) -> Policy:
    return replace(policy, nodes=(*policy.nodes[:index], leaf, *policy.nodes[index + 1 :]))
