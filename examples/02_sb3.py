"""Train a tree with Stable-Baselines3's PPO, freeze it, read it and act with it.

pip install "icct[envs,sb3]"
python examples/02_sb3.py
"""

import gymnasium
import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env

from icct import Action, Feature
from icct.policy.text import tree_text
from icct.sb3 import TreePPOPolicy, to_policy

torch.set_num_threads(1)  # so small a network is fastest on one thread
task = "InvertedPendulum-v5"
model = PPO(
    TreePPOPolicy,
    make_vec_env(task, n_envs=4, seed=0),
    policy_kwargs={"leaves": 4, "leaf": "complete"},
    learning_rate=3e-3, gamma=0.98, n_steps=256, batch_size=128, seed=0, device="cpu",
)  # fmt: skip
model.learn(60_000)

names = {"cart": "m", "angle": "rad", "cart_speed": "m/s", "angle_speed": "rad/s"}
features = [Feature(name, unit) for name, unit in names.items()]
policy = to_policy(model, features=features, actions=[Action("push", "", -3, 3)], name="pole")
print(tree_text(policy))

env, total, ended = gymnasium.make(task), 0.0, False
observation, _ = env.reset(seed=1)
while not ended:
    observation, reward, terminated, truncated, _ = env.step(policy.act(np.float32(observation)))
    total, ended = total + reward, terminated or truncated
print(f"Return of one episode: {total:.0f} (1000 is the most)")
