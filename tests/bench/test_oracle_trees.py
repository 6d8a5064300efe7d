"""The paper's DT and DT with DAgger, from a perceptron as oracle."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from icct.baselines import PerceptronActor
from icct.bench.cells import Cell, is_recorded
from icct.bench.oracle_trees import paper_protocol, record_tree
from icct.bench.oracles import keep_oracle, oracle_file, read_oracle
from icct.bench.records import record_run
from icct.envs.find import find_task
from icct.errors import ConfigError
from icct.learn import make_config, train
from icct.policy.file import read_policy

TASK = "inverted-pendulum"


def test_the_best_perceptron_is_kept_and_trees_are_made_of_it(tmp_path: Path) -> None:
    config = make_config(
        TASK,
        "mlp-max",
        seeds=(0, 1),
        steps=120,
        learning_starts=100,
        batch_size=16,
        hidden=(8, 8),
        critic_hidden=(8,),
        evaluate_every=60,
    )
    run, results = train(config, tmp_path / "run"), tmp_path / "results"
    with pytest.raises(ConfigError, match="icct bench table1 --tasks inverted-pendulum"):
        read_oracle(results, TASK)
    record_run(run.folder, results, 1, 1)
    best = max(run.members, key=lambda member: member.best_score or 0.0)
    card = json.loads(oracle_file(results, TASK).with_suffix(".json").read_text())
    assert (card["seed"], card["best_checkpoint"]) == (best.seed, best.best_score)
    kept = oracle_file(results, TASK).read_bytes()
    better = oracle_file(results, TASK).with_suffix(".json")
    better.write_text(json.dumps(card | {"best_checkpoint": 2000.0}))
    keep_oracle(run.folder, results, replace(config, seeds=(1,)), "mlp-max", 1)
    assert oracle_file(results, TASK).read_bytes() == kept  # one that was better stays
    check_trees(results)


def check_trees(results: Path) -> None:
    oracle = read_oracle(results, TASK)
    short = replace(paper_protocol(TASK, "dt"), rollouts=4, evaluation_episodes=3)
    record = json.loads(record_tree(results, find_task(TASK), short, seed=1).read_text())
    assert record["parameters"] == 3 * record["leaves"] - 2
    assert len(record["fresh"]["best"]["returns"]) == 3
    assert not is_recorded(results, Cell(TASK, "dt", 1, "paper"))  # not the paper's protocol
    tree = read_policy(results / "dt" / "policies" / f"{TASK}.dt.paper.seed-1.json")
    assert tree.squash == "tanh"
    seen = np.array([0.01, 0.02, 0.0, 0.1], dtype=np.float32)
    ours, theirs = tree.act(seen), oracle.act(seen)
    assert abs(float(ours[0] - theirs[0])) < 0.5  # of a range of 6
    dagger = replace(paper_protocol(TASK, "dt-dagger"), rollouts=2, iterations=3)
    shown: list[tuple[int, int]] = []
    path = record_tree(results, find_task(TASK), dagger, 0, report=lambda *n: shown.append(n))
    assert shown[-1] == (4, 4)
    assert json.loads(path.read_text())["leaves"] <= 32


def test_means_are_what_is_squashed(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    task = find_task(TASK)
    tensors = {
        "weight_0": rng.normal(size=(4, 3)).astype(np.float32),
        "bias_0": np.zeros(3, np.float32),
        "weight_1": rng.normal(size=(3, 1)).astype(np.float32),
        "bias_1": np.ones(1, np.float32),
    }
    actor = PerceptronActor("p", task.features, task.actions, tensors)
    seen = rng.normal(size=(5, 4)).astype(np.float32)
    acted = [actor.act(row)[0] for row in seen]
    assert np.allclose(3 * np.tanh(actor.means(seen))[:, 0], acted, atol=1e-6)


def test_the_papers_protocol() -> None:
    assert paper_protocol("single-lane-ring", "dt").max_leaves == 32
    assert paper_protocol("figure-eight", "dt").max_leaves == 256
    lander = paper_protocol("lunar-lander", "dt-dagger")
    assert (lander.max_depth, lander.rollouts, lander.iterations) == (5, 10, 100)
    assert lander.evaluation_episodes == 50
    with pytest.raises(ConfigError, match="The paper has no"):
        paper_protocol("Pendulum-v1", "dt")
