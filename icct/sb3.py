"""Trees as policies of Stable-Baselines3: the same SAC, TD3 and PPO, with a tree for the actor.

Each class builds Stable-Baselines3's own policy and puts a `TreeModule` where its actor network
was; critics, sampling, log-probabilities, saving and the update rules stay as they are. What is
deployed is the `Policy` that `to_policy` makes of a trained model.

    model = SAC(TreeSACPolicy, env, policy_kwargs=dict(leaves=8, leaf="sparse", leaf_features=2))
    policy = to_policy(model.learn(100_000))
"""

import inspect
from collections.abc import Sequence
from dataclasses import asdict, fields, replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icct.errors import ConfigError, MissingExtraError, did_you_mean
from icct.policy import Action, Feature, Leaf, Policy, Provenance

try:
    import torch
    from gymnasium.envs.registration import EnvSpec
    from gymnasium.spaces import Box, Space
    from gymnasium.spaces.utils import flatdim
    from stable_baselines3.common.base_class import BaseAlgorithm
    from stable_baselines3.common.distributions import Distribution
    from stable_baselines3.common.policies import ActorCriticPolicy, BasePolicy
    from stable_baselines3.common.running_mean_std import RunningMeanStd
    from stable_baselines3.common.torch_layers import BaseFeaturesExtractor, FlattenExtractor
    from stable_baselines3.common.type_aliases import Schedule
    from stable_baselines3.common.vec_env import VecNormalize
    from stable_baselines3.sac.policies import Actor as SACActor
    from stable_baselines3.sac.policies import SACPolicy
    from stable_baselines3.td3.policies import Actor as TD3Actor
    from stable_baselines3.td3.policies import TD3Policy
except ModuleNotFoundError as error:
    raise MissingExtraError(
        f'icct.sb3 needs {error.name}. Install it with: pip install "icct[sb3]"'
    ) from error

from icct.envs.describe import DEFAULT_HORIZON
from icct.envs.find import OPTION, remembered
from icct.envs.spaces import action_numbers, observation_numbers
from icct.envs.task import Task
from icct.learn import TreeConfig, TreeModule, freeze, tree_config
from icct.policy.parts import Scalar

__all__ = ["TreePPOPolicy", "TreeSACPolicy", "TreeTD3Policy", "to_policy"]

TREE_OPTIONS = ("method", *(field.name for field in fields(TreeConfig)))


if TYPE_CHECKING:
    Mixin = BasePolicy  # what every class that `TreePolicy` is mixed into also is
else:
    Mixin = object


class TreePolicy(Mixin):
    """What the three policies share: tree options apart from Stable-Baselines3's, and checks.

    Every field of `TreeConfig` is an option, and `method` names a preset of `icct.learn.METHODS`
    that the other fields change. All options of the Stable-Baselines3 policy are passed on;
    `net_arch` shapes the critics, since a tree has no layers.
    """

    tree_config: TreeConfig

    def __init__(
        self,
        observation_space: Space[Any],
        action_space: Space[Any],
        lr_schedule: Schedule,
        **options: Any,
    ) -> None:
        build = super().__init__
        known = [*TREE_OPTIONS, *list(inspect.signature(build).parameters)[3:]]
        for name in options:
            if name not in known:
                raise ConfigError(
                    f"{type(self).__name__} has no option {name!r}; known are {', '.join(known)}."
                    f"{did_you_mean(name, known)}"
                )
        _checked_box(observation_space, "observation")
        _checked_box(action_space, "action")
        _check_network_options(options)
        shape = {name: options.pop(name) for name in TREE_OPTIONS if name in options}
        method = shape.pop("method", None)
        self.tree_config = tree_config(method, **shape) if method else TreeConfig(**shape)
        build(observation_space, action_space, lr_schedule, **options)

    @property
    def tree(self) -> TreeModule:
        """The tree in training; the actor stands before its target."""
        return next(part for part in self.modules() if isinstance(part, TreeModule))

    def _get_constructor_parameters(self) -> dict[str, Any]:
        """Return what `policy.save` keeps, from which `load` makes the policy again."""
        data: dict[str, Any] = super()._get_constructor_parameters() | asdict(self.tree_config)
        if isinstance(data["net_arch"], dict):
            data["net_arch"] = data["net_arch"] | {"pi": []}  # SB3's default has layers here
        return data

    def _new_tree(self) -> "SingleTree":
        """Return a tree for these spaces; its start follows torch's seed, which SB3 sets."""
        seed = int(torch.randint(2**31, ()))
        sizes = flatdim(self.observation_space), flatdim(self.action_space)
        return SingleTree(TreeModule(self.tree_config, *sizes, seeds=(seed,)))


class TreeSACPolicy(TreePolicy, SACPolicy):
    """A tree for SAC: mean and standard deviation from the leaf, squashed by tanh."""

    def make_actor(self, features_extractor: BaseFeaturesExtractor | None = None) -> SACActor:
        """Return SB3's actor with the tree for its layers; the heads take its two outputs."""
        actor = super().make_actor(features_extractor)
        actor.add_module("latent_pi", self._new_tree())
        actor.add_module("mu", Item(0))
        actor.add_module("log_std", Item(1))
        return actor.to(self.device)


class TreeTD3Policy(TreePolicy, TD3Policy):
    """A tree for TD3 (and DDPG): the leaf's mean, squashed by tanh.

    The leaves have no standard deviation to learn: `log_std` stays at its start, and `to_policy`
    leaves it out.
    """

    def make_actor(self, features_extractor: BaseFeaturesExtractor | None = None) -> TD3Actor:
        """Return SB3's actor with the tree for its layers."""
        actor = super().make_actor(features_extractor)
        single = self._new_tree()
        single.tree.log_std.requires_grad_(False)
        actor.mu = torch.nn.Sequential(single, Item(0), torch.nn.Tanh())
        return actor.to(self.device)


class TreePPOPolicy(TreePolicy, ActorCriticPolicy):
    """A tree for PPO (and A2C): mean, in the action's own units, and deviation from the leaf.

    As with SB3's own policy, every standard deviation starts at exp(`log_std_init`).
    """

    def _build(self, lr_schedule: Schedule) -> None:
        super()._build(lr_schedule)
        self.mlp_extractor.policy_net = torch.nn.Sequential()  # the tree reads the observation
        self.mlp_extractor.latent_dim_pi = self.features_dim
        self.action_net = self._new_tree().to(self.device)
        self.log_std = self.tree.log_std  # the same parameter; PPO logs it as train/std
        torch.nn.init.constant_(self.log_std, self.log_std_init)
        self.optimizer = self.optimizer_class(
            self.parameters(),
            lr=lr_schedule(1),  # type: ignore[call-arg]  # every optimiser but the base has it
            **self.optimizer_kwargs,
        )

    def _get_action_dist_from_latent(self, latent_pi: torch.Tensor) -> Distribution:
        return self.action_dist.proba_distribution(*self.action_net(latent_pi))


def to_policy(
    model: BaseAlgorithm,
    *,
    features: Sequence[Feature] | None = None,
    actions: Sequence[Action] | None = None,
    name: str = "tree",
    provenance: Provenance | None = None,
) -> Policy:
    """Return the policy that acts as `model.predict(observation, deterministic=True)` does.

    Where the model was trained behind `VecNormalize`, its scaling is folded into thresholds and
    weights: the policy takes raw observations. It does not clip them; the features' bounds say how
    far that makes no difference.

    Args:
        model: A model with one of the tree policies, trained or loaded.
        features: The observation's numbers; by default the task's, or x0, x1, ... with the space's
            bounds.
        actions: The action's numbers; by default the task's, or as `icct tasks` names them; their
            limits are the space's.
        name: What the policy is called.
        provenance: Where it comes from; by default what the model knows about itself.
    """
    tree_policy, task = _checked_policy(model), _task(model)
    normalised = _vec_normalised(model)
    observation_box = _checked_box(model.observation_space, "observation")
    action_box = _checked_box(model.action_space, "action")
    if features is None:
        features = _features(observation_box) if task is None else task.features
        if normalised is not None:
            features = normalised.unclipped(features)
    if actions is None:
        actions = _actions(action_box) if task is None else task.actions
    _check_limits(actions, action_box)
    policy = freeze(
        tree_policy.tree,
        features,
        actions,
        name=name,
        squash="tanh" if tree_policy.squash_output else "clip",
        provenance=provenance or _provenance(model),
        scaling=normalised,
    )
    if not isinstance(tree_policy, TreeTD3Policy):
        return policy
    nodes = (replace(n, log_std=None) if isinstance(n, Leaf) else n for n in policy.nodes)
    return replace(policy, nodes=tuple(nodes))


# -- modules ------------------------------------------------------------------------------------


class SingleTree(torch.nn.Module):
    """A tree without the members axis: (batch, features) → mean and log std, (batch, actions)."""

    def __init__(self, tree: TreeModule) -> None:
        super().__init__()
        self.tree = tree
        self.penalised = tree.config.l1 > 0 and tree.config.leaf != "static"
        if self.penalised:
            # The update rules know no penalty; its gradient joins that of their own loss.
            tree.leaf_weights.register_post_accumulate_grad_hook(self._add_penalty)

    def forward(self, observations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return mean and log standard deviation of the action before squashing."""
        batch = observations.unsqueeze(0)
        mean, log_std = self.tree(batch)
        if self.penalised and torch.is_grad_enabled():  # the batch that an update learns from
            penalty = self.tree.l1_penalty(batch).sum()
            (self.penalty_slope,) = torch.autograd.grad(penalty, self.tree.leaf_weights)
        return mean.squeeze(0), log_std.squeeze(0)

    def _add_penalty(self, leaf_weights: torch.Tensor) -> None:
        assert leaf_weights.grad is not None, "called when there is a gradient"
        leaf_weights.grad += self.penalty_slope


class Item(torch.nn.Module):
    """Takes one of the two tensors that a tree returns, where SB3 expects a layer."""

    def __init__(self, index: int) -> None:
        super().__init__()
        self.index = index

    def forward(self, pair: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
        """Return the tensor at `index`."""
        return pair[self.index]


# -- checks and defaults ------------------------------------------------------------------------


def _checked_box(space: Space[Any], kind: str) -> Box[Any]:
    if not isinstance(space, Box) or len(space.shape) != 1:
        raise ConfigError(
            f"The {kind} space is {space}; a tree needs a Box with one axis, one number for each "
            f"{'feature' if kind == 'observation' else 'action'}."
            + (" gymnasium.wrappers.FlattenObservation makes one." if kind == "observation" else "")
        )
    return space


def _check_network_options(options: dict[str, Any]) -> None:
    if options.get("use_sde"):
        raise ConfigError("A tree has no gSDE noise; leave use_sde at False.")
    if options.get("features_extractor_class", FlattenExtractor) is not FlattenExtractor:
        raise ConfigError(
            "A tree reads the observation itself; features_extractor_class must be left out."
        )
    net_arch = options.get("net_arch")
    if isinstance(net_arch, dict) and net_arch.get("pi"):
        raise ConfigError(
            f"net_arch has layers {net_arch['pi']} for 'pi', but the actor is a tree; use "
            "pi=[] and the tree's options (leaves, leaf, ...)."
        )


def _checked_policy(model: BaseAlgorithm) -> TreePolicy:
    """Return the model's policy if a frozen one can act as the model does."""
    if not isinstance(model.policy, TreePolicy):
        raise ConfigError(
            f"The model's policy is a {type(model.policy).__name__}, which is no tree; expected "
            "TreeSACPolicy, TreeTD3Policy or TreePPOPolicy."
        )
    return model.policy


class VecNormalised:
    """What `VecNormalize` does to observations, as `freeze` takes it back."""

    def __init__(self, normalize: VecNormalize) -> None:
        statistics = normalize.obs_rms
        assert isinstance(statistics, RunningMeanStd), "of a Box, which a tree policy demands"
        self._mean: NDArray[np.float64] = statistics.mean
        self._deviation: NDArray[np.float64] = np.sqrt(statistics.var + normalize.epsilon)
        self._clip: float = normalize.clip_obs

    def __call__(self, observations: torch.Tensor) -> torch.Tensor:
        """Return scaled and clipped observations, in the arithmetic of `VecNormalize`."""
        scaled = (observations.cpu().numpy() - self._mean) / self._deviation
        return torch.from_numpy(np.clip(scaled, -self._clip, self._clip)).to(observations)

    def member(self, member: int) -> tuple[np.ndarray, np.ndarray]:
        """Return what is subtracted from each feature, and what it is then multiplied by."""
        return self._mean, 1 / self._deviation

    def unclipped(self, features: Sequence[Feature]) -> list[Feature]:
        """Return the features with bounds within which nothing is clipped."""
        reach = self._clip * self._deviation
        return [
            replace(feature, low=max(feature.low, low), high=min(feature.high, high))
            for feature, low, high in zip(
                features, self._mean - reach, self._mean + reach, strict=True
            )
        ]


def _vec_normalised(model: BaseAlgorithm) -> VecNormalised | None:
    normalize = model.get_vec_normalize_env()
    return VecNormalised(normalize) if normalize is not None and normalize.norm_obs else None


def _features(space: Box[Any]) -> list[Feature]:
    numbers = observation_numbers(space, "the observation space")
    return [Feature(name, "", low, high) for name, low, high in numbers]


def _actions(space: Box[Any]) -> list[Action]:
    numbers = action_numbers(space, "the action space")
    return [Action(name, "", low, high) for name, low, high in numbers]


def _task(model: BaseAlgorithm) -> Task | None:
    """Return the task that the model was trained on, if it is one of ours and is still there."""
    envs = getattr(model.get_env(), "envs", None)  # None after loading, or in other processes
    task = getattr(envs[0].unwrapped, "task", None) if envs else None
    return task if isinstance(task, Task) else None


def _check_limits(actions: Sequence[Action], box: Box[Any]) -> None:
    given = np.array([(action.low, action.high) for action in actions], box.dtype).tolist()
    if len(given) == len(_bounds(box)) and given != _bounds(box):  # freeze counts them
        raise ConfigError(
            f"The actions have limits {given}, the action space has {_bounds(box)}; the policy "
            "would not act as the model does."
        )


def _bounds(box: Box[Any]) -> list[list[float]]:
    """Return [low, high] of each number of a space."""
    bounds: list[list[float]] = np.stack((box.low, box.high), axis=1).tolist()
    return bounds


def _provenance(model: BaseAlgorithm) -> Provenance:
    envs = getattr(model.get_env(), "envs", None)  # None after loading, or in other processes
    spec = envs[0].spec if envs else None
    training: dict[str, Scalar] = {
        "algorithm": type(model).__name__,
        "steps": model.num_timesteps,
    }
    task = _task(model)
    return Provenance(
        task=task.name if task else spec.id if spec else None,
        task_card=remembered(task) if task else _card(spec) if spec else (),
        seed=model.seed,
        versions=tuple((name, version(name)) for name in ("icct", "stable_baselines3", "torch")),
        config=tuple((training | asdict(_checked_policy(model).tree_config)).items()),
    )


def _card(spec: EnvSpec) -> tuple[tuple[str, Scalar], ...]:
    """Return what a policy remembers of a registered environment."""
    options = {name: value for name, value in spec.kwargs.items() if name != "render_mode"}
    known = ((OPTION + name, value) for name, value in options.items() if isinstance(value, Scalar))
    horizon = spec.max_episode_steps or DEFAULT_HORIZON
    return ("environment", spec.id), ("horizon", horizon), *known
