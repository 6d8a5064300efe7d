"""Actors that are no policy ↔ safetensors files: numbers and a description, nothing to execute."""

import json
import os
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icct.baselines import fuzzy_tree, noisy_tree, perceptron
from icct.baselines.fuzzy_tree import FuzzyTreeActor
from icct.baselines.noisy_tree import NoisyTreeActor
from icct.baselines.perceptron import PerceptronActor
from icct.errors import MissingExtraError, PolicyError, shown
from icct.files import json_from, naming, read_bytes, write_atomically
from icct.policy import Action, Feature
from icct.policy.parts import LONGEST_NAME, check_text

SUFFIX = ".safetensors"
FORMAT = ("icct-actor", "1")  # and version
LARGEST_FILE = 16 * 2**20  # bytes; 2 layers of 256 take 0.3 MiB
LARGEST_HEADER = 2**20
Baseline = PerceptronActor | FuzzyTreeActor | NoisyTreeActor
KINDS: dict[str, type[Baseline]] = {
    perceptron.KIND: PerceptronActor,
    fuzzy_tree.KIND: FuzzyTreeActor,
    noisy_tree.KIND: NoisyTreeActor,
}


def write_actor(actor: Baseline, path: str | os.PathLike[str], note: str = "") -> None:
    """Write an actor to a file; the file is complete or untouched."""
    save = _safetensors().save
    description = {
        "format": FORMAT[0],
        "version": FORMAT[1],
        "kind": actor.kind,
        "name": actor.name,
        "features": json.dumps([asdict(feature) for feature in actor.features]),
        "actions": json.dumps([asdict(action) for action in actor.actions]),
        "note": note,
    }
    write_atomically(path, save(actor.tensors, metadata=description), PolicyError)


def read_actor(path: str | os.PathLike[str]) -> Baseline:
    """Return the actor in a file, or raise a `PolicyError` that says what is wrong with it."""
    load = _safetensors().load
    from safetensors import SafetensorError

    content = read_bytes(path, "an actor file", LARGEST_FILE, PolicyError)
    with naming(path, PolicyError):
        about = _description(content)
        try:
            tensors = load(content)
            _check_numbers(tensors)
            features = [Feature(**item) for item in _items(about["features"])]
            actions = [Action(**item) for item in _items(about["actions"])]
            return KINDS[about["kind"]](about["name"], features, actions, tensors)
        except (SafetensorError, ValueError, KeyError, TypeError) as error:
            raise PolicyError(f"not a readable actor file ({error}).") from None


def _description(content: bytes) -> dict[str, str]:
    """Return what a file says of itself: in JSON, after 8 bytes with the length of the JSON."""
    length = int.from_bytes(content[:8], "little")
    if length > LARGEST_HEADER:
        raise PolicyError("this is not a file of an icct actor.")
    header = json_from(content[8 : 8 + length], PolicyError)
    about = header.get("__metadata__") if isinstance(header, dict) else None
    if not isinstance(about, dict) or (about.get("format"), about.get("version")) != FORMAT:
        raise PolicyError("this is not a file of an icct actor.")
    if about.get("kind") not in KINDS:
        raise PolicyError(f"there is no kind of actor {shown(about.get('kind'))}.")
    check_text(about.get("name"), "the actor's name", LONGEST_NAME)
    return about


def _items(text: str) -> list[dict[str, Any]]:
    """Return the features or actions that stand as JSON inside the JSON."""
    items = json_from(text, PolicyError)
    if not isinstance(items, list) or not items:
        raise PolicyError(f"found {shown(items)}, expected a list of features or actions.")
    return items


def _check_numbers(tensors: dict[str, NDArray[Any]]) -> None:
    for key, tensor in tensors.items():
        if tensor.dtype != np.float32 or not np.isfinite(tensor).all():
            raise PolicyError(f"tensor {shown(key)} is not finite float32 numbers.")


def _safetensors() -> Any:
    try:
        import safetensors.numpy
    except ImportError:
        raise MissingExtraError(
            'Actor files need safetensors. Install it with: pip install "icct[train]"'
        ) from None
    return safetensors.numpy
