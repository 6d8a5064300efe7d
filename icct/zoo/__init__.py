"""Policies that ship with the package: one JSON file and one card each.

Some are written by hand (`zoo:ring-cruiser`). Those of the form `zoo:TASK/METHOD` are the best
trees of the recipe icct, made by `icct bench zoo`; `zoo:plant/NAME` is for `plant:NAME`.
"""

from importlib import resources
from pathlib import Path

from icct.errors import PolicyError, did_you_mean
from icct.policy.file import policy_from_json, read_policy
from icct.policy.policy import Policy

PREFIX = "zoo:"
MOST_OFFERED = 10
FOLDER = Path(str(resources.files(__name__)))


def zoo_names() -> tuple[str, ...]:
    """Return the names of the shipped policies."""
    files = (*FOLDER.glob("*.json"), *FOLDER.glob("*/*.json"))
    return tuple(sorted(path.relative_to(FOLDER).with_suffix("").as_posix() for path in files))


def zoo_summary() -> str:
    """Return the names of the shipped policies in a few words."""
    alone = [name for name in zoo_names() if "/" not in name]
    folders = dict.fromkeys(name.split("/")[0] for name in zoo_names() if "/" in name)
    inside = (f"{name}/{'NAME' if name == 'plant' else 'METHOD'}" for name in folders)
    return ", ".join([*alone, *inside])


def zoo_policy(name: str) -> Policy:
    """Return a shipped policy.

    >>> zoo_policy("ring-cruiser").actions[0].name
    'acceleration'
    """
    names = zoo_names()
    if name not in names:
        own = [one for one in names if one.startswith(f"{name.split('/')[0]}/")]
        there = ", ".join(own) or zoo_summary()
        raise PolicyError(
            f"There is no shipped policy {name!r}; there are {there}.{did_you_mean(name, names)}"
        )
    return policy_from_json((FOLDER / f"{name}.json").read_bytes())


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
    if Path(source).is_dir():
        raise PolicyError(_offer(Path(source)))
    return read_policy(source)


def policies_inside(folder: Path) -> list[Path]:
    """Return the policies in a run folder, those to deploy first."""
    to_deploy = folder / "policies"
    return sorted(
        folder.rglob("seed-*.json"), key=lambda path: (not path.is_relative_to(to_deploy), path)
    )


def _offer(folder: Path) -> str:
    """Return that a folder is no policy, and the policies in it."""
    inside = policies_inside(folder)
    if not inside:
        return (
            f"{folder} is a folder without policies, expected a policy file or zoo:NAME. Training "
            "writes the first policy after its first evaluation."
        )
    shown = "\n".join(f"  {path}" for path in inside[:MOST_OFFERED])
    more = len(inside) - MOST_OFFERED
    rest = f"\n  and {more} more" if more > 0 else ""
    return f"{folder} is a folder, expected a policy file. Name one of those in it:\n{shown}{rest}"


def lasting_source(source: str) -> str:
    """Return a source that names the same policy from any folder.

    >>> lasting_source("zoo:ring-cruiser")
    'zoo:ring-cruiser'
    """
    return source if source.startswith(PREFIX) else str(Path(source).resolve())
