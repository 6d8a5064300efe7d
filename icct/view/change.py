"""Changes that the page asks for, in physical units → an edited policy, and what they do.

They go through `icct.policy.edit`, so that a policy from the page is as sound as one from a file.
Nothing is overwritten: an edited policy is saved under a name that no file has.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from icct.errors import PolicyError
from icct.policy import Policy, Split
from icct.policy.difference import difference
from icct.policy.edit import set_bias, set_threshold, set_weight
from icct.policy.file import write_policy
from icct.policy.quantity import raw_number
from icct.policy.units import ONE, in_physical_units, scales_of
from icct.verify import Property
from icct.verify.check import Proved
from icct.verify.compare import compare

FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}\Z")


@dataclass(frozen=True)
class Change:
    """One number of a node: a threshold, or a weight or bias of one action (by position)."""

    node: int
    value: float  # in physical units
    action: int | None = None  # None: the threshold
    feature: int | None = None  # None with an action: the bias


def edited_policy(policy: Policy, changes: Sequence[Change]) -> Policy:
    """Return the policy with some numbers changed.

    >>> from icct.zoo import zoo_policy
    >>> edited_policy(zoo_policy("ring-cruiser"), [Change(node=0, value=6.0)]).split(0).threshold
    0.2
    """
    scales = scales_of(policy)
    for change in changes:
        if change.action is None:
            node = policy.nodes[change.node] if change.node < len(policy.nodes) else None
            scale = scales.features[node.feature] if isinstance(node, Split) else ONE
            policy, _ = set_threshold(policy, change.node, raw_number(change.value, scale))
            continue
        action = _at(policy.actions, change.action, "action")
        if change.feature is None:
            value = raw_number(change.value, scales.bias(change.action))
            policy, _ = set_bias(policy, change.node, action.name, value)
        else:
            feature = _at(policy.features, change.feature, "feature")
            scale = scales.weight(change.feature, change.action)
            value = raw_number(change.value, scale)
            policy, _ = set_weight(policy, change.node, action.name, feature.name, value)
    return policy


def _at(parts: Sequence[Any], position: int, kind: str) -> Any:
    if position >= len(parts):
        raise PolicyError(f"there is no {kind} {position}, expected one of 0 to {len(parts) - 1}.")
    return parts[position]


def consequences(
    before: Policy,
    after: Policy,
    properties: Sequence[Property],
    observation: Sequence[float] | None,
) -> dict[str, Any]:
    """Return what a change does, ready for JSON: over all observations, and for the one shown."""
    moved = difference(in_physical_units(before), in_physical_units(after))
    found: dict[str, Any] = {
        "bounds": [
            str(bound) if bound.largest > 0 else f"{bound.action} does not change"
            for bound in moved.actions
        ],
        "moves": any(bound.largest > 0 for bound in moved.actions),
        "alike": moved.alike,
        "properties": [
            {
                "name": row.row[0],
                "text": row.after.property.text,
                "why": row.after.property.why,
                "before": row.row[1],
                "after": row.row[2],
                "holds": isinstance(row.after, Proved),
                "held": isinstance(row.before, Proved),
            }
            for row in compare(before, after, properties)
        ],
        "here": None,
    }
    if observation is not None:
        found["here"] = {
            "before": before.act(observation).tolist(),
            "after": after.act(observation).tolist(),
            "path": list(after.path(observation)),
        }
    return found


def save_new(policy: Policy, folder: Path, name: str) -> Path:
    """Write a policy to a new file of a folder and return its path; no file is overwritten."""
    if not FILE_NAME.match(name):
        raise PolicyError(
            f"{name!r} is no name for a file: expected letters, digits, '.', '-' and '_', at most "
            "100, in the folder where icct view was started."
        )
    path = folder / (name if name.endswith(".json") else f"{name}.json")
    try:
        path.open("x").close()  # claims the name, or fails
    except FileExistsError:
        raise PolicyError(
            f"{path.name} exists already and stays as it is: choose another name."
        ) from None
    except OSError as problem:
        raise PolicyError(f"{path}: cannot be written: {problem.strerror}.") from None
    try:
        write_policy(policy, path)
    except PolicyError:
        path.unlink(missing_ok=True)
        raise
    return path
