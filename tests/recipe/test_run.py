"""Whole runs of the recipe: stages, scores, stops. Teachers are files, or learn for a moment."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from icct.bench.recipes import record_recipe
from icct.envs.episodes import EpisodePool
from icct.errors import ConfigError
from icct.evaluate import evaluate
from icct.files import read_json
from icct.policy import Controller, Leaf, Policy
from icct.policy.file import read_policy, write_policy
from icct.policy.parts import Node
from icct.polish.extend import Extended
from icct.polish.probe import Prober
from icct.polish.search import Search
from icct.recipe import Recipe, follow, go_on, make_recipe
from icct.recipe.folder import stages
from icct.recipe.show import Show
from icct.seeds import FRESH
from icct.zoo import zoo_policy
from tests.polish.test_extend import ONE_RULE

SHORT = {"steps": 150, "learning_starts": 100, "batch_size": 16, "critic_hidden": (8,),
         "buffer_size": 300, "evaluate_every": 100, "evaluate_episodes": 1}  # fmt: skip
FEW = {"rounds": 1, "round_episodes": 2, "validation_episodes": 3, "fresh_episodes": 4}


@pytest.fixture(scope="module")
def teacher(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A balancer too weak to balance for long: its episodes are short, and can be improved on.

    Its rules have three features, so that it is no student itself.
    """
    policy = zoo_policy("pole-balancer")
    nodes: list[Node] = list(policy.nodes)
    for index in policy.leaves:
        (rule,) = policy.leaf(index).controllers
        weights = dict.fromkeys(range(3), 0.01)
        weights |= {feature: 0.1 * weight for feature, weight in rule.weights}
        nodes[index] = Leaf((Controller(tuple(sorted(weights.items())), 0.1 * rule.bias),))
    file = tmp_path_factory.mktemp("teacher") / "weak.json"
    write_policy(replace(policy, nodes=tuple(nodes)), file)
    return file


def small(teacher: Path, **changes: Any) -> Recipe:
    values = {"teacher": (str(teacher),), "polish_episodes": 200, **FEW, **changes}
    return make_recipe("inverted-pendulum", **values)


@pytest.fixture(scope="module")
def straight(teacher: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("straight") / "run"
    assert follow(small(teacher), folder, workers=1).finished
    return folder


def scores(folder: Path) -> dict[str, Any]:
    """Return what the run file says, without what differs between two runs: times."""

    def timeless(value: Any) -> Any:
        if isinstance(value, dict):
            return {k: timeless(v) for k, v in value.items() if not k.endswith("_s")}
        return value

    about = json.loads((folder / "run.json").read_text())
    return {key: timeless(about[key]) for key in ("recipe", "teachers", "trees")}


def test_every_stage_leaves_its_policy_and_its_score(straight: Path) -> None:
    entry = scores(straight)["trees"]["icct-2-feature/seed-0"]
    assert set(entry) >= {"distilled", "polished", "final"}
    for stage in ("distilled", "polished", "policies"):
        name = "final" if stage == "policies" else stage
        policy = read_policy(straight / stage / "seed-0.json")
        scored = evaluate(policy, "inverted-pendulum", episodes=4, seed=FRESH)
        assert list(scored.returns) == entry[name]["fresh"]["returns"]
        assert entry[name]["leaves"] == len(policy.leaves)
        assert entry[name]["parameters"] == policy.parameter_count
        assert all(len(r.weights) <= 2 for i in policy.leaves for r in policy.leaf(i).controllers)
    assert not list(straight.rglob("*.journal"))
    assert not list(straight.rglob("*.npz"))


def test_two_workers_make_the_same_tree(teacher: Path, straight: Path, tmp_path: Path) -> None:
    assert follow(small(teacher), tmp_path / "run", workers=2).finished
    assert scores(tmp_path / "run") == scores(straight)


def test_teachers_are_trained_and_the_best_on_validation_teaches(tmp_path: Path) -> None:
    recipe = make_recipe(
        "inverted-pendulum", ("icct-2-feature", "icct-complete"), teachers=2, polish_episodes=0,
        **FEW, **SHORT,
    )  # fmt: skip
    result = follow(recipe, tmp_path / "run", workers=1, device="cpu")
    assert result.finished
    chosen = scores(tmp_path / "run")["teachers"]["0"]
    assert len(chosen["candidates"]) == 4  # best and final of two
    best = max(chosen["candidates"], key=lambda one: one["mean"])
    assert chosen["file"] == best["file"]
    complete = result.policy("icct-complete")
    teacher = read_policy(tmp_path / "run" / chosen["file"])
    assert len(complete.leaves) <= len(teacher.leaves)
    assert (tmp_path / "run" / "policies" / "icct-2-feature" / "seed-0.json").exists()
    with pytest.raises(ConfigError, match="no tree of icct-static"):
        result.policy("icct-static")


class StoppedAfter(Show):
    """Somebody who presses Ctrl-C when a stage begins."""

    def __init__(self, stage: str) -> None:
        self.at = stage

    def stage(self, stage: str, what: str) -> None:
        if stage == self.at:
            raise KeyboardInterrupt


@pytest.mark.parametrize("stage", ["distil", "polish", "prune"])
def test_a_run_stopped_between_stages_goes_on(
    stage: str, teacher: Path, straight: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    assert not follow(small(teacher), folder, workers=1, show=StoppedAfter(stage)).finished
    moved = folder.rename(tmp_path / "moved")
    hidden = teacher
    if stage != "distil":  # nobody asks the teacher any more
        hidden = teacher.rename(tmp_path / "hidden.json")
    try:
        assert go_on(moved, workers=1).finished
    finally:
        hidden.rename(teacher)
    assert scores(moved) == scores(straight)


@pytest.mark.parametrize("after", [1, 3])
def test_a_run_stopped_in_the_middle_of_a_search_goes_on(
    after: int, teacher: Path, straight: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, generation = tmp_path / "run", Search._generation
    count = 0

    def stopping(self: Search, *arguments: Any) -> None:
        nonlocal count
        count += 1
        if count == after:
            raise KeyboardInterrupt
        generation(self, *arguments)

    monkeypatch.setattr(Search, "_generation", stopping)
    assert not follow(small(teacher), folder, workers=1).finished
    assert not (folder / "policies" / "seed-0.json").exists()
    monkeypatch.setattr(Search, "_generation", generation)
    assert go_on(folder, workers=1).finished
    assert scores(folder) == scores(straight)


def test_what_is_finished_is_not_done_again(
    teacher: Path, straight: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(EpisodePool, "submit", lambda *_: pytest.fail("an episode was played"))
    assert go_on(straight).finished
    with pytest.raises(ConfigError, match="holds a run already"):
        follow(small(teacher), straight)


def test_minutes_bound_the_search(teacher: Path, tmp_path: Path) -> None:
    assert follow(small(teacher, minutes=0.1), tmp_path / "run", workers=1).finished
    about = json.loads((tmp_path / "run" / "run.json").read_text())
    entry = about["trees"]["icct-2-feature/seed-0"]
    assert 0.04 < entry["polish_minutes"] < 0.1
    assert about["elapsed_s"] < 60


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[1]", "does not hold a run of the recipe"),
        ('{"format": "icct-recipe", "version": 9}', "version 9"),
        ('{"format": "icct-recipe", "version": 1}', "damaged"),
        (
            '{"format": "icct-recipe", "version": 1, "recipe": 3, "teachers": {}, "trees": {}}',
            "damaged",
        ),
    ],
)
def test_a_damaged_run_file_is_said_so(content: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(content)
    with pytest.raises(ConfigError, match=said):
        go_on(tmp_path)


@pytest.mark.parametrize(
    "damage",
    [
        {"teachers": {"0": {"file": 3, "fresh": {"mean": 1.0}}}},
        {"teachers": {"0": {"file": "x.json"}}},
        {"teachers": 7},
        {"trees": {"icct-2-feature/seed-0": {"distilled": {}}}},
        {"trees": {"icct-2-feature/seed-0": []}},
    ],
)
def test_damaged_scores_are_said_so(damage: dict[str, Any], straight: Path, tmp_path: Path) -> None:
    about = json.loads((straight / "run.json").read_text()) | damage
    del about["elapsed_s"]
    (tmp_path / "run.json").write_text(json.dumps(about))
    with pytest.raises(ConfigError, match=r"run\.json: damaged"):
        go_on(tmp_path)


def test_a_teacher_that_is_such_a_tree_is_the_student(straight: Path, tmp_path: Path) -> None:
    file = straight / "distilled" / "seed-0.json"
    leaves = len(read_policy(file).leaves)
    for method, most, kept in (
        ("icct-2-feature", leaves, True),
        ("icct-1-feature", leaves, False),
        ("icct-complete", leaves, True),
        ("icct-complete", leaves - 1, False),
    ):
        folder = tmp_path / f"{method}-{most}"
        recipe = small(file, methods=(method,), leaves=most, polish_episodes=0)
        assert follow(recipe, folder, workers=1).finished
        (tree,) = scores(folder)["trees"].values()
        student = read_policy(folder / "distilled" / "seed-0.json")
        assert (student.nodes == read_policy(file).nodes) is kept
        assert ("candidates" not in tree) is kept
        assert len(student.leaves) <= most


@pytest.fixture(scope="module")
def extending(tmp_path_factory: pytest.TempPathFactory) -> Recipe:
    task = f"{Path(__file__).parents[1] / 'polish' / 'two_sides.py'}:TwoSides"
    file = tmp_path_factory.mktemp("teacher") / "one-rule.json"
    write_policy(ONE_RULE, file)
    return make_recipe(
        task, ("icct-static",), teacher=(str(file),), leaves=4, extend_probes=200,
        polish_episodes=0, **{**FEW, "validation_episodes": 10},
    )  # fmt: skip


@pytest.fixture(scope="module")
def extended(extending: Recipe, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run") / "extended"
    assert follow(extending, folder, workers=1).finished
    return folder


def test_leaves_are_added_where_they_pay(extended: Path) -> None:
    (tree,) = scores(extended)["trees"].values()
    assert tree["extended"]["added"]["improved"]
    assert tree["extended"]["leaves"] > tree["distilled"]["leaves"]
    assert tree["extended"]["fresh"]["mean"] > tree["distilled"]["fresh"]["mean"] + 3
    assert 1 < len(read_policy(extended / "policies" / "seed-0.json").leaves) <= 4
    assert (extended / "extended" / "seed-0.json").exists()


def test_a_run_stopped_among_probes_goes_on(
    extending: Recipe, extended: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    played, batches = Prober._played, 0

    def stopping(self: Prober, *arguments: Any) -> list[float]:
        nonlocal batches
        batches += 1
        if batches == 3:
            raise KeyboardInterrupt
        return played(self, *arguments)

    monkeypatch.setattr(Prober, "_played", stopping)
    assert not follow(extending, tmp_path / "run", workers=1).finished
    monkeypatch.setattr(Prober, "_played", played)
    (journal,) = tmp_path.rglob("*.journal")
    assert len(journal.read_text().splitlines()) == 3  # its head, and two batches of probes
    assert go_on(tmp_path / "run", task=extending.task, workers=1).finished
    assert scores(tmp_path / "run") == scores(extended)
    assert not journal.exists()


def test_a_second_pass_begins_with_the_polished_tree_and_ends_where_nothing_is_added(
    extending: Recipe, tmp_path: Path
) -> None:
    """What is left to gain is found in the first pass; so the second adds nothing."""
    recipe = replace(extending, passes=3, polish_episodes=400)
    assert follow(recipe, tmp_path / "run", workers=1).finished
    (tree,) = scores(tmp_path / "run")["trees"].values()
    made = [stage for stage in stages(recipe.passes) if stage in tree]
    assert made == ["distilled", "extended", "polished", "extended-2", "final"]
    assert tree["extended"]["added"]["improved"]
    assert not tree["extended-2"]["added"]["improved"]
    short = read_policy(tmp_path / "run" / "polished" / "seed-0.short.json")
    assert read_policy(tmp_path / "run" / "extended-2" / "seed-0.json").nodes == short.nodes
    assert tree["final"]["fresh"]["mean"] >= tree["polished"]["fresh"]["mean"] - 1
    (record,) = (read_json(path, "a record") for path in record_recipe(
        tmp_path / "run", tmp_path / "results", recipe.task
    ))  # fmt: skip
    assert record["extended-2"]["episodes"] > 0
    episodes = [record[stage]["episodes"] for stage in made[1:-1]]
    episodes.append(record["final"]["pruned"]["episodes"])
    length = record["final"]["fresh"]["mean_length"]
    assert record["environment_steps"]["after"] >= sum(episodes) * length  # distilling is more


def test_passes_that_add_leaves_are_polished_and_draw_other_episodes(
    extending: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, int]] = []

    def extended(output: Path, policy: Policy, task: Any, config: Any, **_: Any) -> Extended:
        asked.append(("extend", config.seed))
        write_policy(policy, output)
        return Extended(policy, len(asked) < 4, (), (1.0, 1.0), (2.0, 2.0), 10)

    def polished(output: Path, policy: Policy, task: Any, config: Any, **_: Any) -> Any:
        asked.append(("polish", config.seed))
        write_policy(policy, output)
        return SimpleNamespace(
            policy=policy, stopped=False, improved=False, episodes=7, elapsed_s=0.0
        )

    monkeypatch.setattr("icct.recipe.stages.extend_to", extended)
    monkeypatch.setattr("icct.recipe.stages.polish_to", polished)
    recipe = replace(extending, passes=3, polish_episodes=400)
    assert follow(recipe, tmp_path / "run", workers=1).finished
    seeds = [0, 0, 1_000_000, 1_000_000, 2_000_000]
    assert asked == list(zip(["extend", "polish"] * 2 + ["extend"], seeds, strict=True))


def test_shapes_that_begin_with_the_same_tree_share_its_search(
    straight: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = straight / "policies" / "seed-0.json"  # rules of two features
    methods = ("icct-2-feature", "icct-3-feature", "icct-1-feature")
    recipe = small(file, methods=methods, leaves=4)
    searches = 0
    begin = Search.__init__

    def counted(self: Search, *arguments: Any, **options: Any) -> None:
        nonlocal searches
        searches += 1
        begin(self, *arguments, **options)

    monkeypatch.setattr(Search, "__init__", counted)
    assert follow(recipe, tmp_path / "run", workers=1).finished
    assert searches == 2
    trees = scores(tmp_path / "run")["trees"]
    two, three, one = (trees[f"{method}/seed-0"] for method in methods)
    assert three["same_as"] == "icct-2-feature"
    assert "same_as" not in two
    assert "same_as" not in one
    assert {key: value for key, value in three.items() if key != "same_as"} == two
    policies = [read_policy(tmp_path / f"run/policies/{m}/seed-0.json") for m in methods[:2]]
    assert policies[0].nodes == policies[1].nodes
    assert [policy.provenance.method for policy in policies] == list(methods[:2])
    alone = tmp_path / "alone"
    assert follow(small(file, methods=methods[1:2], leaves=4), alone, workers=1).finished
    assert read_policy(alone / "policies" / "seed-0.json").nodes == policies[1].nodes
    (own,) = scores(alone)["trees"].values()
    assert own["final"] == three["final"]
