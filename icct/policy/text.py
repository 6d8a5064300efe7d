"""Policy → words: an indented tree, or one rule per leaf. Names and units, never indexes.

Numbers are shortened for reading (three significant digits, at least two decimals); the file has
them in full.
"""

import math
from collections.abc import Collection

from icct.policy.parts import Action, Controller, Leaf, Split, Squash, squash
from icct.policy.policy import Policy
from icct.policy.region import Interval, node_regions

STEP = "    "


def describe(policy: Policy) -> str:
    """Return a few lines that say what a policy is and where it comes from."""
    p = policy.provenance
    lines = [
        f"{policy.name}: {_count(len(policy.leaves), 'leaf', 'leaves')}, depth {policy.depth}, "
        f"{_count(policy.parameter_count, 'parameter')}, "
        f"{_count(len(policy.features), 'feature')}, {_count(len(policy.actions), 'action')}"
    ]
    origin = [("task", p.task), ("method", p.method), ("seed", p.seed), ("commit", p.commit)]
    known = [f"{key} {value}" for key, value in origin if value is not None]
    lines += [", ".join(known)] if known else []
    return "\n".join([*lines, *(f"- {sentence}" for sentence in p.history)])


def _count(number: int, one: str, more: str = "") -> str:
    return f"{number} {one if number == 1 else more or one + 's'}"


def tree_text(policy: Policy, path: Collection[int] = (), numbered: bool = True) -> str:
    """Return the policy as indented rules.

    Args:
        policy: The policy to write out.
        path: Nodes to mark with `>`, such as `policy.path(observation)`.
        numbered: Whether each line ends with its node's number, which `icct edit` takes.

    >>> from icct.policy import Action, Controller, Feature, Leaf, Policy, Split
    >>> policy = Policy(
    ...     "lander", (Feature("angle", "rad"), Feature("left_leg_contact")),
    ...     (Action("main_engine"),),
    ...     (Split(1, 0.5, below=1, above=2),
    ...      Leaf((Controller(((0, 2.1),), 0.2),)), Leaf((Controller(),))))
    >>> print(tree_text(policy, numbered=False))
    if left_leg_contact <= 0.50:
        main_engine = tanh(2.10 angle + 0.20)
    else:
        main_engine = 0.00
    """
    lines: list[tuple[int, str]] = []
    waiting: list[tuple[int, int, str]] = [(0, 0, "")]  # (node, depth, "else" line before it)
    while waiting:
        index, depth, lead = waiting.pop()
        node = policy.nodes[index]
        if lead:
            lines.append((index, f"{STEP * (depth - 1)}{lead}"))
        if isinstance(node, Split):
            test = f"{STEP * depth}if {condition(policy, node)}:"
            lines.append((index, test + (f"   [{index}]" if numbered else "")))
            waiting += [(node.above, depth + 1, "else:"), (node.below, depth + 1, "")]
        else:
            rules = leaf_rules(policy, node)
            for position, rule in enumerate(rules):
                mark = f"   [{index}]" if numbered and position == len(rules) - 1 else ""
                lines.append((index, f"{STEP * depth}{rule}{mark}"))
    marked = set(path)
    if not marked:
        return "\n".join(line for _, line in lines)
    return "\n".join(f"{'>' if index in marked else ' '} {line}" for index, line in lines)


def rules_text(policy: Policy) -> str:
    """Return one line per leaf: when it applies, and what it does.

    >>> from icct.zoo import zoo_policy
    >>> print(rules_text(zoo_policy("ring-cruiser")).splitlines()[0])
    if speed_ego <= 0.10 x 30 m/s: acceleration = 1.00 m/s^2
    """
    when = reached_when(policy)
    lines = []
    for index in when:
        node = policy.nodes[index]
        if isinstance(node, Leaf):
            rules = "; ".join(leaf_rules(policy, node))
            lines.append(f"if {when[index]}: {rules}" if when[index] else rules)
    return "\n".join(lines)


def reached_when(policy: Policy) -> dict[int, str]:
    """Return node → when an observation reaches it, in words; empty words for the root.

    >>> from icct.zoo import zoo_policy
    >>> reached_when(zoo_policy("ring-cruiser"))[3]
    '0.10 < speed_ego <= 0.13 x 30 m/s'
    """
    everywhere = tuple(Interval(-math.inf, math.inf) for _ in policy.features)
    return {
        index: " and ".join(
            _interval(policy.features[f].name, policy.features[f].unit, interval)
            for f, interval in enumerate(box)
            if interval != everywhere[f]
        )
        for index, box in node_regions(policy, everywhere)
    }


def leaf_rules(policy: Policy, leaf: Leaf) -> tuple[str, ...]:
    """Return one equation per action of a leaf."""
    return tuple(
        _equation(policy, action, controller)
        for action, controller in zip(policy.actions, leaf.controllers, strict=True)
    )


def number(value: float) -> str:
    """Return a number for reading: three significant digits, at least two decimals.

    >>> [number(value) for value in (2.1, 0.1164, -0.00123, 123.456, 0.0, 1e-9, -math.inf)]
    ['2.10', '0.116', '-0.00123', '123.46', '0.00', '1e-09', '-inf']
    """
    if value == 0.0:
        return "0.00"
    if math.isinf(value):  # a limit that is none
        return str(value)
    exponent = math.floor(math.log10(abs(value)))
    if not -5 <= exponent <= 6:
        return f"{value:.3g}"
    whole, _, fraction = f"{value:.{max(2, 2 - exponent)}f}".partition(".")
    return f"{whole}.{fraction.rstrip('0').ljust(2, '0')}"


def condition(policy: Policy, split: Split) -> str:
    """Return when a split leads below, such as `gap_m <= 2.50 m`."""
    feature = policy.features[split.feature]
    return f"{feature.name} <= {with_unit(split.threshold, feature.unit)}"


def _interval(name: str, unit: str, interval: Interval) -> str:
    if interval.low == -math.inf:
        return f"{name} <= {with_unit(interval.high, unit)}"
    if interval.high == math.inf:
        return f"{name} > {with_unit(interval.low, unit)}"
    return f"{number(interval.low)} < {name} <= {with_unit(interval.high, unit)}"


def with_unit(value: float, unit: str) -> str:
    """Return a number for reading, followed by its unit where it has one."""
    return f"{number(value)} {unit}" if unit else number(value)


def _equation(policy: Policy, action: Action, controller: Controller) -> str:
    unit = f" {action.unit}" if action.unit else ""
    if not controller.weights:
        constant = float(squash(controller.bias, action, policy.squash))
        return f"{action.name} = {number(constant)}{unit}"
    return f"{action.name} = {_squashed(_sum(policy, controller), action, policy.squash)}{unit}"


def _sum(policy: Policy, controller: Controller) -> str:
    text = ""
    terms = [(weight, policy.features[index].name) for index, weight in controller.weights]
    if controller.bias != 0.0:
        terms.append((controller.bias, ""))
    for value, name in terms:
        sign = ("-" if value < 0 else "") if not text else (" - " if value < 0 else " + ")
        text += f"{sign}{number(abs(value))}{' ' + name if name else ''}"
    return text


def _squashed(inside: str, action: Action, kind: Squash) -> str:
    if kind == "none":
        return inside
    if kind == "clip":
        return f"clip({inside}, {number(action.low)}, {number(action.high)})"
    centre = f"{number(action.centre)} + " if action.centre else ""
    scale = f"{number(action.half_range)} " if action.half_range != 1.0 else ""
    return f"{centre}{scale}tanh({inside})"
