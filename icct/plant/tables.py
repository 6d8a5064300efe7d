"""Tables of a plant file → checked values: numbers, boxes, texts, names, expressions.

Every function takes `where`, the place in the file that its error names. Nothing here knows what
a plant is.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeVar

from icct.errors import PlantError, PolicyError, did_you_mean, shown
from icct.plant.expression import Expression, names, size, substituted
from icct.plant.parse import RESERVED, ExpressionError, parse
from icct.policy.parts import NAME

MOST_PARTS = 50  # states, actions, ...
LONGEST_NAME = 50  # characters
LARGEST_EXPRESSION = 10_000  # parts, with everything of [let] written out
DEEPEST_EXPRESSION = 300
LARGEST, SMALLEST, MOST_DIGITS = Decimal("1e300"), Decimal("1e-300"), 40  # of a number
Table = Mapping[str, Any]
Box = tuple[Fraction, Fraction]
Part = TypeVar("Part")


def number(found: object, where: str) -> Fraction:
    """Return an exact number."""
    if isinstance(found, bool) or not isinstance(found, int | Decimal):
        raise PlantError(f"{where} is {shown(found)}, expected a number.")
    exact = Decimal(found)
    if not exact.is_finite():
        raise PlantError(f"{where} is {exact}, expected a finite number.")
    far = exact != 0 and not SMALLEST <= exact.copy_abs() <= LARGEST
    if far or len(exact.as_tuple().digits) > MOST_DIGITS:
        raise PlantError(
            f"{where} is {shown(str(exact))}, expected at most {MOST_DIGITS} digits and a size "
            f"from {SMALLEST} to {LARGEST}."
        )
    return Fraction(exact)


def box(table: Table, key: str, where: str) -> Box:
    """Return [low, high], or a number as a box of width 0."""
    found = table.get(key)
    ends = found if isinstance(found, list) else [found, found]
    if len(ends) != 2:
        raise PlantError(f"{where}: {key} is {shown(found)}, expected [low, high] or a number.")
    low, high = (number(end, f"{where}: {key}") for end in ends)
    return _ordered(low, high, where)


def limits(table: Table, where: str) -> Box:
    """Return the numbers `low` and `high`."""
    low, high = (number(table.get(key), f"{where}: {key}") for key in ("low", "high"))
    return _ordered(low, high, where)


def _ordered(low: Fraction, high: Fraction, where: str) -> Box:
    if low > high:
        raise PlantError(
            f"{where}: low is {float(low):g} and high is {float(high):g}, expected low <= high."
        )
    return low, high


def text(table: Table, key: str, where: str, *, empty: bool = False) -> str:
    """Return a text on one line."""
    found = table.get(key)
    if not isinstance(found, str) or not (found.strip() or empty):
        raise PlantError(f"{where}: {key} is {shown(found)}, expected text.")
    line = " ".join(found.split())
    if not line.isprintable():
        raise PlantError(f"{where}: {key} is {shown(found)}, expected text to print.")
    return line


def sentences(table: Table, key: str, where: str) -> tuple[str, ...]:
    """Return a list of texts, at least one."""
    found = table.get(key)
    if not isinstance(found, list) or not found:
        raise PlantError(f"{where}: {key} is {shown(found)}, expected a list of texts.")
    return tuple(text({key: one}, key, where) for one in found)


def subtable(table: Table, key: str) -> Table:
    """Return the table that a key holds; none where there is no such key."""
    found = table.get(key, {})
    if not isinstance(found, dict):
        raise PlantError(f"{key} is {shown(found)}, expected a table.")
    return found


def check_keys(table: Table, known: Collection[str], where: str) -> None:
    """Refuse a key that nobody would read."""
    for key in table:
        if key not in known:
            raise PlantError(
                f"{where} has an unknown key {shown(key)}; known are {', '.join(known)}."
                f"{did_you_mean(key, known)}"
            )


def part_names(table: Table, kind: str, least: int = 0) -> tuple[str, ...]:
    """Return the names of parts of one kind, in the order of the file."""
    found = subtable(table, kind)
    if not least <= len(found) <= MOST_PARTS:
        raise PlantError(f"there are {len(found)} {kind}, expected {least} to {MOST_PARTS}.")
    for name in found:
        if not NAME.match(name) or len(name) > LONGEST_NAME or name in RESERVED:
            raise PlantError(
                f"[{kind}.{shown(name)}]: a name is letters, digits and '_', not starting with a "
                f"digit, and none of {', '.join(RESERVED)}."
            )
    return tuple(found)


def parts(table: Table, kind: str, make: Callable[[str, Table, str], Part]) -> tuple[Part, ...]:
    """Return what `make` makes of each name, its table and its place."""
    made = []
    for name in part_names(table, kind):
        where = f"[{kind}.{name}]"
        try:
            made.append(make(name, subtable(table[kind], name), where))
        except PolicyError as problem:  # what an action refuses
            raise PlantError(f"{where}: {problem}") from None
    return tuple(made)


@dataclass(frozen=True)
class Expressions:
    """Reads expressions, with what `[let]` names written out; `content` is the whole file."""

    content: str
    meanings: dict[str, Expression]

    def read(self, table: Table, key: str, known: Iterable[str], where: str) -> Expression:
        """Return an expression over the known names."""
        found, known = table.get(key), set(known)
        if isinstance(found, int | Decimal) and not isinstance(found, bool):
            found = str(found)
        if not isinstance(found, str):
            raise PlantError(f"{where}: {key} is {shown(found)}, expected an expression in quotes.")
        try:
            parsed = parse(found)
            for name, column in parsed.columns:
                if name not in known and name not in self.meanings:
                    listed = ", ".join(sorted(known | set(self.meanings)))
                    what = f"{name!r} is not known here: expected one of {listed}."
                    guess = did_you_mean(name, known | set(self.meanings))
                    raise ExpressionError(found, column, what + guess)
        except ExpressionError as problem:
            raise self._located(problem, found, key, where) from None
        meant = substituted(parsed.expression, self.meanings)
        _check_size(meant, f"{where}: {key}")
        for name in sorted(names((meant,)) - known):
            raise PlantError(
                f"{where}: {key} depends on {name!r} through [let]: expected only "
                f"{', '.join(sorted(known))}."
            )
        return meant

    def _located(self, problem: ExpressionError, found: str, key: str, where: str) -> PlantError:
        """Return the error with its line and column in the file, where the text is one line."""
        for row, line in enumerate(self.content.splitlines(), 1):
            start = line.find(found)
            if start >= 0 and line.lstrip().startswith(key) and len(line) < 200:
                column = start + problem.column
                return PlantError(
                    f"line {row}, column {column}: {where}: {key}: {problem.what}\n"
                    f"  {line}\n  {' ' * (column - 1)}^"
                )
        return PlantError(f"{where}: {key}: {problem}")


def _check_size(expression: Expression, where: str) -> None:
    count, levels = size(expression)
    if count > LARGEST_EXPRESSION or levels > DEEPEST_EXPRESSION:
        raise PlantError(
            f"{where} has {count:,} parts in {levels:,} levels when written out, expected at most "
            f"{LARGEST_EXPRESSION:,} in {DEEPEST_EXPRESSION}."
        )
