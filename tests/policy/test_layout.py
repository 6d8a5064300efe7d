"""No box touches another, none leaves the picture, whatever the tree."""

import re
from itertools import combinations, pairwise

import numpy as np
import pytest

from icct.policy import Action, Controller, Feature, Leaf, Policy, Split
from icct.policy.edges import answer, edge_points
from icct.policy.layout import LINE, PADDING, PAGE, SMALLEST, Layout, layout
from icct.policy.reach import folds, unreached
from icct.zoo import zoo_policy
from tests.export.hostile import hostile_policy
from tests.random_policies import observations_around, random_policy
from tests.shipped import SOME

POLICIES = [
    *(random_policy(seed, leaves=leaves) for leaves in (1, 2, 4, 8, 16, 32, 64) for seed in (0, 1)),
    *map(zoo_policy, SOME),
    hostile_policy(),
]


def check_no_touch(plan: Layout) -> None:
    """Refuse boxes nearer than a quarter of a letter; the tag on a box belongs to it."""
    gap = 0.25
    for one, other in combinations(plan.boxes, 2):
        apart = (
            one.x + one.width + gap <= other.x
            or other.x + other.width + gap <= one.x
            or one.y + one.height + gap <= other.tag[1]
            or other.y + other.height + gap <= one.tag[1]
        )
        assert apart, (one, other)


@pytest.mark.parametrize("direction", ["down", "right"])
@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: f"{len(policy.leaves)} leaves")
def test_boxes(policy: Policy, direction: str) -> None:
    plan = layout(policy, direction)
    check_no_touch(plan)
    assert [box.node for box in plan.boxes] == [index for _, index in policy.levels()]
    for box in plan.boxes:
        assert box.x >= -1e-9
        assert box.y >= -1e-9
        assert box.x + box.width <= plan.width + 1e-9
        assert box.y + box.height <= plan.height + 1e-9
        assert box.height >= LINE * len(box.lines) + 2 * PADDING - 1e-9


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: f"{len(policy.leaves)} leaves")
def test_edges_of_wide_trees_cross_no_box(policy: Policy) -> None:
    plan = layout(policy, "right")
    boxes = {box.node: box for box in plan.boxes}
    for child in plan.boxes:
        if child.parent is None:
            continue
        curve = bezier(edge_points(plan, boxes[child.parent], child))
        for box in plan.boxes:
            if box.node in (child.node, child.parent):
                continue
            for (x, y), _ in pairwise(curve):
                inside = box.x < x < box.x + box.width and box.y < y < box.y + box.height
                assert not inside, (child.node, box.node)


def test_yes_is_on_top_or_at_the_left_as_show_has_it_first() -> None:
    policy = random_policy(1, leaves=12)
    for direction in ("down", "right"):
        plan = layout(policy, direction)
        boxes = {box.node: box for box in plan.boxes}
        for index in policy.splits:
            above, below = boxes[policy.nodes[index].above], boxes[policy.nodes[index].below]
            assert (answer(policy, below), answer(policy, above)) == ("yes", "no")
            if direction == "down":
                assert below.centre[0] < boxes[index].centre[0] < above.centre[0]
            else:
                assert below.centre[1] < boxes[index].centre[1] < above.centre[1]


def test_small_trees_grow_down_and_large_ones_to_the_right() -> None:
    assert layout(random_policy(0, leaves=2, features=2, actions=1)).direction == "down"
    assert layout(random_policy(0, leaves=32)).direction == "right"


def test_a_long_rule_is_shortened() -> None:
    policy = random_policy(2, features=44, actions=1, leaves=1)
    (box,) = layout(policy, "right").boxes
    assert len(box.lines) == 6
    rule = policy.nodes[0].controllers[0]
    text = " ".join(box.lines)
    found = re.search(r"(\d+) smaller terms", text)
    assert found
    written = len(rule.weights) - int(found[1])
    largest = sorted(rule.weights, key=lambda term: -abs(term[1]))[:written]  # bounds are alike
    assert written > 3
    for feature, _ in largest:
        assert re.search(rf"\bx{feature}\b", text)


def complete_tree(depth: int, features: int, actions: int) -> Policy:
    """Return a full tree like those of the paper's ICCT-complete: every feature in every rule."""
    rng = np.random.default_rng(0)
    last = 2**depth - 1
    splits = [
        Split(int(rng.integers(features)), float(rng.uniform()), 2 * i + 1, 2 * i + 2)
        for i in range(last)
    ]
    rules = [
        tuple(Controller(tuple(enumerate(rng.normal(size=features))), 0.5) for _ in range(actions))
        for _ in range(last + 1)
    ]
    return Policy(
        "complete",
        tuple(Feature(f"position_human_{i}", "x 230.4 m", 0, 1) for i in range(features)),
        tuple(Action(f"acceleration_{i}", "m/s^2") for i in range(actions)),
        (*splits, *map(Leaf, rules)),
    )


@pytest.mark.parametrize(("features", "actions"), [(44, 1), (8, 2), (28, 1), (88, 2)])
def test_a_complete_tree_of_16_leaves_fits_a_page(features: int, actions: int) -> None:
    plan = layout(complete_tree(4, features, actions))
    assert min(PAGE[0] / plan.width, PAGE[1] / plan.height) >= SMALLEST
    assert "smaller terms" in " ".join(line for box in plan.boxes for line in box.lines)


def test_what_nobody_reaches_is_folded() -> None:
    policy = random_policy(7, leaves=32)
    away = unreached(policy)
    assert away
    assert set(away.values()) == {"no observation"}
    rng = np.random.default_rng(0)
    for observation in observations_around(policy, rng, 500):
        assert not set(policy.path(observation)) & set(away)
    plan = layout(policy, folded=folds(policy, away))
    check_no_touch(plan)
    drawn = {box.node: box.kind for box in plan.boxes}
    assert {node for node, kind in drawn.items() if kind == "folded"} == set(folds(policy, away))
    assert all(kind == "folded" for node, kind in drawn.items() if node in away)
    leaf = next(leaf for leaf in policy.leaves if leaf in away)
    assert leaf not in drawn or drawn[leaf] == "folded"


def test_episodes_fold_what_they_never_reach_but_not_the_path() -> None:
    policy = zoo_policy("ring-cruiser")
    away = unreached(policy, {1: 5, 3: 0, 4: 0})
    assert away == dict.fromkeys((2, 3, 4), "no episode")
    assert folds(policy, away) == {2: "2 leaves that no episode reaches"}
    assert folds(policy, away, path=(0, 2, 3)) == {4: "1 leaf that no episode reaches"}


@pytest.mark.parametrize("direction", ["down", "right"])
def test_lines_end_between_terms(direction: str) -> None:
    names = [Feature("right_leg_contact", "0 or 1"), Feature("angular_velocity", "rad/s")]
    rule = Controller(((0, -1.234), (1, 0.541)), 0.5)
    policy = Policy("p", tuple(names), (Action("main_engine", "throttle"),), (Leaf((rule,)),))
    (box,) = layout(policy, direction).boxes
    assert [line.strip() for line in box.lines] == [
        "main_engine =",
        "tanh(−1.23 right_leg_contact",
        "+ 0.541 angular_velocity",
        "+ 0.50) throttle",
    ]


def test_notes_come_first() -> None:
    policy = random_policy(2, leaves=2)
    leaf = policy.leaves[0]
    box = next(box for box in layout(policy, notes={leaf: "12 %"}).boxes if box.node == leaf)
    assert box.lines[0] == "12 %"


def bezier(points, steps: int = 30):
    def at(t: float):
        weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
        return tuple(
            sum(w * point[axis] for w, point in zip(weights, points, strict=True))
            for axis in (0, 1)
        )

    return [at(step / steps) for step in range(steps + 1)]
