"""The paper's DT and DT with DAgger: CART on the means of the best of five perceptrons.

As in the authors' released code: the tree predicts the oracle's actions before the tanh; DAgger
starts from episodes of the oracle, then the tree drives, everything is aggregated, and the tree
that drove best is kept. `icct distill` does it in other ways: see docs/imitation.md.
"""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from icct import __version__
from icct.baselines import PerceptronActor
from icct.bench.oracles import oracle_card, oracle_file, read_oracle
from icct.bench.records import made_with, scored_values, write_record
from icct.bench.sizes import PAPER_DT_LEAVES
from icct.bench.tables import TASK_ORDER
from icct.distill import Pairs, collect
from icct.envs.episodes import EpisodePool, mean_and_error
from icct.envs.task import Task
from icct.errors import ConfigError, MissingExtraError
from icct.evaluate import evaluate
from icct.files import read_json
from icct.policy import Policy, Provenance
from icct.policy.file import write_policy
from icct.policy.parameters import parameter_count
from icct.policy.sklearn import from_sklearn
from icct.seeds import DISTILLING, FRESH

FOLDER = "dt"
FORMAT = ("icct-dt-record", 1)
METHODS = ("dt", "dt-dagger")
# LunarLander's depth is the authors'; the others follow from the leaves that the paper states.
PAPER_DEPTH = dict(zip(TASK_ORDER, (5, 5, 4, 4, 5, 4), strict=True))
Report = Callable[[int, int], None]  # (rounds of episodes done, in all)


@dataclass(frozen=True)
class Protocol:
    """How a tree is made of an oracle."""

    method: str
    max_leaves: int | None
    max_depth: int | None
    rollouts: int = 10  # episodes of each iteration
    iterations: int = 0  # of DAgger
    max_samples: int = 1_000_000  # that a tree is fitted to
    evaluation_episodes: int = 50


def paper_protocol(task: str, method: str) -> Protocol:
    """Return the paper's protocol for a task of its own.

    >>> paper_protocol("lunar-lander", "dt-dagger").max_depth
    5
    """
    if task not in TASK_ORDER or method not in METHODS:
        raise ConfigError(
            f"The paper has no {method!r} on {task!r}; it has {' and '.join(METHODS)} on "
            f"{', '.join(TASK_ORDER)}."
        )
    if method == "dt":
        return Protocol(method, max_leaves=PAPER_DT_LEAVES[task], max_depth=None)
    return Protocol(method, max_leaves=None, max_depth=PAPER_DEPTH[task], iterations=100)


def record_tree(
    results: Path,
    task: Task,
    protocol: Protocol,
    seed: int,
    workers: int = 1,
    report: Report | None = None,
) -> Path:
    """Make the tree of one seed from the task's oracle, score it afresh, and write its record."""
    oracle = read_oracle(results, task.name)
    began = time.monotonic()
    with EpisodePool(task, min(workers, protocol.rollouts)) as pool:
        policy = _tree(oracle, task, protocol, seed, pool, report or _silent)
    made_s = time.monotonic() - began
    fresh = evaluate(
        policy, task, episodes=protocol.evaluation_episodes, seed=FRESH + seed, workers=workers
    )
    record = {
        "format": FORMAT[0],
        "version": FORMAT[1],
        "task": task.name,
        "method": protocol.method,
        "recipe": "paper",
        "seed": seed,
        "config": asdict(protocol),
        "oracle": oracle_card(oracle_file(results, task.name)),
        "leaves": len(policy.leaves),
        "parameters": parameter_count(
            protocol.method,
            observation_size=len(task.features),
            action_size=len(task.actions),
            leaves=len(policy.leaves),
        ),
        "fresh": {"best": scored_values(fresh)},
        "elapsed_s": round(made_s, 1),
        **made_with(),
    }
    name = f"{task.name}.{protocol.method}.paper.seed-{seed}.json"
    (results / FOLDER / "policies").mkdir(parents=True, exist_ok=True)
    write_policy(policy, results / FOLDER / "policies" / name)
    return write_record(results / FOLDER, name, record)


def _tree(
    oracle: PerceptronActor,
    task: Task,
    protocol: Protocol,
    seed: int,
    pool: EpisodePool,
    report: Report,
) -> Policy:
    """Return the tree that drove best; without DAgger there is one."""
    rounds = protocol.iterations or 1

    def drive(driver: PerceptronActor | Policy, number: int) -> tuple[Pairs, float]:
        own_seed = DISTILLING + 1000 * seed + number
        seen, episodes = collect(oracle, driver, pool, episodes=protocol.rollouts, seed=own_seed)
        means = oracle.means(seen.observations).astype(np.float64)
        report(number + 1, rounds + 1)
        return Pairs(seen.observations, means), mean_and_error([e.total_reward for e in episodes])[
            0
        ]

    pairs, _ = drive(oracle, 0)
    best, best_return = _fitted(pairs, task, protocol, seed), -float("inf")
    for number in range(1, protocol.iterations + 1):
        tree = _fitted(pairs, task, protocol, seed)
        seen, driven = drive(tree, number)
        pairs = pairs.joined(seen)
        if driven >= best_return:
            best, best_return = tree, driven
    provenance = Provenance(
        task=task.name,
        method=protocol.method,
        seed=seed,
        versions=(("icct", __version__),),
        history=(f"CART on the means of {oracle.name}, by the paper's protocol",),
    )
    return replace(best, provenance=provenance)


def _fitted(pairs: Pairs, task: Task, protocol: Protocol, seed: int) -> Policy:
    """Return CART's tree of the means, squashed by tanh."""
    try:
        from sklearn.tree import DecisionTreeRegressor
    except ImportError:
        raise MissingExtraError(
            'CART needs scikit-learn. Install it with: pip install "icct[distill]"'
        ) from None
    rows = np.arange(len(pairs))
    if len(rows) > protocol.max_samples:
        rng = np.random.default_rng((seed, len(rows)))
        rows = rng.choice(rows, protocol.max_samples, replace=False)
    cart = DecisionTreeRegressor(
        max_leaf_nodes=protocol.max_leaves, max_depth=protocol.max_depth, random_state=seed
    ).fit(pairs.observations[rows], pairs.actions[rows])
    name = f"{protocol.method}-seed-{seed}"
    return replace(from_sklearn(cart, task.features, task.actions, name=name), squash="tanh")


def read_tree_records(results: Path) -> list[dict[str, Any]]:
    """Return all records of trees by the paper's protocol."""
    records = []
    for path in sorted((results / FOLDER).glob("*.json")):
        record = read_json(path, "a record", error=ConfigError)
        if not isinstance(record, dict) or (record.get("format"), record.get("version")) != FORMAT:
            raise ConfigError(f"{path} is not a record of a tree. Remove it.")
        records.append(record)
    return records


def _silent(done: int, total: int) -> None:
    return
