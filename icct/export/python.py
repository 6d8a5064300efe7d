"""Policy → one Python file that needs nothing but Python: `act(observation)` and what it rests on.

The numbers are those of the C export, to the last bit.
"""

import math
from collections.abc import Iterator, Sequence

from icct.errors import ExportError
from icct.export import tanh
from icct.export.about import about, inputs, outputs, shortened
from icct.policy import Action, Policy, Split
from icct.policy.text import condition

DEEPEST = 90  # Python reads 100 levels of indentation
STEP = "    "


def export_python(policy: Policy) -> str:
    """Return the policy as the text of a Python file with a function `act`.

    >>> from icct.zoo import zoo_policy
    >>> exported = {}
    >>> exec(export_python(zoo_policy("ring-cruiser")), exported)
    >>> exported["act"]([0.05] * 44)
    [1.0]
    """
    if policy.depth > DEEPEST:
        raise ExportError(
            f"{shortened(policy.name)} is {policy.depth} splits deep; Python reads {DEEPEST}. "
            "Try icct simplify first."
        )
    return "\n".join(_lines(policy)) + "\n"


def _lines(policy: Policy) -> Iterator[str]:
    yield "# -*- coding: utf-8 -*-"  # first, so that no name below can ask for another encoding
    yield from _comment([*about(policy), "", *inputs(policy), "", *outputs(policy)])
    yield ""
    yield "from math import isfinite"
    yield ""
    yield ""
    yield "def act(observation):"
    yield f'{STEP}"""Return the action for one observation, a list of {len(policy.actions)}."""'
    yield f"{STEP}return leaf_and_action(observation)[1]"
    yield ""
    yield ""
    yield "def leaf_and_action(observation):"
    yield f'{STEP}"""Return the number of the leaf that an observation reaches, and the action."""'
    yield f"{STEP}observation = [float(number) for number in observation]"
    yield f"{STEP}if len(observation) != {len(policy.features)}:"
    yield f'{STEP * 2}raise ValueError("an observation has {len(policy.features)} numbers")'
    yield f"{STEP}if not all(map(isfinite, observation)):"
    yield f'{STEP * 2}raise ValueError("a number of the observation is not finite")'
    yield from _tree(policy)
    yield f"{STEP}action = ["
    for position, action in enumerate(policy.actions):
        words = f"  # {_action_words(action)}"
        yield f"{STEP * 2}{_squashed(policy, action, f'value_{position}')},{words}"
    yield f"{STEP}]"
    yield f"{STEP}if not all(map(isfinite, action)):"
    yield f'{STEP * 2}raise ValueError("the observation is too large for the rule of its leaf")'
    yield f"{STEP}return leaf, action"
    if policy.squash == "tanh":
        yield from _tanh()


def _tree(policy: Policy) -> Iterator[str]:
    waiting: list[tuple[int, int] | str] = [(1, 0)]  # (depth, node), or a line to write as it is
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
            continue
        depth, index = item
        node, indent = policy.nodes[index], STEP * depth
        if isinstance(node, Split):
            test = f"if observation[{node.feature}] <= {node.threshold!r}:"
            yield f"{indent}{test}  # {shortened(condition(policy, node))}"
            waiting += [(depth + 1, node.above), f"{indent}else:", (depth + 1, node.below)]
            continue
        yield f"{indent}leaf = {index}"
        for position, (action, rule) in enumerate(
            zip(policy.actions, node.controllers, strict=True)
        ):
            yield f"{indent}value_{position} = {rule.bias!r}  # {shortened(action.name)}"
            for feature, weight in rule.weights:
                words = shortened(policy.features[feature].name)
                yield f"{indent}value_{position} += {weight!r} * observation[{feature}]  # {words}"


def _squashed(policy: Policy, action: Action, value: str) -> str:
    if policy.squash == "tanh":
        return f"{action.centre!r} + {action.half_range!r} * tanh({value})"
    if policy.squash == "clip":
        low = f"max({value}, {action.low!r})" if math.isfinite(action.low) else value
        return f"min({low}, {action.high!r})" if math.isfinite(action.high) else low
    return value


def _tanh() -> Iterator[str]:
    yield ""
    yield ""
    yield "def tanh(x):"
    yield f'{STEP}"""Return tanh(x) by plain arithmetic, the same to the last bit everywhere."""'
    yield f"{STEP}size = abs(x)"
    yield f"{STEP}if size >= {tanh.ONE_FROM!r}:"
    yield f"{STEP * 2}result = 1.0"
    yield f"{STEP}elif size >= {tanh.RATIONAL_UP_TO!r}:"
    yield f"{STEP * 2}# 1 - 2 / (exp(y) + 1), with exp(y) = 2**k exp(r)"
    yield f"{STEP * 2}y = 2.0 * size"
    yield f"{STEP * 2}k = int(y * {tanh.PER_LN2!r} + 0.5)"
    yield f"{STEP * 2}r = y - k * {tanh.LN2_HIGH['double']!r} - k * {tanh.LN2_LOW['double']!r}"
    yield f"{STEP * 2}e = 0.0"
    yield f"{STEP * 2}for term in ("
    yield from (f"{STEP * 3}{term!r}," for term in tanh.EXP_TERMS["double"])
    yield f"{STEP * 2}):"
    yield f"{STEP * 3}e = e * r + term"
    yield f"{STEP * 2}result = 1.0 - 2.0 / (e * 2.0**k + 1.0)"
    yield f"{STEP}else:"
    yield f"{STEP * 2}z = size * size"
    yield f"{STEP * 2}above = below = 0.0"
    for top, bottom in zip(tanh.NUMERATOR, tanh.DENOMINATOR, strict=True):
        yield f"{STEP * 2}above, below = above * z + {top!r}, below * z + {bottom!r}"
    yield f"{STEP * 2}result = size + size * z * (above / below)"
    yield f"{STEP}return -result if x < 0.0 else result"


def _comment(lines: Sequence[str]) -> Iterator[str]:
    yield from (f"# {line}".rstrip() for line in lines)


def _action_words(action: Action) -> str:
    return f"{shortened(action.name)} {shortened(action.unit)}".strip()
