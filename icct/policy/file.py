"""Policy ↔ JSON file. Reading trusts nothing; writing is atomic; `read(write(p)) == p`.

The format is described in docs/policy-file.md. Features and actions are written by name, so that
a file can be read and edited by hand. Infinite bounds are written as null.
"""

import hashlib
import json
import math
import os
from dataclasses import asdict
from itertools import islice
from typing import Any, TypeVar

from icct.errors import PolicyError, did_you_mean, shown
from icct.files import json_from, naming, read_bytes, write_atomically
from icct.policy.parts import Action, Controller, Feature, Leaf, Node, Provenance, Split
from icct.policy.policy import Policy

FORMAT = "icct-policy"
VERSION = 1
LARGEST_FILE = 4 * 2**20  # bytes; a tree of 10,000 leaves takes 3 to 4 MiB
Json = dict[str, Any]
Wanted = TypeVar("Wanted")


def read_policy(path: str | os.PathLike[str]) -> Policy:
    """Return the policy in a file, or raise a `PolicyError` that says what is wrong with it."""
    content = read_bytes(path, "a policy file", LARGEST_FILE, PolicyError)
    with naming(path, PolicyError):
        return policy_from_json(content)


def write_policy(policy: Policy, path: str | os.PathLike[str]) -> None:
    """Write a policy to a file; the file is complete or untouched, never half-written."""
    write_atomically(path, policy_to_json(policy), PolicyError)


def policy_digest(policy: Policy) -> str:
    """Return the SHA-256 of the policy's file: two policies that say the same share it.

    >>> from icct.zoo import zoo_policy
    >>> len(policy_digest(zoo_policy("ring-cruiser")))
    64
    """
    return hashlib.sha256(policy_to_json(policy).encode("utf-8")).hexdigest()


def policy_to_json(policy: Policy) -> str:
    """Return the text of the policy's file."""
    provenance = asdict(policy.provenance)
    provenance["versions"] = dict(policy.provenance.versions)
    provenance["config"] = dict(policy.provenance.config)
    provenance["task_card"] = dict(policy.provenance.task_card)
    if not provenance["task_card"]:
        del provenance["task_card"]
    content = {
        "format": FORMAT,
        "version": VERSION,
        "name": policy.name,
        "features": [
            {**asdict(f), "low": _bound_to_json(f.low), "high": _bound_to_json(f.high)}
            for f in policy.features
        ],
        "actions": [
            {**asdict(a), "low": _bound_to_json(a.low), "high": _bound_to_json(a.high)}
            for a in policy.actions
        ],
        "squash": policy.squash,
        "nodes": [_node_to_json(node, policy) for node in policy.nodes],
        "provenance": provenance,
    }
    return _indented(content)


def policy_from_json(content: str | bytes) -> Policy:
    """Return the policy that a file's content describes."""
    top = _fields(json_from(content, PolicyError, finite=True), "the file")
    if top.get("format") != FORMAT:
        raise PolicyError(
            f"'format' is {shown(top.get('format'))}, expected {FORMAT!r}: "
            "this is not a policy file."
        )
    if top.get("version") != VERSION or isinstance(top["version"], bool):
        raise PolicyError(
            f"'version' is {shown(top.get('version'))}, and this icct reads version {VERSION}. "
            "A newer file needs a newer icct: pip install --upgrade icct."
        )
    _only_keys(
        top,
        "the file",
        ("format", "version", "name", "features", "actions", "squash", "nodes", "provenance"),
    )
    features = tuple(
        _feature(item, f"feature {i}") for i, item in enumerate(_list(top, "features", "the file"))
    )
    actions = tuple(
        _action(item, f"action {i}") for i, item in enumerate(_list(top, "actions", "the file"))
    )
    names = {feature.name: index for index, feature in enumerate(features)}
    commands = {action.name: index for index, action in enumerate(actions)}
    nodes = tuple(
        _node(item, f"node {i}", names, commands)
        for i, item in enumerate(_list(top, "nodes", "the file"))
    )
    squash = _take(top, "squash", str, "the file")
    provenance = _provenance(_fields(top.get("provenance", {}), "provenance"))
    name = _take(top, "name", str, "the file")
    return Policy(name, features, actions, nodes, squash, provenance)  # type: ignore[arg-type]


# -- writing ------------------------------------------------------------------------------------


def _bound_to_json(bound: float) -> float | None:
    return bound if math.isfinite(bound) else None


def _node_to_json(node: Node, policy: Policy) -> Json:
    if isinstance(node, Split):
        return {
            "split": policy.features[node.feature].name,
            "threshold": node.threshold,
            "below": node.below,
            "above": node.above,
        }
    leaf = {}
    for action, controller in zip(policy.actions, node.controllers, strict=True):
        weights = {policy.features[index].name: weight for index, weight in controller.weights}
        leaf[action.name] = {"weights": weights, "bias": controller.bias}
    return {"leaf": leaf} if node.log_std is None else {"leaf": leaf, "log_std": node.log_std}


def _indented(content: Json) -> str:
    """Return JSON with one line for each feature, action and node, to read and to compare."""
    lines = []
    for key, value in content.items():
        if isinstance(value, list):
            items = ",\n    ".join(json.dumps(item, allow_nan=False) for item in value)
            lines.append(f'  "{key}": [\n    {items}\n  ]')
        else:
            lines.append(f'  "{key}": {json.dumps(value, allow_nan=False)}')
    return "{\n" + ",\n".join(lines) + "\n}\n"


# -- reading ------------------------------------------------------------------------------------


def _feature(item: object, where: str) -> Feature:
    fields = _fields(item, where)
    _only_keys(fields, where, ("name", "unit", "low", "high", "origin"))
    return Feature(
        name=_take(fields, "name", str, where),
        unit=_take(fields, "unit", str, where, default=""),
        low=_bound(fields, "low", -math.inf, where),
        high=_bound(fields, "high", math.inf, where),
        origin=_take(fields, "origin", str, where, default="space"),  # type: ignore[arg-type]
    )


def _action(item: object, where: str) -> Action:
    fields = _fields(item, where)
    _only_keys(fields, where, ("name", "unit", "low", "high"))
    return Action(
        name=_take(fields, "name", str, where),
        unit=_take(fields, "unit", str, where, default=""),
        low=_bound(fields, "low", -math.inf, where),
        high=_bound(fields, "high", math.inf, where),
    )


def _node(item: object, where: str, features: dict[str, int], actions: dict[str, int]) -> Node:
    fields = _fields(item, where)
    if "split" in fields:
        _only_keys(fields, where, ("split", "threshold", "below", "above"))
        return Split(
            feature=_known(
                _take(fields, "split", str, where), features, f"{where} tests", "feature"
            ),
            threshold=_number(fields, "threshold", where),
            below=_take(fields, "below", int, where),
            above=_take(fields, "above", int, where),
        )
    if "leaf" not in fields:
        raise PolicyError(f"{where} is neither a split nor a leaf: expected 'split' or 'leaf'.")
    _only_keys(fields, where, ("leaf", "log_std"))
    rules = _fields(fields["leaf"], f"{where}, 'leaf'")
    for name in rules:
        _known(name, actions, f"{where} commands", "action")
    controllers = tuple(
        _controller(_take(rules, name, dict, where), f"{where}, {name}", features)
        for name in actions
    )
    log_std = fields.get("log_std")
    if log_std is not None:
        values = dict(enumerate(_list(fields, "log_std", where)))
        log_std = tuple(_number(values, i, f"{where}, log_std") for i in values)
    return Leaf(controllers, log_std)


def _controller(rule: Json, where: str, features: dict[str, int]) -> Controller:
    _only_keys(rule, where, ("weights", "bias"))
    weights = _fields(rule.get("weights", {}), f"{where}, 'weights'")
    return Controller(
        weights=tuple(
            (_known(name, features, f"{where} uses", "feature"), _number(weights, name, where))
            for name in weights
        ),
        bias=_number(rule, "bias", where),
    )


def _provenance(fields: Json) -> Provenance:
    where = "provenance"
    _only_keys(fields, where, tuple(Provenance.__dataclass_fields__))
    for key, kind in (("task", str), ("method", str), ("seed", int), ("commit", str)):
        if fields.get(key) is not None:
            _take(fields, key, kind, where)
    versions = _fields(fields.get("versions", {}), f"{where}, 'versions'")
    for key in versions:
        _take(versions, key, str, f"{where}, 'versions'")
    history = fields.get("history", [])
    if not isinstance(history, list) or not all(isinstance(line, str) for line in history):
        raise PolicyError(f"{where}: 'history' must be a list of sentences.")
    return Provenance(
        task=fields.get("task"),
        task_card=tuple(_fields(fields.get("task_card", {}), f"{where}, 'task_card'").items()),
        method=fields.get("method"),
        seed=fields.get("seed"),
        commit=fields.get("commit"),
        versions=tuple(versions.items()),
        config=tuple(_fields(fields.get("config", {}), f"{where}, 'config'").items()),
        history=tuple(history),
    )


def _fields(item: object, where: str) -> Json:
    if not isinstance(item, dict):
        raise PolicyError(f"{where} is {_kind(item)}, expected an object {{...}}.")
    return item


def _list(fields: Json, key: str, where: str) -> list[Any]:
    return _take(fields, key, list, where)


def _only_keys(fields: Json, where: str, known: tuple[str, ...]) -> None:
    for key in fields:
        if key not in known:
            raise PolicyError(
                f"{where} has an unknown key {shown(key)}; known are {', '.join(known)}."
                f"{did_you_mean(key, known)}"
            )


def _take(
    fields: Json, key: str, kind: type[Wanted], where: str, default: Wanted | None = None
) -> Wanted:
    if key not in fields and default is not None:
        return default
    if key not in fields:
        raise PolicyError(f"{where} has no {key!r}.")
    value = fields[key]
    if not isinstance(value, kind) or isinstance(value, bool):
        words = {str: "text", int: "a whole number", list: "a list", dict: "an object"}
        raise PolicyError(f"{where}: {key!r} is {_kind(value)}, expected {words[kind]}.")
    return value


def _bound(fields: Json, key: str, infinite: float, where: str) -> float:
    return infinite if fields.get(key) is None else _number(fields, key, where)


def _number(fields: dict[Any, Any], key: Any, where: str) -> float:
    if key not in fields:
        raise PolicyError(f"{where} has no {key!r}.")
    value = fields[key]
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise PolicyError(f"{where}: {key!r} is {_kind(value)}, expected a number.")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):  # such as 1e999
        raise PolicyError(f"{where}: {key!r} is too large to be a number of a policy.")
    return number


def _known(name: str, indexes: dict[str, int], where: str, kind: str) -> int:
    if name not in indexes:
        listed = ", ".join(islice(indexes, 12)) + (", ..." if len(indexes) > 12 else "")
        raise PolicyError(
            f"{where} {shown(name)}, which is not one of the {kind}s ({listed})."
            f"{did_you_mean(name, indexes)}"
        )
    return indexes[name]


def _kind(value: object) -> str:
    kinds = {dict: "an object", list: "a list", str: "text", bool: "true or false"}
    if value is None:
        return "null"
    return kinds.get(type(value), f"the number {str(value)[:30]}")
