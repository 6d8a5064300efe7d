"""Trees under Stable-Baselines3's update rules: built, trained, saved, and frozen exactly."""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from stable_baselines3 import A2C, DDPG, PPO, SAC, TD3
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import EvalCallback, StopTrainingOnRewardThreshold
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.noise import NormalActionNoise
from stable_baselines3.common.torch_layers import CombinedExtractor
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

from icct import Action, Feature, Leaf, Policy, Provenance, Split, read_policy, write_policy
from icct.cli.main import main
from icct.envs.catalog import INVERTED_PENDULUM
from icct.envs.find import task_of
from icct.errors import ConfigError
from icct.sb3 import SingleTree, TreePPOPolicy, TreeSACPolicy, TreeTD3Policy, to_policy

TASK = "InvertedPendulum-v5"
POLICIES = {
    SAC: TreeSACPolicy,
    TD3: TreeTD3Policy,
    PPO: TreePPOPolicy,
    DDPG: TreeTD3Policy,
    A2C: TreePPOPolicy,
}
SHORT = {PPO: {"n_steps": 64, "batch_size": 32}, A2C: {}}
THREE = (SAC, TD3, PPO)


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Small networks are fastest on one thread, by far where other work shares the cores."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


class Corners(gym.Env[np.ndarray, np.ndarray]):
    """Numbers like 0, 1 and 0.5 to observe, two actions in uneven boxes; rewards small actions."""

    observation_space = gym.spaces.Box(-1, 1, (5,), np.float32)
    action_space = gym.spaces.Box(
        np.array([-1, 0], np.float32), np.array([3, 0.1], np.float32), dtype=np.float32
    )

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        return self._observation(), {}

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        ended = bool(self.np_random.random() < 0.1)
        return self._observation(), -float(np.square(action).sum()), ended, False, {}

    def _observation(self) -> np.ndarray:
        return self.np_random.choice([-1.0, 0.0, 0.5, 1.0], 5).astype(np.float32)


def new_model(
    algorithm: type[BaseAlgorithm], env: Any = None, seed: int = 0, **options: Any
) -> BaseAlgorithm:
    short = SHORT.get(algorithm, {"learning_starts": 20, "batch_size": 32, "buffer_size": 1000})
    options = {"leaves": 4, "net_arch": [16]} | options
    env = Corners() if env is None else env
    policy = POLICIES[algorithm]
    return algorithm(policy, env, policy_kwargs=options, seed=seed, device="cpu", **short)


def scrambled(model: BaseAlgorithm, seed: int = 0) -> BaseAlgorithm:
    """Return the model with a tree as long training can leave it: all signs, ties at 0 and 0.5."""
    generator = torch.Generator().manual_seed(seed)
    tree = model.policy.tree
    with torch.no_grad():
        for parameter in tree.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator))
        tree.node_weights.copy_(tree.node_weights.sign() * tree.node_weights.abs().ceil())
        tree.node_biases[:, ::2] = 0.5
        tree.node_biases[:, 1::3] = 0.0
    return model


def observations_near(policy: Policy, rows: int = 3000) -> np.ndarray:
    """Return float32 observations, many of them at a threshold or one step beside it."""
    rng = np.random.default_rng(0)
    table = rng.normal(size=(rows, len(policy.features))).astype(np.float32)
    for index in policy.splits:
        split = policy.nodes[index]
        assert isinstance(split, Split)
        at = np.float32(split.threshold)
        near = [at, np.nextafter(at, np.float32(np.inf)), np.nextafter(at, np.float32(-np.inf))]
        chosen = rng.random(rows) < 0.5
        table[chosen, split.feature] = rng.choice(near, size=chosen.sum())
    return table


def predicted(model: BaseAlgorithm, observations: np.ndarray) -> np.ndarray:
    return model.predict(observations, deterministic=True)[0]


@pytest.mark.parametrize("algorithm", POLICIES)
def test_trains_saves_loads_and_freezes(algorithm: type[BaseAlgorithm], tmp_path: Path) -> None:
    model = new_model(algorithm)
    start = {name: value.clone() for name, value in model.policy.tree.state_dict().items()}
    model.learn(200)
    changed = {n for n, v in model.policy.tree.state_dict().items() if not torch.equal(v, start[n])}
    learned = {"node_weights", "node_biases", "sharpness", "leaf_weights", "leaf_biases"}
    noise = set() if algorithm in (TD3, DDPG) else {"log_std"}
    assert changed == learned | noise | {"leaf_selectors"}

    policy = to_policy(model)
    table = observations_near(policy)
    assert np.allclose(policy.act_batch(table), predicted(model, table), atol=1e-5)

    model.save(tmp_path / "model.zip")
    loaded = algorithm.load(tmp_path / "model.zip", device="cpu")
    assert np.array_equal(predicted(loaded, table), predicted(model, table))
    assert to_policy(loaded).nodes == policy.nodes
    loaded.set_env(DummyVecEnv([Corners]))
    loaded.learn(50)  # a loaded model can train on

    model.policy.save(str(tmp_path / "policy.pt"))
    alone = type(model.policy).load(str(tmp_path / "policy.pt"), device="cpu")
    assert np.array_equal(alone.predict(table, deterministic=True)[0], predicted(model, table))


@pytest.mark.parametrize("algorithm", THREE)
@pytest.mark.parametrize("leaf", ["static", "sparse", "complete"])
@pytest.mark.parametrize("seed", range(4))
def test_a_frozen_policy_acts_as_predict(
    algorithm: type[BaseAlgorithm], leaf: str, seed: int
) -> None:
    sharpness = ("shared", "per_node")[seed % 2]
    model = scrambled(new_model(algorithm, leaves=8, leaf=leaf, sharpness=sharpness), seed)
    policy = to_policy(model)
    table = observations_near(policy)
    acted = policy.act_batch(table)
    assert np.abs(acted - predicted(model, table)).max() <= 1e-5
    corners = np.stack([Corners.observation_space.sample().round() for _ in range(200)])
    assert np.abs(policy.act_batch(corners) - predicted(model, corners)).max() <= 1e-5
    low, high = Corners.action_space.low, Corners.action_space.high
    assert ((acted >= low) & (acted <= high)).all()


@pytest.mark.parametrize("algorithm", THREE)
@pytest.mark.parametrize("method", ["icct-2-feature", "icct-complete", "cddt-controllers"])
def test_gradient_reaches_every_tree_parameter(algorithm: type[BaseAlgorithm], method: str) -> None:
    policy = new_model(algorithm, method=method).policy
    observations = torch.randn(256, 5)
    if algorithm is SAC:
        actions, log_prob = policy.actor.action_log_prob(observations)
        (actions.square().sum() + log_prob.sum()).backward()
    elif algorithm is TD3:
        policy.actor(observations).square().sum().backward()
    else:
        values, log_prob, _ = policy.evaluate_actions(observations, torch.randn(256, 2))
        (values.sum() + log_prob.sum()).backward()
    for name, parameter in policy.tree.named_parameters():
        if algorithm is TD3 and name == "log_std":
            assert not parameter.requires_grad
        else:
            assert parameter.grad is not None, name
            assert parameter.grad.abs().sum() > 0, name


@pytest.mark.parametrize("algorithm", THREE)
def test_only_the_tree_is_left_of_the_actor(algorithm: type[BaseAlgorithm]) -> None:
    model = new_model(algorithm)
    expected = {id(parameter) for parameter in model.policy.tree.parameters()}
    if algorithm is PPO:
        critic = (model.policy.mlp_extractor.value_net, model.policy.value_net)
        expected |= {id(parameter) for part in critic for parameter in part.parameters()}
        found = model.policy.parameters()
        optimizer = model.policy.optimizer
    else:
        found, optimizer = model.policy.actor.parameters(), model.policy.actor.optimizer
    assert {id(parameter) for parameter in found} == expected
    assert {id(p) for group in optimizer.param_groups for p in group["params"]} == expected


@pytest.mark.parametrize("algorithm", THREE)
def test_the_start_follows_the_seed(algorithm: type[BaseAlgorithm]) -> None:
    first, same, other = (to_policy(new_model(algorithm, seed=seed)) for seed in (3, 3, 4))
    assert first == same
    assert first.nodes != other.nodes


def test_the_deviation_of_ppo_starts_as_told() -> None:
    model = new_model(PPO, log_std_init=-1.5)
    assert (model.policy.tree.log_std == -1.5).all()
    distribution = model.policy.get_distribution(torch.zeros(1, 5)).distribution
    assert torch.allclose(distribution.stddev, torch.tensor(-1.5).exp())


def test_each_leaf_has_its_own_deviation() -> None:
    for algorithm in (SAC, PPO):
        model = scrambled(new_model(algorithm))
        leaves = [node for node in to_policy(model).nodes if isinstance(node, Leaf)]
        assert len({leaf.log_std for leaf in leaves}) == len(leaves) > 1
    leaves = [node for node in to_policy(new_model(TD3)).nodes if isinstance(node, Leaf)]
    assert {leaf.log_std for leaf in leaves} == {None}


@pytest.mark.parametrize("algorithm", THREE)
def test_the_l1_penalty_joins_the_gradient(algorithm: type[BaseAlgorithm]) -> None:
    gradients = []
    observations = torch.linspace(-1, 1, 40).reshape(8, 5)
    for l1 in (0.0, 0.25):
        policy = scrambled(new_model(algorithm, leaf="complete", l1=l1)).policy
        single = next(module for module in policy.modules() if isinstance(module, SingleTree))
        with torch.no_grad():  # what a target is made of; no part of the update
            single(-observations)
        single(observations)[0].square().sum().backward()
        gradients.append(single.tree.leaf_weights.grad)
    tree = single.tree
    (expected,) = torch.autograd.grad(
        tree.l1_penalty(observations.unsqueeze(0)).sum(), tree.leaf_weights
    )
    assert expected.abs().max() >= 0.25  # one leaf at least is reached by a share of the batch
    assert torch.allclose(gradients[1] - gradients[0], expected, atol=1e-5)


def test_names_bounds_and_provenance() -> None:
    model = new_model(SAC, gym.make(TASK), method="icct-2-feature").learn(30)
    policy = to_policy(model, name="pole")
    assert policy.name == "pole"
    assert [feature.name for feature in policy.features] == ["x0", "x1", "x2", "x3"]
    assert policy.actions == (Action("action", "", -3, 3),)
    provenance = policy.provenance
    assert (provenance.task, provenance.seed) == (TASK, 0)
    config = dict(provenance.config)
    assert (config["algorithm"], config["steps"], config["leaf_features"]) == ("SAC", 30, 2)

    features = [Feature(name) for name in ("cart_m", "angle_rad", "cart_mps", "angle_radps")]
    actions, own = [Action("force", "N", -3, 3)], Provenance(task="mine")
    named = to_policy(model, features=features, actions=actions, provenance=own)
    assert (named.features, named.actions, named.provenance) == (
        *map(tuple, (features, actions)),
        own,
    )
    assert named.nodes == policy.nodes
    assert to_policy(new_model(PPO)).features[4] == Feature("x4", "", -1, 1)
    assert to_policy(new_model(PPO)).actions[1].high == np.float32(0.1)


@pytest.mark.parametrize("algorithm", [SAC, TD3, PPO])
def test_vec_normalize_is_folded_into_the_policy(algorithm: Any) -> None:
    """The same leaf and action as the model behind the scaling, on raw observations."""
    env = VecNormalize(DummyVecEnv([lambda: gym.make(TASK)]))
    model = new_model(algorithm, env, leaves=4).learn(300)
    policy, tree = to_policy(model), model.policy.tree
    rng = np.random.default_rng(0)
    low, high = np.array([(f.low, f.high) for f in policy.features]).T
    raw = rng.uniform(low, high, (500, 4)).astype(np.float32)
    thresholds = [n for n in policy.nodes if isinstance(n, Split)]
    for row, split in enumerate(thresholds):  # and exactly on the thresholds
        raw[row, split.feature] = split.threshold
    expected, _ = model.predict(env.normalize_obs(raw), deterministic=True)
    assert np.allclose(policy.act_batch(raw), expected, atol=2e-5)
    routed = tree.leaf_routing(torch.from_numpy(env.normalize_obs(raw)).float().unsqueeze(0))
    ours = policy.leaves_of(raw)
    groups = {(int(a), int(b)) for a, b in zip(ours, routed[0].argmax(-1), strict=True)}
    assert len(groups) == len({a for a, _ in groups})  # one leaf of theirs for each of ours
    plain = VecNormalize(DummyVecEnv([lambda: gym.make(TASK)]), norm_obs=False)
    assert to_policy(new_model(algorithm, plain)).features[0].low == -np.inf


def test_a_policy_knows_its_environment(tmp_path: Path) -> None:
    """It can be evaluated, polished and audited without naming the task."""
    model = new_model(SAC, gym.make("Pendulum-v1", g=9.0), leaves=2).learn(250)
    path = tmp_path / "swing.json"
    write_policy(to_policy(model), path)
    assert main(["evaluate", str(path), "--episodes", "2"]) == 0
    assert main(["audit", str(path), "--episodes", "1"]) in (0, 1)
    words = ["--evaluations", "150", "--validation-episodes", "10", "--report-episodes", "2"]
    assert main(["polish", str(path), *words, "-o", str(tmp_path / "better.json")]) in (0, 1)
    again = task_of(read_policy(tmp_path / "better.json"))
    assert (again.environment, again.options) == ("Pendulum-v1", (("g", 9.0),))
    ours = new_model(SAC, gym.make("icct/InvertedPendulum-v1"))
    assert to_policy(ours).features == INVERTED_PENDULUM.features
    assert to_policy(ours).provenance.task == "inverted-pendulum"


def test_a_model_file_is_told_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = new_model(PPO)
    model.save(tmp_path / "model.zip")
    assert main(["show", str(tmp_path / "model.zip")]) == 2
    assert "icct.sb3.to_policy" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"leafs": 4}, "has no option 'leafs'.*Did you mean 'leaf"),
        ({"n_critic": 4}, "Did you mean 'n_critics'"),
        ({"leaves": 3}, "expected a power of two"),
        ({"leaf": "sparce"}, "Did you mean 'sparse'"),
        ({"method": "icct-2-features"}, "Did you mean 'icct-2-feature'"),
        ({"leaf_features": 9}, "only 5 features"),
        ({"net_arch": {"pi": [64], "qf": [64]}}, r"layers \[64\] for 'pi'"),
        ({"features_extractor_class": CombinedExtractor}, "reads the observation itself"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        new_model(SAC, **options)


def test_gsde_is_refused() -> None:
    for algorithm in (SAC, PPO):
        with pytest.raises(ConfigError, match="no gSDE noise"):
            algorithm(POLICIES[algorithm], Corners(), use_sde=True)


def test_spaces_that_are_no_list_of_numbers_are_refused() -> None:
    env = Corners()
    env.observation_space = gym.spaces.Box(-1, 1, (2, 2))
    with pytest.raises(ConfigError, match=r"one number for each feature.*FlattenObservation"):
        new_model(SAC, env)
    env = Corners()
    env.action_space = gym.spaces.Discrete(3)
    with pytest.raises(ConfigError, match="The action space is Discrete"):
        new_model(PPO, env)


def test_a_fuzzy_tree_trains_but_is_no_policy() -> None:
    model = new_model(SAC, method="cddt").learn(60)
    with pytest.raises(ConfigError, match="A fuzzy tree is no policy"):
        to_policy(model)


def test_what_cannot_be_frozen_faithfully_is_refused() -> None:
    with pytest.raises(ConfigError, match="which is no tree; expected TreeSACPolicy"):
        to_policy(PPO("MlpPolicy", Corners(), device="cpu"))
    with pytest.raises(ConfigError, match="would not act as the model does"):
        to_policy(new_model(PPO), actions=[Action("a"), Action("b")])
    with pytest.raises(ConfigError, match="5 and 1 were named"):
        to_policy(new_model(PPO), actions=[Action("a")])
    limited = [Action("a", "", -1, 3), Action("b", "", 0, 0.1)]  # 0.1 as the space rounds it
    to_policy(new_model(PPO), actions=limited)


def test_without_stable_baselines3_the_error_says_what_to_install() -> None:
    script = """
import sys
import time
sys.modules["stable_baselines3"] = None
try:
    import icct.sb3
except Exception as error:
    print(type(error).__name__, error)
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.startswith("MissingExtraError icct.sb3 needs stable_baselines3")
    assert 'pip install "icct[sb3]"' in run.stdout


# -- learning: minutes each ---------------------------------------------------------------------

EVALUATE_EVERY = 4000  # steps
SETTINGS: dict[type[BaseAlgorithm], dict[str, Any]] = {  # tuned here, 3 seeds each
    SAC: {
        "most_steps": 80_000,
        "envs": 4,
        "policy_kwargs": {"leaves": 2, "leaf": "complete", "net_arch": [64, 64]},
        "learning_rate": 3e-3,
        "learning_starts": 1000,
        "gradient_steps": 2,
        "tau": 0.02,
    },
    TD3: {
        "most_steps": 80_000,
        "envs": 4,
        "policy_kwargs": {"leaves": 2, "leaf": "complete", "net_arch": [64, 64]},
        "learning_rate": 1e-3,
        "learning_starts": 1000,
        "gradient_steps": 2,
        "tau": 0.02,
        "action_noise": NormalActionNoise(np.zeros(1), np.full(1, 0.3)),
    },
    PPO: {
        "most_steps": 100_000,
        "envs": 4,
        "policy_kwargs": {"leaves": 4, "leaf": "complete"},
        "learning_rate": 3e-3,
        "n_steps": 256,
        "batch_size": 128,
        "gamma": 0.98,
    },
}


def mean_return(policy: Policy, episodes: int = 10) -> float:
    env, total = gym.make(TASK), 0.0
    for episode in range(episodes):
        observation, _ = env.reset(seed=1000 + episode)
        ended = False
        while not ended:
            action = policy.act(np.float32(observation))  # SB3 rounds observations so
            observation, reward, terminated, truncated, _ = env.step(action)
            total, ended = total + float(reward), terminated or truncated
    return total / episodes


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("algorithm", THREE)
def test_a_tree_learns_to_balance(algorithm: type[BaseAlgorithm], seed: int) -> None:
    """Train until 5 episodes reach 900 on average, then judge by 10 other episodes."""
    settings = dict(SETTINGS[algorithm])
    envs, most = settings.pop("envs"), settings.pop("most_steps")
    env, judge = make_vec_env(TASK, envs, seed=seed), make_vec_env(TASK, 1, seed=seed + 100)
    model = algorithm(POLICIES[algorithm], env, seed=seed, device="cpu", **settings)
    before, start = mean_return(to_policy(model)), time.process_time()
    enough = StopTrainingOnRewardThreshold(900)
    every = EVALUATE_EVERY // envs  # the callback counts calls, each a step of all environments
    model.learn(most, EvalCallback(judge, enough, eval_freq=every, verbose=0))
    minutes = (time.process_time() - start) / 60
    after = mean_return(to_policy(model))
    print(
        f"{algorithm.__name__} seed {seed}: {before:.0f} -> {after:.0f} in {model.num_timesteps} "
        f"steps, {minutes:.1f} CPU min"
    )
    assert before < 500 < after
