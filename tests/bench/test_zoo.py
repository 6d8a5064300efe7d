"""The shipped trees come from records, and their cards tell the truth."""

import json
import shutil
from pathlib import Path

import pytest

from icct.bench.zoo import check_card, make_zoo, recorded_names, validation_score
from icct.cli.main import main
from icct.errors import ConfigError, PolicyError
from icct.policy.file import read_policy
from icct.zoo import FOLDER, load_policy, zoo_names

RESULTS = Path(__file__).parents[2] / "results"


def test_the_best_on_validation_episodes_is_shipped(tmp_path: Path) -> None:
    results = tmp_path / "results"
    (results / "recipe" / "policies").mkdir(parents=True)
    scores = {}
    for path in (RESULTS / "recipe").glob("lunar-lander.icct-3-feature.seed-*.json"):
        shutil.copy(path, results / "recipe")
        shutil.copy(path.parent / "policies" / path.name, results / "recipe" / "policies")
        record = json.loads(path.read_text())
        scores[record["seed"]] = validation_score(record)
    (name,) = make_zoo(results, tmp_path / "zoo", episodes=2, say=lambda _: None)
    assert name == "lunar-lander/icct-3-feature"
    policy = read_policy(tmp_path / "zoo" / f"{name}.json")
    best = max(scores, key=lambda seed: scores[seed])
    assert policy.provenance.seed == best
    card = (tmp_path / "zoo" / f"{name}.md").read_text()
    assert f"Seed {best}, the best of {len(scores)} seeds" in card
    assert f"icct evaluate zoo:{name} --task lunar-lander --episodes 2" in card
    with pytest.raises(ConfigError, match="has no records"):
        make_zoo(tmp_path / "nothing")


def test_the_command_on_a_card_gives_its_score(capsys: pytest.CaptureFixture[str]) -> None:
    """One quick policy; `icct bench cards` checks all of them."""
    name = "lunar-lander/icct-2-feature"
    assert name in recorded_names()
    stated, found = check_card(name)
    assert stated == found
    card = (FOLDER / f"{name}.md").read_text()
    (command,) = [line for line in card.splitlines() if line.startswith("icct evaluate")]
    assert main(command.split()[1:]) == 0
    assert f"return      {stated} (mean" in capsys.readouterr().out


def test_the_card_of_a_plants_tree_has_its_score() -> None:
    stated, found = check_card("plant/single-pendulum")
    assert stated == found


def test_every_trained_policy_has_a_card_and_few_kilobytes() -> None:
    for name in zoo_names():
        assert (FOLDER / f"{name}.md").read_text().startswith(f"# {name}\n")
        assert (FOLDER / f"{name}.json").stat().st_size < 32_000


def test_names_are_not_paths() -> None:
    with pytest.raises(PolicyError, match="lunar-lander/icct-2-feature"):
        load_policy("zoo:lunar-lander/icct-2-featur")
    with pytest.raises(PolicyError, match="no shipped policy"):
        load_policy("zoo:../zoo/ring-cruiser")
