"""A deployed policy × changed conditions → the configuration that trains it on and lets it grow."""

from pathlib import Path

from icct.envs.task import Task
from icct.learn.config import TrainConfig, make_config
from icct.learn.thaw import most_weights
from icct.policy import Policy
from icct.zoo import lasting_source


def adaptation(
    policy: Policy,
    source: str,
    task: Task,
    *,
    steps: int,
    max_leaves: int | None = None,
    file: Path | None = None,
    seed: int = 0,
) -> TrainConfig:
    """Return how to train a policy on under changed conditions.

    Args:
        policy: The policy.
        source: Where it is read from: its file or zoo name.
        task: The task, under the changed conditions.
        steps: Environment steps.
        max_leaves: The most leaves it may grow to; by default twice those it has.
        file: Further training options.
        seed: Of the training.
    """
    return make_config(
        task,
        method_of(policy),
        file=file,
        steps=steps,
        seeds=(seed,),
        init=(lasting_source(source),),
        leaves=2 ** max(policy.depth, 1),
        grow=True,
        max_leaves=max_leaves or 2 * len(policy.leaves),
    )


def method_of(policy: Policy) -> str:
    """Return the method whose leaves hold the policy's rules."""
    most = most_weights(policy)
    if most == 0:
        return "icct-static"
    if most <= 3 and most < len(policy.features):
        return f"icct-{most}-feature"
    return "icct-complete"
