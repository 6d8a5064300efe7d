"""Save a run so that it goes on as if nothing had happened; reading executes nothing.

Tensors and arrays go to one safetensors file with the rest as JSON in its header. Random numbers
need no saving (see noise.py); environments are brought back by playing the running episodes again.
The file takes the place of the old one in one step: a kill at any moment leaves a whole one. A
group that has taken its last step needs no tensors: a run that only waits for evaluations is small
enough to be finished on another machine.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from icct.errors import ConfigError, FileError
from icct.files import json_from, replacing
from icct.learn.group import Group
from icct.learn.run import DAMAGED, Member

FILE = "checkpoint.safetensors"
VERSION = "4"
ARRAYS = ("episodes", "lengths", "played")


@dataclass(frozen=True)
class Progress:
    """Where a run stands, beside its tensors."""

    step: int = 0
    elapsed_s: float = 0.0
    metrics_bytes: int = 0  # of the CSV file of measurements
    pending: tuple[tuple[int, int], ...] = ()  # (member, step) of evaluations to do again
    members: tuple[dict[str, Any], ...] = ()  # as `Member.as_json` has them


def save_checkpoint(folder: Path, groups: Sequence[Group], progress: Progress) -> None:
    """Write everything a run needs to go on."""
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    tensors: dict[str, Tensor] = {}
    for number, group in enumerate(groups):
        if progress.step >= group.config.steps:
            continue
        group.programs.synchronize()
        for key, tensor in _filled(group).items():
            tensors[f"{number}.{key}"] = tensor.detach().cpu().contiguous()
        for key in ARRAYS:
            tensors[f"{number}.{key}"] = torch.from_numpy(getattr(group, key))
    told = json.dumps(asdict(progress))
    about = {"format": "icct-checkpoint", "version": VERSION, "progress": told}
    try:
        with replacing(folder / FILE, error=ConfigError) as (temporary,):
            save_file(tensors, temporary, metadata=about)
    except (SafetensorError, ConfigError) as error:  # a full disk is both, by where it is noticed
        raise ConfigError(
            f"{folder}: the checkpoint cannot be written ({error}). The one before it is intact; "
            "make room and continue with icct train --resume."
        ) from None


def load_checkpoint(folder: Path, groups: Sequence[Group]) -> Progress:
    """Bring groups to where a run was saved, and return its progress."""
    from safetensors import SafetensorError, safe_open

    path = folder / FILE
    try:
        with safe_open(path, framework="pt") as file:
            about = file.metadata() or {}
            if about.get("format") != "icct-checkpoint" or about.get("version") != VERSION:
                raise ConfigError(
                    f"{path}: a checkpoint of version {about.get('version')!r}; this icct reads "
                    f"version {VERSION}. Resume with the icct that wrote it, or start anew."
                )
            progress = _progress(json_from(about["progress"]), groups)
            for number, group in enumerate(groups):
                if progress.step >= group.config.steps:
                    continue
                for key, tensor in group.state().items():
                    saved = file.get_tensor(f"{number}.{key}")
                    part = tensor[:, : saved.shape[1]] if key == "replay.rows" else tensor
                    if part.shape != saved.shape:
                        raise ConfigError(f"{path}: {key} has shape {tuple(saved.shape)}.")
                    with torch.no_grad():
                        part.copy_(saved)
                for key in ARRAYS:
                    getattr(group, key)[:] = file.get_tensor(f"{number}.{key}").numpy()
            return progress
    except (SafetensorError, FileError, OSError, *DAMAGED) as error:
        raise ConfigError(
            f"{path}: not a readable checkpoint ({type(error).__name__}: {error}). Remove it to "
            "let the run begin anew."
        ) from None


def _progress(values: Any, groups: Sequence[Group]) -> Progress:
    """Return what a checkpoint says, or raise one of `DAMAGED` if it cannot be of these groups."""
    found = Progress(
        step=values["step"],
        elapsed_s=float(values["elapsed_s"]),
        metrics_bytes=values["metrics_bytes"],
        pending=tuple((member, step) for member, step in values["pending"]),
        members=tuple(values["members"]),
    )
    steps = max(group.config.steps for group in groups)
    numbers = [found.metrics_bytes, *(number for entry in found.pending for number in entry)]
    if not all(type(number) is int and number >= 0 for number in numbers):
        raise ValueError("a count is not a number from 0")
    if type(found.step) is not int or not 1 <= found.step <= steps:
        raise ValueError(f"step {found.step!r} is not one of {steps}")
    if any(member >= len(found.members) for member, _ in found.pending):
        raise ValueError("an evaluation is of no member")
    if len(found.members) != sum(group.config.members for group in groups):
        raise ValueError(f"it is of {len(found.members)} members")
    for kept in found.members:
        Member("", 0).restore(kept)
    return found


def _filled(group: Group) -> dict[str, Tensor]:
    """Return the group's state with the filled part of the replay only."""
    state = group.state()
    filled = min(int(group.replay.stored.item()), group.replay.rows.shape[1])
    return {**state, "replay.rows": state["replay.rows"][:, :filled]}
