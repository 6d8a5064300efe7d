"""Actors that are no policy ↔ safetensors files: numbers and a description, nothing to execute."""

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from icct.baselines import fuzzy_tree, noisy_tree, perceptron
from icct.baselines.fuzzy_tree import FuzzyTreeActor
from icct.baselines.noisy_tree import NoisyTreeActor
from icct.baselines.perceptron import PerceptronActor
from icct.errors import MissingExtraError, PolicyError
from icct.policy import Action, Feature

SUFFIX = ".safetensors"
FORMAT = "icct-actor"
VERSION = "1"
Actor = PerceptronActor | FuzzyTreeActor | NoisyTreeActor
KINDS: dict[str, type[Actor]] = {
    perceptron.KIND: PerceptronActor,
    fuzzy_tree.KIND: FuzzyTreeActor,
    noisy_tree.KIND: NoisyTreeActor,
}


def write_actor(actor: Actor, path: str | os.PathLike[str], note: str = "") -> None:
    """Write an actor to a file; the file is complete or untouched."""
    save = _safetensors().save
    description = {
        "format": FORMAT,
        "version": VERSION,
        "kind": actor.kind,
        "name": actor.name,
        "features": json.dumps([asdict(feature) for feature in actor.features]),
        "actions": json.dumps([asdict(action) for action in actor.actions]),
        "note": note,
    }
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_bytes(save(actor.tensors, metadata=description))
        os.replace(temporary, path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise PolicyError(f"{path}: cannot be written: {error.strerror}.") from None


def read_actor(path: str | os.PathLike[str]) -> Actor:
    """Return the actor in a file, or raise a `PolicyError` that says what is wrong with it."""
    _safetensors()
    from safetensors import SafetensorError, safe_open

    path = Path(path)
    if not path.is_file():
        raise PolicyError(f"{path}: cannot be read: No such file.")
    try:
        with safe_open(path, framework="numpy") as file:
            about = file.metadata() or {}
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
        if about.get("format") != FORMAT or about.get("version") != VERSION:
            raise PolicyError(f"{path.name}: this is not a file of an icct actor.")
        if about.get("kind") not in KINDS:
            raise PolicyError(f"{path.name}: there is no kind of actor {about.get('kind')!r}.")
        features = [Feature(**item) for item in json.loads(about["features"])]
        actions = [Action(**item) for item in json.loads(about["actions"])]
    except (SafetensorError, OSError, ValueError, KeyError, TypeError) as error:
        raise PolicyError(f"{path.name}: not a readable actor file ({error}).") from None
    for key, tensor in tensors.items():
        if tensor.dtype != np.float32 or not np.isfinite(tensor).all():
            raise PolicyError(f"{path.name}: tensor {key!r} is not finite float32 numbers.")
    return KINDS[about["kind"]](about.get("name", path.stem), features, actions, tensors)


def _safetensors() -> Any:
    try:
        import safetensors.numpy
    except ImportError:
        raise MissingExtraError(
            'Actor files need safetensors. Install it with: pip install "icct[train]"'
        ) from None
    return safetensors.numpy
