"""Policy → C99: one .h and .c pair for a microcontroller. No allocation, no globals, no libm.

The function returns the leaf that acted, or -1 where `Policy.act` refuses: a number that is not
finite. The tree becomes nested ifs, one for each split, with names in comments only.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from icct.errors import ExportError
from icct.export import tanh
from icct.export.about import about, inputs, outputs, shortened
from icct.export.precision import Precision, check_precision, literal, threshold
from icct.policy import Action, Policy, Split
from icct.policy.text import condition

DEEPEST = 120  # C99 promises 127 levels of nested blocks
STEP = "    "
# Headers of C, and those that they include from the same folder: with -I. one of ours would be read
# in their place.
SYSTEM_HEADER = re.compile(
    "alloca|assert|complex|ctype|endian|errno|features|fenv|float|inttypes|iso646|limits|locale|"
    "malloc|math|memory|newlib|pthread|reent|sched|setjmp|signal|stdalign|stdarg|stdatomic|stdbit|"
    "stdbool|stdckdint|stddef|stdint|stdio|stdlib|stdnoreturn|string|strings|tgmath|threads|time|"
    "uchar|unistd|values|wchar|wctype|xlocale",
    re.IGNORECASE,  # some disks do not tell Float.h from float.h
)
LARGEST = {"double": "DBL_MAX", "float": "FLT_MAX"}


@dataclass(frozen=True)
class CFiles:
    """The text of `<name>.h` and `<name>.c`, and of a program that tries them, `<name>_main.c`."""

    name: str
    header: str
    source: str
    main: str


def export_c(policy: Policy, name: str | None = None, precision: Precision = "double") -> CFiles:
    """Return the policy as C99 source, as a function `<name>_act`.

    Args:
        policy: The policy to write.
        name: What the files and the function are called; by default, the policy's name.
        precision: `double` acts as the policy does; `float` reaches the same leaf for every float
            observation, with the action to float precision.

    >>> from icct.zoo import zoo_policy
    >>> export_c(zoo_policy("ring-cruiser")).header.splitlines()[-3]
    'int ring_cruiser_act(const double observation[44], double action[1]);'
    """
    check_precision(policy, precision)
    if policy.depth > DEEPEST:
        raise ExportError(
            f"{shortened(policy.name)} is {policy.depth} splits deep; C compilers promise "
            f"{DEEPEST}. Try icct simplify first."
        )
    name = c_name(policy.name if name is None else name)
    return CFiles(
        name,
        "\n".join(_header(policy, name, precision)) + "\n",
        "\n".join(_source(policy, name, precision)) + "\n",
        "\n".join(_main(policy, name, precision)) + "\n",
    )


def c_name(text: str) -> str:
    """Return the text as the beginning of a name in C.

    >>> c_name("ring-cruiser v2"), c_name("3.5 m/s"), c_name("*/"), c_name("float")
    ('ring_cruiser_v2', 'policy_3_5_m_s', 'policy', 'policy_float')
    """
    name = re.sub(r"[^A-Za-z0-9]+", "_", text[:60]).strip("_")
    usable = name[:1].isalpha() and not SYSTEM_HEADER.fullmatch(name)
    return name if usable else f"policy_{name}".rstrip("_")


def comment_text(text: str) -> str:
    r"""Return text that is harmless inside a C comment: ASCII, no comment marks, no trigraphs.

    >>> comment_text("2 */ * /* // ??/ é")
    '2 * / * / * / / ? ?/ \\xe9'
    """
    text = text.encode("unicode_escape").decode("ascii")
    return re.sub(r"\*(?=/)|/(?=[*/])|\?(?=\?)", lambda match: f"{match[0]} ", text)


def _header(policy: Policy, name: str, real: Precision) -> Iterator[str]:
    yield from _comment([*about(policy), "", *inputs(policy), "", *outputs(policy)])
    yield f"#ifndef {name.upper()}_H"
    yield f"#define {name.upper()}_H"
    yield ""
    yield from _comment(
        [
            "Write the action for an observation and return the number of the leaf that acted.",
            "Return -1 and leave the action as it was when a number of the observation is not",
            "finite, or too large for the leaf's rule.",
        ]
    )
    yield f"{_signature(policy, name, real)};"
    yield ""
    yield "#endif"


def _source(policy: Policy, name: str, real: Precision) -> Iterator[str]:
    yield from _comment(about(policy))
    yield f'#include "{name}.h"'
    yield ""
    yield "#include <float.h>"
    if policy.squash == "tanh":
        yield "#include <stdint.h>"
    yield ""
    yield "#ifdef __FAST_MATH__"
    yield '#error "-ffast-math changes what the controller does"'
    yield "#endif"
    yield ""
    yield "/* A fused multiply-add rounds once instead of twice: the last digit would differ."
    yield " * gcc 12 also fuses where it joins two actions into one vector, whatever it is told. */"
    yield "#if defined(__clang__)"
    yield "#pragma STDC FP_CONTRACT OFF"
    yield "#elif defined(__GNUC__)"
    yield '#pragma GCC optimize ("fp-contract=off", "no-tree-slp-vectorize")'
    yield "#endif"
    yield ""
    yield from _all_finite(name, real)
    if policy.squash == "tanh":
        yield from _tanh(name, real)
    yield from _decide(policy, name, real)
    yield from _act(policy, name, real)


def _all_finite(name: str, real: Precision) -> Iterator[str]:
    largest = LARGEST[real]
    yield f"static int {name}_finite(const {real} numbers[], int count)"
    yield "{"
    yield f"{STEP}int finite = 1;"
    yield f"{STEP}int i;"
    yield ""
    yield f"{STEP}for (i = 0; i < count; ++i) {{"
    yield f"{STEP * 2}if (!((numbers[i] >= -{largest}) && (numbers[i] <= {largest}))) {{"
    yield f"{STEP * 3}finite = 0;"
    yield f"{STEP * 2}}}"
    yield f"{STEP}}}"
    yield f"{STEP}return finite;"
    yield "}"
    yield ""


def _tanh(name: str, real: Precision) -> Iterator[str]:
    def value(number: float) -> str:
        return literal(number, real)

    one, two = value(1.0), value(2.0)
    yield "/* Plain arithmetic, the same to the last bit on every machine. */"
    yield f"static {real} {name}_tanh({real} x)"
    yield "{"
    yield f"{STEP}const {real} size = (x < {value(0.0)}) ? -x : x;"
    yield f"{STEP}{real} result;"
    yield ""
    yield f"{STEP}if (size >= {value(tanh.ONE_FROM)}) {{"
    yield f"{STEP * 2}result = {one};"
    yield f"{STEP}}} else if (size >= {value(tanh.RATIONAL_UP_TO)}) {{"
    yield f"{STEP * 2}/* 1 - 2 / (exp(y) + 1), with exp(y) = 2^k exp(r) */"
    yield f"{STEP * 2}const {real} y = {two} * size;"
    yield f"{STEP * 2}const {real} quotient = (y * {value(tanh.PER_LN2)}) + {value(0.5)};"
    yield f"{STEP * 2}const uint32_t k = (uint32_t)quotient;"
    yield f"{STEP * 2}const uint64_t power = (uint64_t)1 << k;"
    high, low = value(tanh.LN2_HIGH[real]), value(tanh.LN2_LOW[real])
    yield f"{STEP * 2}const {real} r = (y - (({real})k * {high})) - (({real})k * {low});"
    yield f"{STEP * 2}{real} e = {value(tanh.EXP_TERMS[real][0])};"
    yield ""
    for term in tanh.EXP_TERMS[real][1:]:
        yield f"{STEP * 2}e = (e * r) + {value(term)};"
    yield f"{STEP * 2}e *= ({real})power;"
    yield f"{STEP * 2}result = {one} - ({two} / (e + {one}));"
    yield f"{STEP}}} else {{"
    yield f"{STEP * 2}const {real} z = size * size;"
    yield f"{STEP * 2}{real} above = {value(tanh.NUMERATOR[0])};"
    yield f"{STEP * 2}{real} below = {value(tanh.DENOMINATOR[0])};"
    yield ""
    for top, bottom in zip(tanh.NUMERATOR[1:], tanh.DENOMINATOR[1:], strict=True):
        yield f"{STEP * 2}above = (above * z) + {value(top)};"
        yield f"{STEP * 2}below = (below * z) + {value(bottom)};"
    yield f"{STEP * 2}result = size + ((size * z) * (above / below));"
    yield f"{STEP}}}"
    yield f"{STEP}return (x < {value(0.0)}) ? -result : result;"
    yield "}"
    yield ""


def _decide(policy: Policy, name: str, real: Precision) -> Iterator[str]:
    """Yield the tree: it finds the leaf and computes the leaf's rules, before squashing."""
    yield f"static int {name}_decide(const {real} observation[], {real} value[])"
    yield "{"
    yield f"{STEP}int leaf;"
    yield ""
    waiting: list[tuple[int, int] | str] = [(1, 0)]  # (depth, node), or a line to write as it is
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
            continue
        depth, index = item
        node, indent = policy.nodes[index], STEP * depth
        if isinstance(node, Split):
            words = _inline_comment(condition(policy, node))
            limit = literal(threshold(node.threshold, real), real)
            yield f"{indent}if (observation[{node.feature}] <= {limit}) {{{words}"
            waiting += [f"{indent}}}", (depth + 1, node.above), f"{indent}}} else {{"]
            waiting.append((depth + 1, node.below))
            continue
        yield f"{indent}leaf = {index};"
        for position, (action, rule) in enumerate(
            zip(policy.actions, node.controllers, strict=True)
        ):
            bias = literal(rule.bias, real)
            yield f"{indent}value[{position}] = {bias};{_inline_comment(action.name)}"
            for feature, weight in rule.weights:
                term = f"{literal(weight, real)} * observation[{feature}]"
                words = _inline_comment(policy.features[feature].name)
                yield f"{indent}value[{position}] += {term};{words}"
    if not policy.used_features:
        yield f"{STEP}(void)observation;"
    yield f"{STEP}return leaf;"
    yield "}"
    yield ""


def _act(policy: Policy, name: str, real: Precision) -> Iterator[str]:
    count = len(policy.actions)
    yield _signature(policy, name, real)
    yield "{"
    yield f"{STEP}int leaf = -1;"
    yield ""
    yield f"{STEP}if ({name}_finite(observation, {len(policy.features)}) != 0) {{"
    yield f"{STEP * 2}{real} value[{count}];"
    yield ""
    yield f"{STEP * 2}leaf = {name}_decide(observation, value);"
    for position, action in enumerate(policy.actions):
        for line in _squash(policy, action, f"value[{position}]", name, real):
            yield f"{STEP * 2}{line}"
    yield f"{STEP * 2}if ({name}_finite(value, {count}) != 0) {{"
    for position, action in enumerate(policy.actions):
        words = _inline_comment(f"{action.name} {shortened(action.unit)}".strip())
        yield f"{STEP * 3}action[{position}] = value[{position}];{words}"
    yield f"{STEP * 2}}} else {{"
    yield f"{STEP * 3}leaf = -1;"
    yield f"{STEP * 2}}}"
    yield f"{STEP}}}"
    yield f"{STEP}return leaf;"
    yield "}"


def _squash(
    policy: Policy, action: Action, value: str, name: str, real: Precision
) -> Iterator[str]:
    if policy.squash == "tanh":
        centre, half_range = literal(action.centre, real), literal(action.half_range, real)
        yield f"{value} = {centre} + ({half_range} * {name}_tanh({value}));"
    elif policy.squash == "clip":
        for sign, limit in (("<", action.low), (">", action.high)):
            if math.isfinite(limit):
                yield f"if ({value} {sign} {literal(limit, real)}) {{"
                yield f"{STEP}{value} = {literal(limit, real)};"
                yield "}"


def _main(policy: Policy, name: str, real: Precision) -> Iterator[str]:
    features, actions = len(policy.features), len(policy.actions)
    wanted, digits = ("%lf", "%.17g") if real == "double" else ("%f", "%.9g")
    yield from _comment(
        [
            f"Tries {name}.c: reads observations from the standard input, {features} numbers each,",
            "and prints for each the leaf and the action.",
        ]
    )
    yield f'#include "{name}.h"'
    yield ""
    yield "#include <stdio.h>"
    yield ""
    yield "int main(void)"
    yield "{"
    yield f"{STEP}{real} observation[{features}];"
    yield f"{STEP}{real} action[{actions}] = {{{literal(0.0, real)}}};"
    yield f"{STEP}int i = 0;"
    yield ""
    yield f'{STEP}while (scanf("{wanted}", &observation[i]) == 1) {{'
    yield f"{STEP * 2}++i;"
    yield f"{STEP * 2}if (i == {features}) {{"
    yield f'{STEP * 3}(void)printf("%d", {name}_act(observation, action));'
    yield f"{STEP * 3}for (i = 0; i < {actions}; ++i) {{"
    yield f'{STEP * 4}(void)printf(" {digits}", (double)action[i]);'
    yield f"{STEP * 3}}}"
    yield f'{STEP * 3}(void)printf("\\n");'
    yield f"{STEP * 3}i = 0;"
    yield f"{STEP * 2}}}"
    yield f"{STEP}}}"
    yield f"{STEP}return 0;"
    yield "}"


def _signature(policy: Policy, name: str, real: Precision) -> str:
    observation = f"const {real} observation[{len(policy.features)}]"
    return f"int {name}_act({observation}, {real} action[{len(policy.actions)}])"


def _comment(lines: Sequence[str]) -> Iterator[str]:
    yield "/*"
    for line in lines:
        yield f" * {comment_text(line)}".rstrip()
    yield " */"


def _inline_comment(words: str) -> str:
    return f"  /* {comment_text(shortened(words))} */"
