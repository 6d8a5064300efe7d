"""Text from a browser → a message, or an error: the border where nothing is trusted."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from icct.errors import IcctError, shown
from icct.files import json_from
from icct.view.change import Change

LONGEST = 2**16  # characters of a message
MOST_CHANGES = 500
LARGEST_SEED = 2**31 - 1
LARGEST_WHOLE = 2**53


class MessageError(IcctError):
    """A message that the page would never send."""


@dataclass(frozen=True)
class Message:
    """What a page asks for: its type, and the values that belong to it."""

    type: str
    values: Mapping[str, Any]


def read_message(text: str) -> Message:
    """Return the message in a text, or raise a `MessageError`.

    >>> read_message('{"type": "seek", "step": 12}')
    Message(type='seek', values={'step': 12})
    """
    if len(text) > LONGEST:
        raise MessageError(f"a message of {len(text)} characters, expected at most {LONGEST}.")
    content = json_from(text, MessageError, finite=True)
    if not isinstance(content, dict) or not isinstance(content.get("type"), str):
        raise MessageError(f"{shown(content)}: expected an object with a type.")
    fields = FIELDS.get(content["type"])
    if fields is None:
        raise MessageError(f"type is {shown(content['type'])}, expected one of {', '.join(FIELDS)}")
    if content.keys() - {"type"} != fields.keys():
        raise MessageError(
            f"{content['type']} has {shown(sorted(content))}, expected {sorted({'type', *fields})}."
        )
    return Message(content["type"], {name: read(content[name]) for name, read in fields.items()})


def _whole(largest: int) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        if type(value) is not int or not 0 <= value <= largest:
            raise MessageError(f"found {shown(value)}, expected a whole number, 0 to {largest}.")
        return value

    return read


def _number(value: Any) -> float:
    if type(value) not in (int, float) or not math.isfinite(value):
        raise MessageError(f"found {shown(value)}, expected a finite number.")
    return float(value)


def _speed(value: Any) -> float:
    speed = _number(value)
    if not 0.01 <= speed <= 1000.0:
        raise MessageError(f"a speed of {speed}, expected 0.01 to 1000.")
    return speed


def _switch(value: Any) -> bool:
    if not isinstance(value, bool):
        raise MessageError(f"found {shown(value)}, expected true or false.")
    return value


def _name(value: Any) -> str:
    if not isinstance(value, str):
        raise MessageError(f"found {shown(value)}, expected a name.")
    return value


def _changes(value: Any) -> tuple[Change, ...]:
    if not isinstance(value, list) or len(value) > MOST_CHANGES:
        raise MessageError(f"found {shown(value)}, expected a list of at most {MOST_CHANGES}.")
    return tuple(_change(item) for item in value)


def _change(item: Any) -> Change:
    keys = set(item) if isinstance(item, dict) else set()
    if not {"node", "value"} <= keys <= {"node", "value", "action", "feature"}:
        raise MessageError(f"found {shown(item)}, expected a change: node, value, action, feature.")
    if "feature" in keys and "action" not in keys:
        raise MessageError("a change of a weight without an action.")
    place = _whole(LARGEST_WHOLE)
    return Change(
        node=place(item["node"]),
        value=_number(item["value"]),
        action=place(item["action"]) if "action" in keys else None,
        feature=place(item["feature"]) if "feature" in keys else None,
    )


FIELDS: Mapping[str, Mapping[str, Callable[[Any], Any]]] = {
    "ack": {"frame": _whole(LARGEST_WHOLE)},  # the browser has drawn a frame
    "play": {},
    "pause": {},
    "step": {},
    "seek": {"step": _whole(LARGEST_WHOLE)},
    "speed": {"value": _speed},
    "loop": {"on": _switch},  # at the end go on with the next seed
    "reset": {"seed": _whole(LARGEST_SEED)},  # also after a crash
    "edit": {"changes": _changes},  # all of them; an empty list takes them back
    "compare": {"on": _switch},  # run the edited policy beside the original
    "save": {"name": _name},
}
