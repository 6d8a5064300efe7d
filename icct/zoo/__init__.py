"""Policies that ship with the package: one JSON file and one card each."""

from importlib import resources
from pathlib import Path

from icct.errors import PolicyError, did_you_mean
from icct.policy.file import policy_from_json, read_policy
from icct.policy.policy import Policy

PREFIX = "zoo:"


def zoo_names() -> tuple[str, ...]:
    """Return the names of the shipped policies."""
    files = (item.name for item in resources.files(__name__).iterdir())
    return tuple(sorted(name[: -len(".json")] for name in files if name.endswith(".json")))


def zoo_policy(name: str) -> Policy:
    """Return a shipped policy.

    >>> zoo_policy("ring-cruiser").actions[0].name
    'acceleration'
    """
    if name not in zoo_names():
        raise PolicyError(
            f"There is no shipped policy {name!r}; there are {', '.join(zoo_names())}."
            f"{did_you_mean(name, zoo_names())}"
        )
    return policy_from_json(resources.files(__name__).joinpath(f"{name}.json").read_bytes())


def load_policy(source: str) -> Policy:
    """Return the policy that `source` names: `zoo:NAME`, or the path of a policy file."""
    if source.startswith(PREFIX):
        return zoo_policy(source.removeprefix(PREFIX))
    if source.endswith(".zip"):
        raise PolicyError(
            f"{source} looks like a model of Stable-Baselines3. One with a tree policy becomes a "
            "policy file with icct.sb3.to_policy and icct.write_policy; see "
            "docs/stable-baselines3.md."
        )
    return read_policy(source)


def lasting_source(source: str) -> str:
    """Return a source that names the same policy from any folder.

    >>> lasting_source("zoo:ring-cruiser")
    'zoo:ring-cruiser'
    """
    return source if source.startswith(PREFIX) else str(Path(source).resolve())
