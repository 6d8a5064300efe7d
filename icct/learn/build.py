"""A configuration → its actors, its critics and their update rule, at their start."""

import torch

from icct.errors import ConfigError
from icct.learn.config import TrainConfig
from icct.learn.fast import Accelerate, FastCritics, unchanged
from icct.learn.module import TreeModule
from icct.learn.networks import MlpModule, TwinCritics
from icct.learn.sac import Sac
from icct.learn.td3 import Td3
from icct.learn.thaw import thaw
from icct.zoo import load_policy

UPDATE_RULES: dict[str, type[Sac] | type[Td3]] = {"sac": Sac, "td3": Td3}


def make_learner(
    config: TrainConfig, device: torch.device, accelerate: Accelerate = unchanged
) -> Sac | Td3:
    """Return the update rule of a configuration with its actors and critics."""
    actor, critics = make_actor(config).to(device), make_critics(config).to(device)
    return UPDATE_RULES[config.algorithm](config, actor, critics, accelerate)


def make_actor(config: TrainConfig) -> TreeModule | MlpModule:
    """Return the actors that a configuration describes, at their start."""
    sizes = len(config.task.features), len(config.task.actions)
    if not config.is_tree:
        return MlpModule(config.network.hidden, *sizes, config.seeds)
    module = TreeModule(config.shape, *sizes, config.seeds)
    module.temperature.copy_(torch.tensor(config.per_member("temperature")))
    module.l1.copy_(torch.tensor(config.per_member("l1")))
    if config.growth.grow:
        module.active = starting_shape(config).expand(config.members, -1).clone()
    if config.start.init:
        _start_from(module, config)
    return module


def starting_shape(config: TrainConfig) -> torch.Tensor:
    """Return which nodes of a growing tree decide at the start, (nodes,): the first levels."""
    return torch.arange(config.shape.leaves - 1) < config.tree.leaves - 1


def _start_from(module: TreeModule, config: TrainConfig) -> None:
    """Set each member to the policy it starts from."""
    given = config.start.init
    files = given if len(given) > 1 else given * config.members
    shapes = []
    for member, path in enumerate(files):
        policy = load_policy(path)
        config.task.check_fits(policy)
        if policy.squash != "tanh":
            raise ConfigError(
                f"{path}: its actions are squashed by {policy.squash!r}, and training squashes by "
                "'tanh'. A tree that icct distill makes with --features can be trained on."
            )
        thawed = thaw(policy, config=config.shape)
        whole = torch.ones(1, config.shape.leaves - 1, dtype=torch.bool)
        shapes.append(whole if thawed.active is None else thawed.active)
        with torch.no_grad():
            for ours, theirs in zip(module.parameters(), thawed.parameters(), strict=True):
                ours[member] = theirs[0]
    module.active = torch.cat(shapes)


def make_critics(config: TrainConfig) -> TwinCritics:
    """Return the critics that a configuration describes, at their start."""
    sizes = len(config.task.features), len(config.task.actions)
    critics = FastCritics(config.network.critic_hidden, *sizes, config.seeds)
    critics.hidden_dtype = getattr(torch, config.network.critic_precision)
    return critics
