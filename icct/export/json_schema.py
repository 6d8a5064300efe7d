"""Policy → JSON Schema of its file: what an editor or another program may change in it.

The schema allows every policy file with the same features and actions, and nothing else; whether
the nodes form a tree is beyond a schema, and `read_policy` checks it.
"""

import json
from typing import Any, get_args

from icct.policy import Policy
from icct.policy.file import FORMAT, VERSION, policy_digest
from icct.policy.parts import Origin, Squash

Json = dict[str, Any]
DIALECT = "https://json-schema.org/draft/2020-12/schema"
NUMBER_OR_NULL = {"type": ["number", "null"]}  # null: no bound


def export_json_schema(policy: Policy) -> str:
    """Return the JSON Schema (2020-12) of policy files with this policy's features and actions.

    >>> from icct.zoo import zoo_policy
    >>> schema = json.loads(export_json_schema(zoo_policy("lane-weaver")))
    >>> schema["properties"]["actions"]["maxItems"]
    2
    """
    index = {"type": "integer", "minimum": 0}
    names = [feature.name for feature in policy.features]
    rule = _object({"weights": _weights(names), "bias": {"type": "number"}}, required=["bias"])
    leaf = _object({action.name: rule for action in policy.actions})
    split = _object(
        {"split": {"enum": names}, "threshold": {"type": "number"}, "below": index, "above": index}
    )
    log_std = _list({"type": "number"}, len(policy.actions))
    acting = _object({"leaf": leaf, "log_std": log_std}, required=["leaf"])
    schema = {
        "$schema": DIALECT,
        "title": f"Policy files with the features and actions of {policy.name}",
        "$comment": f"Made from the policy file with SHA-256 {policy_digest(policy)}",
        **_object(
            {
                "format": {"const": FORMAT},
                "version": {"const": VERSION},
                "name": {"type": "string"},
                "features": _in_order(names, {"origin": {"enum": list(get_args(Origin))}}),
                "actions": _in_order([action.name for action in policy.actions], {}),
                "squash": {"enum": list(get_args(Squash))},
                "nodes": {"type": "array", "minItems": 1, "items": {"anyOf": [split, acting]}},
                "provenance": _provenance(),
            },
            required=["format", "version", "name", "features", "actions", "squash", "nodes"],
        ),
    }
    return json.dumps(schema, indent=2) + "\n"


def _in_order(names: list[str], more: Json) -> Json:
    """Return the schema of a list of features or actions, each with the name of its position."""
    part = {"unit": {"type": "string"}, "low": NUMBER_OR_NULL, "high": NUMBER_OR_NULL, **more}
    items = [_object({"name": {"const": name}, **part}, required=["name"]) for name in names]
    return {"type": "array", "prefixItems": items, **_length(len(names))}


def _weights(names: list[str]) -> Json:
    return {
        "type": "object",
        "propertyNames": {"enum": names},
        "additionalProperties": {"type": "number"},
    }


def _provenance() -> Json:
    text = {"type": ["string", "null"]}
    scalar = {"type": ["string", "number", "boolean", "null"]}
    fields = {
        "task": text,
        "method": text,
        "seed": {"type": ["integer", "null"]},
        "commit": text,
        "versions": {"type": "object", "additionalProperties": {"type": "string"}},
        "config": {"type": "object", "additionalProperties": scalar},
        "history": {"type": "array", "items": {"type": "string"}},
    }
    return _object(fields, required=[])


def _object(properties: Json, required: list[str] | None = None) -> Json:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties) if required is None else required,
        "additionalProperties": False,
    }


def _list(items: Json, count: int) -> Json:
    return {"type": "array", "items": items, **_length(count)}


def _length(count: int) -> Json:
    return {"minItems": count, "maxItems": count}
