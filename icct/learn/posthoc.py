"""A trained fuzzy or noisy tree → the crisp policy made of it after training, as prior work does.

The policy acts differently from what was trained, which is what `icct bench crisp` measures.
"""

import torch

from icct.baselines import FuzzyTreeActor, NoisyTreeActor
from icct.learn.freeze import crispify, freeze
from icct.learn.module import TreeModule
from icct.methods import LeafKind, TreeConfig
from icct.policy import Policy, Provenance


def crisp_policy(
    actor: FuzzyTreeActor | NoisyTreeActor, provenance: Provenance | None = None
) -> Policy:
    """Return the crisp policy that a trained tree becomes without its fuzziness or noise."""
    module = _module(actor)
    name = f"{actor.name}-crisp"
    if isinstance(actor, FuzzyTreeActor):
        return crispify(module, actor.features, actor.actions, name=name, provenance=provenance)
    policy = freeze(module, actor.features, actor.actions, name=name, provenance=provenance)
    return policy.noted("made crisp after training: does not act as the trained noisy tree")


def _module(actor: FuzzyTreeActor | NoisyTreeActor) -> TreeModule:
    """Return the module that an actor was taken from."""
    tensors = dict(actor.tensors)
    sparse, fuzzy = "leaf_selectors" in tensors, isinstance(actor, FuzzyTreeActor)
    kind: LeafKind = "sparse" if sparse else "complete" if "leaf_weights" in tensors else "static"
    count = int(tensors.pop("leaf_features")[0]) if sparse else 1
    nodes = len(tensors["node_biases"])
    config = TreeConfig(
        leaves=nodes + 1,
        routing="fuzzy" if fuzzy else "crisp",
        leaf=kind,
        leaf_features=count,
        selector="argmax" if fuzzy else "gumbel",
        sharpness="per_node" if len(tensors["sharpness"]) > 1 else "shared",
    )
    module = TreeModule(config, len(actor.features), len(actor.actions)).eval()
    with torch.no_grad():
        module.log_std.zero_()  # an actor keeps no training noise
        for key, tensor in tensors.items():
            getattr(module, key)[0] = torch.from_numpy(tensor)
    return module
