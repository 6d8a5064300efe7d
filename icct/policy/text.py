"""Policy → words: an indented tree, or one rule per leaf. Names and physical units, never indexes.

Numbers are shortened for reading (`short`: three significant digits, at least two decimals), or
written with every digit (`in_full`: what is written reads back as the same float64).
"""

import math
from collections.abc import Callable, Collection
from fractions import Fraction
from typing import TYPE_CHECKING

from icct.policy.parts import Action, Controller, Leaf, Split, squash
from icct.policy.quantity import exact_scale, physical_text, raw_number
from icct.policy.region import Interval, node_regions
from icct.policy.units import ONE

if TYPE_CHECKING:
    from icct.policy.policy import Policy

STEP = "    "
Write = Callable[[float, Fraction], str]  # a raw number times a scale → its digits


def short(raw: float, scale: Fraction = ONE) -> str:
    """Return a number in its physical unit for reading, see `number`."""
    return number(raw * float(scale))


def in_full(raw: float, scale: Fraction = ONE) -> str:
    """Return a number in its physical unit with every digit that it takes to read it back."""
    return physical_text(raw, scale)


def describe(policy: "Policy") -> str:
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


def tree_text(
    policy: "Policy", path: Collection[int] = (), numbered: bool = True, write: Write = short
) -> str:
    """Return the policy as indented rules, in physical units.

    Args:
        policy: The policy to write out.
        path: Nodes to mark with `>`, such as `policy.path(observation)`.
        numbered: Whether each line ends with its node's number, which `icct edit` takes.
        write: How numbers are written, `short` or `in_full`.

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
            test = f"{STEP * depth}if {condition(policy, node, write)}:"
            lines.append((index, test + (f"   [{index}]" if numbered else "")))
            waiting += [(node.above, depth + 1, "else:"), (node.below, depth + 1, "")]
        else:
            rules = leaf_rules(policy, node, write)
            for position, rule in enumerate(rules):
                mark = f"   [{index}]" if numbered and position == len(rules) - 1 else ""
                lines.append((index, f"{STEP * depth}{rule}{mark}"))
    marked = set(path)
    if not marked:
        return "\n".join(line for _, line in lines)
    return "\n".join(f"{'>' if index in marked else ' '} {line}" for index, line in lines)


def is_rounded(policy: "Policy") -> bool:
    """Return whether `short` leaves digits of some number of a policy out.

    >>> from icct.zoo import zoo_policy
    >>> is_rounded(zoo_policy("ring-cruiser"))
    False
    """
    exact = []

    def write(raw: float, scale: Fraction) -> str:
        text = short(raw, scale)
        exact.append(math.isinf(raw) or raw_number(text, scale) == raw)
        return text

    tree_text(policy, write=write)
    return not all(exact)


def rules_text(policy: "Policy", write: Write = short) -> str:
    """Return one line per leaf: when it applies, and what it does.

    >>> from icct.zoo import zoo_policy
    >>> print(rules_text(zoo_policy("ring-cruiser")).splitlines()[0])
    if speed_ego <= 3.00 m/s: acceleration = 1.00 m/s^2
    """
    when = reached_when(policy, write)
    lines = []
    for index in when:
        node = policy.nodes[index]
        if isinstance(node, Leaf):
            rules = "; ".join(leaf_rules(policy, node, write))
            lines.append(f"if {when[index]}: {rules}" if when[index] else rules)
    return "\n".join(lines)


def reached_when(policy: "Policy", write: Write = short) -> dict[int, str]:
    """Return node → when an observation reaches it, in words; empty words for the root.

    >>> from icct.zoo import zoo_policy
    >>> reached_when(zoo_policy("ring-cruiser"))[3]
    '3.00 < speed_ego <= 3.90 m/s'
    """
    everywhere = tuple(Interval(-math.inf, math.inf) for _ in policy.features)
    return {
        index: " and ".join(
            _interval(policy.features[f].name, policy.features[f].unit, interval, write)
            for f, interval in enumerate(box)
            if interval != everywhere[f]
        )
        for index, box in node_regions(policy, everywhere)
    }


def leaf_rules(policy: "Policy", leaf: Leaf, write: Write = short) -> tuple[str, ...]:
    """Return one equation per action of a leaf, in physical units."""
    return tuple(
        equation(policy, position, rule, write) for position, rule in enumerate(leaf.controllers)
    )


def number(value: float) -> str:
    """Return a number for reading: three significant digits, at least two decimals.

    >>> [number(value) for value in (2.1, 0.1164, -0.00123, 123.456, 0.0, 1e-9, -math.inf)]
    ['2.10', '0.116', '-0.00123', '123.46', '0.00', '1e-09', '-inf']
    """
    if value == 0.0:
        return "0.00"
    if not math.isfinite(value):  # a limit that is none
        return str(value)
    exponent = math.floor(math.log10(abs(value)))
    if not -5 <= exponent <= 6:
        return f"{value:.3g}"
    whole, _, fraction = f"{value:.{max(2, 2 - exponent)}f}".partition(".")
    return f"{whole}.{fraction.rstrip('0').ljust(2, '0')}"


def condition(policy: "Policy", split: Split, write: Write = short) -> str:
    """Return when a split leads below, such as `gap_m <= 2.50 m`."""
    feature = policy.features[split.feature]
    return f"{feature.name} <= {limit_text(split.threshold, feature.unit, write)}"


def limit_text(raw: float, unit: str, write: Write = short) -> str:
    """Return a raw number in its physical unit.

    >>> limit_text(0.13, "x 30 m/s")
    '3.90 m/s'
    """
    scale, physical = exact_scale(unit)
    if physical[:1].isdigit():  # "0 or 1" would read as a second number
        physical = f"({physical})"
    return f"{write(raw, scale)} {physical}".rstrip()


def value_text(name: str, raw: float, unit: str) -> str:
    """Return `name=raw` as `--observation` takes it, with the physical value where that differs.

    >>> value_text("speed", 0.13, "x 30 m/s"), value_text("angle", 0.25, "rad")
    ('speed=0.13 (3.90 m/s)', 'angle=0.25')
    """
    physical = f" ({limit_text(raw, unit)})" if exact_scale(unit)[0] != 1 else ""
    return f"{name}={raw!r}{physical}"


def equation(
    policy: "Policy", position: int, rule: Controller, write: Write = short, left_out: int = 0
) -> str:
    """Return what a rule makes of one action, in physical units; `left_out` terms are counted."""
    action = policy.actions[position]
    unit = f" {action.physical_unit}" if action.physical_unit else ""
    if not rule.weights and not left_out:
        constant = float(squash(rule.bias, action, policy.squash))
        return f"{action.name} = {write(constant, exact_scale(action.unit)[0])}{unit}"
    inside = _sum(policy, position, rule, write)
    if left_out:
        inside += f"{' + ' if inside else ''}{left_out} smaller terms"
    return f"{action.name} = {_squashed(inside, policy, action, write)}{unit}"


def _interval(name: str, unit: str, interval: Interval, write: Write) -> str:
    if interval.low == -math.inf:
        return f"{name} <= {limit_text(interval.high, unit, write)}"
    if interval.high == math.inf:
        return f"{name} > {limit_text(interval.low, unit, write)}"
    low = write(interval.low, exact_scale(unit)[0])
    return f"{low} < {name} <= {limit_text(interval.high, unit, write)}"


def _sum(policy: "Policy", position: int, rule: Controller, write: Write) -> str:
    text = ""
    whole = ONE if policy.squash == "tanh" else exact_scale(policy.actions[position].unit)[0]
    terms = [
        (weight, whole / exact_scale(policy.features[index].unit)[0], policy.features[index].name)
        for index, weight in rule.weights
    ]
    if rule.bias != 0.0:
        terms.append((rule.bias, whole, ""))
    for value, scale, name in terms:
        sign = ("-" if value < 0 else "") if not text else (" - " if value < 0 else " + ")
        text += f"{sign}{write(abs(value), scale)}{' ' + name if name else ''}"
    return text


def _squashed(inside: str, policy: "Policy", action: Action, write: Write) -> str:
    if policy.squash == "none":
        return inside
    scale = exact_scale(action.unit)[0]
    if policy.squash == "clip":
        return f"clip({inside}, {write(action.low, scale)}, {write(action.high, scale)})"
    centre = f"{write(action.centre, scale)} + " if action.centre else ""
    half = action.half_range * float(scale)
    return f"{centre}{write(action.half_range, scale) + ' ' if half != 1.0 else ''}tanh({inside})"
