"""Plant file (TOML) → Plant, or one error with its place, what was found and what was expected."""

from dataclasses import replace
from importlib import resources
from importlib.resources.abc import Traversable
from typing import get_args

from icct.errors import PlantError, PropertyError, did_you_mean, shown
from icct.files import (
    LARGEST_TOML,
    AnyPath,
    ErrorType,
    naming,
    read_bytes,
    read_toml,
    toml_from,
)
from icct.plant.expression import Expression, Name
from icct.plant.plant import Disturbance, Episode, Observation, Plant, State
from icct.plant.question import KINDS, Question
from icct.plant.tables import (
    Expressions,
    Table,
    box,
    check_keys,
    limits,
    number,
    part_names,
    parts,
    sentences,
    subtable,
    text,
)
from icct.plant.units import check_units
from icct.policy import Action
from icct.policy.parts import Origin
from icct.verify.property import Property

FORMAT = "icct-plant"
VERSION = 1
PREFIX = "plant:"  # before the name of a plant that ships with the package
FILE = "the file"
TOP = (
    *("format", "version", "name", "summary", "source", "leaves_out", "period", "guard"),
    *("let", "states", "actions", "disturbances", "observations", "episode", "questions"),
)


def read_plant(source: AnyPath) -> Plant:
    """Return the plant of FILE.toml or `plant:FILE.toml`, or the shipped one of `plant:NAME`.

    >>> [state.name for state in read_plant("plant:single-pendulum").states]
    ['theta', 'omega']
    """
    named = str(source)
    name = named.removeprefix(PREFIX)
    if name != named and not name.endswith(".toml"):
        if name not in shipped_plants():
            raise PlantError(
                f"There is no plant {name!r}.{did_you_mean(name, shipped_plants())} Shipped are "
                f"{', '.join(shipped_plants())}; others are files."
            )
        return plant_from_toml((_shipped() / f"{name}.toml").read_bytes())
    content = read_bytes(name, "a plant file (TOML)", LARGEST_TOML, PlantError)
    with naming(name, PlantError):
        return plant_from_toml(content)


def is_plant_file(path: AnyPath, error: ErrorType = PlantError) -> bool:
    """Return whether a TOML file is a plant, by its format."""
    tables = read_toml(path, "a task card or a plant file", error=error)
    return tables.get("format") == FORMAT


def shipped_plants() -> tuple[str, ...]:
    """Return the names of the plants that ship with the package."""
    found = (item.name for item in _shipped().iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in found if name.endswith(".toml")))


def plant_from_toml(content: bytes) -> Plant:
    """Return the plant that a file's content describes."""
    tables = toml_from(content, PlantError, decimals=True)
    check_keys(tables, TOP, FILE)
    if tables.get("format") != FORMAT or tables.get("version") != VERSION:
        raise PlantError(
            f"format and version are {shown(tables.get('format'))} and "
            f"{shown(tables.get('version'))}, expected {FORMAT!r} and {VERSION}."
        )
    expressions = _with_meanings(tables, content.decode("utf-8"))
    plant = _model(tables, expressions)
    plant = replace(
        plant,
        guard=_guard(tables, plant),
        episode=_episode(subtable(tables, "episode"), plant, expressions),
        questions=parts(
            tables, "questions", lambda name, table, where: _question(name, table, where, plant)
        ),
    )
    check_units(plant)
    return plant


def _with_meanings(tables: Table, content: str) -> Expressions:
    """Return what reads expressions, knowing what `[let]` names."""
    moving, named = _moving(tables), part_names(tables, "let")
    _check_unique((*moving, *named))
    _check_unique((*part_names(tables, "actions"), *part_names(tables, "observations", least=1)))
    expressions = Expressions(content, {})
    for name in named:
        expressions.meanings[name] = expressions.read(tables["let"], name, moving, "[let]")
    return expressions


def _moving(tables: Table) -> tuple[str, ...]:
    """Return the names that rates may depend on."""
    least = {"states": 1, "actions": 1, "disturbances": 0}
    return tuple(name for kind in least for name in part_names(tables, kind, least[kind]))


def _model(tables: Table, expressions: Expressions) -> Plant:
    """Return the plant without what is asked of it."""
    plant = Plant(
        name=text(tables, "name", FILE),
        summary=text(tables, "summary", FILE),
        source=text(tables, "source", FILE),
        leaves_out=sentences(tables, "leaves_out", FILE),
        period=number(tables.get("period"), f"{FILE}: period"),
        states=parts(
            tables,
            "states",
            lambda name, table, where: _state(name, table, where, expressions, _moving(tables)),
        ),
        actions=parts(tables, "actions", _action),
        observations=parts(
            tables,
            "observations",
            lambda name, table, where: _observation(
                name,
                table,
                where,
                expressions,
                part_names(tables, "states"),
                part_names(tables, "disturbances"),
            ),
        ),
        disturbances=parts(tables, "disturbances", _disturbance),
    )
    if plant.period <= 0:
        raise PlantError(f"{FILE}: period is {plant.period} s, expected more than 0.")
    return plant


def _state(
    name: str, table: Table, where: str, expressions: Expressions, known: tuple[str, ...]
) -> State:
    check_keys(table, ("unit", "rate", "start"), where)
    rate = expressions.read(table, "rate", known, where)
    return State(name, text(table, "unit", where, empty=True), rate, box(table, "start", where))


def _action(name: str, table: Table, where: str) -> Action:
    check_keys(table, ("unit", "low", "high"), where)
    low, high = limits(table, where)
    return Action(name, text(table, "unit", where, empty=True), float(low), float(high))


def _disturbance(name: str, table: Table, where: str) -> Disturbance:
    check_keys(table, ("unit", "low", "high"), where)
    return Disturbance(name, text(table, "unit", where, empty=True), *limits(table, where))


def _observation(
    name: str,
    table: Table,
    where: str,
    expressions: Expressions,
    states: tuple[str, ...],
    noise: tuple[str, ...],
) -> Observation:
    check_keys(table, ("unit", "value", "low", "high", "origin"), where)
    value: Expression = Name(name)
    if "value" in table or name not in states:
        value = expressions.read(table, "value", (*states, *noise), where)
    meant = expressions.meanings.get(name, Name(name) if name in (*states, *noise) else value)
    if value != meant:
        raise PlantError(
            f"{where}: {name!r} also names something else, so it must be just that; call the "
            "observation otherwise."
        )
    low, high = limits(table, where)
    origin = table.get("origin", "physical")
    if origin not in get_args(Origin):
        raise PlantError(
            f"{where}: origin is {shown(origin)}, expected one of {', '.join(get_args(Origin))}."
        )
    unit = text(table, "unit", where, empty=True)
    return Observation(name, unit, value, float(low), float(high), origin)


def _guard(tables: Table, plant: Plant) -> Property | None:
    if "guard" not in tables:
        return None
    guard = _condition(tables, "guard", plant, FILE)
    states = [state.name for state in plant.states]
    for name in guard.names:
        if name not in states:
            raise PlantError(
                f"{FILE}: guard: {name!r} is not a state: expected only {', '.join(states)}."
            )
    return guard


def _episode(table: Table, plant: Plant, expressions: Expressions) -> Episode | None:
    if not table:
        return None
    where = "[episode]"
    check_keys(table, ("horizon", "reward", "fails"), where)
    horizon = number(table.get("horizon"), f"{where}: horizon")
    if horizon.denominator != 1 or not 0 < horizon < 10**6:
        raise PlantError(f"{where}: horizon is {horizon}, expected a number of periods.")
    seen = {one.name: one.value for one in plant.observations if one.value != Name(one.name)}
    known = [*(state.name for state in plant.states), *(action.name for action in plant.actions)]
    with_seen = Expressions(expressions.content, {**expressions.meanings, **seen})
    reward = with_seen.read(table, "reward", known, where)
    fails = _condition(table, "fails", plant, where) if "fails" in table else None
    return Episode(int(horizon), reward, fails)


def _question(name: str, table: Table, where: str, plant: Plant) -> Question:
    check_keys(table, (*KINDS, "time", "why"), where)
    asked = [kind for kind in KINDS if kind in table]
    if len(asked) != 1:
        raise PlantError(f"{where} has {len(asked)} of {', '.join(KINDS)}, expected one.")
    condition = _condition(table, asked[0], plant, where)
    time = number(table.get("time"), f"{where}: time")
    return Question(asked[0], condition, time, name, text(table, "why", where))


def _condition(table: Table, key: str, plant: Plant, where: str) -> Property:
    try:
        return plant.checked(Property(text(table, key, where)))
    except (PropertyError, PlantError) as problem:
        raise PlantError(f"{where}: {key}: {problem}") from None


def _check_unique(found: tuple[str, ...]) -> None:
    for name in found:
        if found.count(name) > 1:
            raise PlantError(
                f"{name!r} stands for two things: expected other names for states, "
                "actions, disturbances and [let], and for observations and actions."
            )


def _shipped() -> Traversable:
    return resources.files("icct.plant") / "shipped"
