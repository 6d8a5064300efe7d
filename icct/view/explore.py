"""Policy → what the report needs to be explored: sliders, an example for each leaf, an outline.

The outline says what the picture says, as nested lines of text: for a phone, where a picture of a
tree is too small to read.
"""

import math
from collections.abc import Collection, Mapping
from html import escape
from typing import Any

from icct.policy import Policy, Split
from icct.policy.caption import node_lines, pretty
from icct.policy.layout import Layout
from icct.policy.region import Interval, is_empty, leaf_regions, middle
from icct.policy.text import condition
from icct.policy.usage import share_text
from icct.view.facts import policy_facts, raw_facts
from icct.view.tree import tree_numbers

LARGEST = 1e300  # where a slider ends in any case
CHARACTERS = 60  # of an equation's line in the outline; the browser breaks it where it has to


def explore_data(policy: Policy, plan: Layout, folded: Collection[int]) -> dict[str, Any]:
    """Return what the report's script knows of a policy, ready for JSON."""
    return {
        **policy_facts(policy),
        "raw": raw_facts(policy),
        "tree": {"numbers": tree_numbers(policy, plan, folded)},
        "sliders": sliders(policy),
        "examples": examples(policy),
    }


def sliders(policy: Policy) -> list[dict[str, Any]]:
    """Return one slider for each feature that is looked at, those of splits first; raw numbers.

    >>> from icct.zoo import zoo_policy
    >>> sliders(zoo_policy("ring-cruiser"))
    [{'feature': 21, 'low': 0.0, 'high': 1.0, 'start': 0.5}]
    """
    splits = [
        node.feature for _, i in policy.levels() if isinstance(node := policy.nodes[i], Split)
    ]
    found = []
    for feature in dict.fromkeys((*splits, *policy.used_features)):  # each once
        interval = _span(policy, feature)
        ends = {"low": interval.low, "high": interval.high}
        found.append({"feature": feature, **ends, "start": middle(interval)})
    return found


def examples(policy: Policy) -> dict[str, list[float]]:
    """Return leaf → an observation in the middle of what reaches it; dead leaves have none."""
    spans = [_span(policy, feature) for feature in range(len(policy.features))]
    found = {}
    for leaf, box in leaf_regions(policy).items():
        inside = tuple(i.intersect(span) for i, span in zip(box, spans, strict=True))
        if not is_empty(inside):
            observation = [middle(interval) for interval in inside]
            if policy.leaf_of(observation) == leaf:
                found[str(leaf)] = observation
    return found


def _span(policy: Policy, feature: int) -> Interval:
    """Return the bounds of a feature, or what lies around its thresholds where it has none."""
    part = policy.features[feature]
    limits = [
        node.threshold
        for node in policy.nodes
        if isinstance(node, Split) and node.feature == feature
    ]
    around = min(2 * max((abs(limit) for limit in limits), default=0.0) + 1.0, LARGEST)
    low = part.low if math.isfinite(part.low) else min(-around, part.high)
    return Interval(low, part.high if math.isfinite(part.high) else max(around, low))


def outline_html(policy: Policy, shares: Mapping[int, float], folded: Mapping[int, str]) -> str:
    """Return the tree as nested lines, as `icct show` prints it; folded branches open on a tap."""
    lines = []
    waiting: list[tuple[int, int] | str] = [(0, 0)]  # (node, depth), or a line to write as it is
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            lines.append(item)
            continue
        index, depth = item
        if index in folded:
            words = f"<b>{index}</b> {escape(folded[index])}"
            lines.append(f'<details style="--depth:{depth}"><summary>{words}</summary>')
            waiting.append("</details>")
        node = policy.nodes[index]
        if isinstance(node, Split):
            text = escape(f"if {pretty(condition(policy, node))}")
            waiting += [(node.above, depth + 1), _line(node.above, depth, "else")]
            waiting.append((node.below, depth + 1))
        else:
            note = [share_text(shares[index])] if index in shares else []
            text = "<br>".join(escape(word) for word in (*note, *_equations(policy, index)))
        lines.append(_line(index, depth, f"<b>{index}</b> {text}"))
    return f'<div class="outline">{"".join(lines)}</div>'


def _line(index: int, depth: int, text: str) -> str:
    return f'<div data-node="{index}" style="--depth:{depth}">{text}</div>'


def _equations(policy: Policy, index: int) -> list[str]:
    found: list[str] = []
    for line in node_lines(policy, policy.nodes[index], CHARACTERS):
        if line.startswith(" ") and found:
            found[-1] += f" {line.strip()}"
        else:
            found.append(line)
    return found
