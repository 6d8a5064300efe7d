"""A member of a population as something that acts without torch: a policy, or a baseline."""

from pathlib import Path

import numpy as np
import torch
from torch import nn

from icct.baselines import (
    FuzzyTreeActor,
    NoisyTreeActor,
    PerceptronActor,
    read_actor,
    write_actor,
)
from icct.baselines.file import SUFFIX
from icct.learn.config import TrainConfig
from icct.learn.freeze import freeze
from icct.learn.module import TreeModule
from icct.learn.networks import MlpModule
from icct.learn.scaling import Scaling, folded
from icct.policy import Policy, Provenance
from icct.policy.file import read_policy, write_policy

Snapshot = Policy | PerceptronActor | FuzzyTreeActor | NoisyTreeActor


def snapshot(
    module: nn.Module,
    config: TrainConfig,
    member: int,
    provenance: Provenance,
    scaling: Scaling | None = None,
) -> Snapshot:
    """Return one member, frozen, for raw observations. Module and scaling must be on the CPU."""
    task, name = config.task, f"{config.method}-seed-{config.seeds[member]}"
    if isinstance(module, MlpModule):
        tensors = {}
        for index in range(0, len(module.layers), 2):
            last = index + 2 == len(module.layers)
            keep = slice(module.actions) if last else slice(None)  # the mean, not the log_std
            weight, bias = module.layers[index][member], module.layers[index + 1][member, 0]
            tensors[f"weight_{index // 2}"] = _array(weight[:, keep])
            tensors[f"bias_{index // 2}"] = _array(bias[keep])
        if scaling is not None:
            weights, excess = folded(tensors["weight_0"].T, scaling, member)
            tensors["weight_0"] = weights.T.astype(np.float32)
            tensors["bias_0"] = (tensors["bias_0"] - excess).astype(np.float32)
        return PerceptronActor(name, task.features, task.actions, tensors)
    assert isinstance(module, TreeModule)
    if module.config.routing == "fuzzy":
        tensors = _tensors(module, member)
        if scaling is not None:
            _fold_fuzzy(tensors, scaling, member)
        return FuzzyTreeActor(name, task.features, task.actions, tensors)
    if module.config.selector == "gumbel":  # what was trained has noise; `posthoc` takes it away
        return NoisyTreeActor(name, task.features, task.actions, _tensors(module, member))
    return freeze(
        module,
        task.features,
        task.actions,
        member=member,
        name=name,
        provenance=provenance,
        scaling=scaling,
    )


def write_snapshot(actor: Snapshot, path: Path) -> Path:
    """Write a snapshot with the suffix of its kind, and return the path."""
    if isinstance(actor, Policy):
        path = path.with_name(path.name + ".json")
        write_policy(actor, path)
    else:
        path = path.with_name(path.name + SUFFIX)
        write_actor(actor, path)
    return path


def read_snapshot(path: Path) -> Snapshot:
    """Return a policy or a baseline from its file."""
    return read_actor(path) if path.suffix == SUFFIX else read_policy(path)


def _fold_fuzzy(tensors: dict[str, np.ndarray], scaling: Scaling, member: int) -> None:
    """Let a fuzzy tree take raw observations; its nodes subtract their biases, its leaves add."""
    for part, sign in (("node", 1), ("leaf", -1)):
        if f"{part}_weights" in tensors:
            weights, excess = folded(tensors[f"{part}_weights"], scaling, member)
            tensors[f"{part}_weights"] = weights.astype(np.float32)
            biases = tensors[f"{part}_biases"] + sign * excess
            tensors[f"{part}_biases"] = biases.astype(np.float32)


def _tensors(module: TreeModule, member: int) -> dict[str, np.ndarray]:
    """Return the numbers of one tree by which it acts."""
    own = dict(module.named_parameters())
    own.pop("log_std")
    tensors = {key: _array(parameter[member]) for key, parameter in own.items()}
    if module.config.leaf == "sparse":
        tensors["leaf_features"] = np.array([module.config.leaf_features], np.float32)
    return tensors


def _array(tensor: torch.Tensor) -> np.ndarray:
    return tensor.detach().float().contiguous().numpy().copy()
