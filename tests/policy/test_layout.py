"""No box overlaps another, none leaves the picture, whatever the tree."""

from itertools import combinations, pairwise

import pytest

from icct.policy import Action, Controller, Feature, Leaf, Policy
from icct.policy.layout import LINE, PADDING, Layout, edge_points, layout, leads_above
from icct.zoo import zoo_policy
from tests.export.hostile import hostile_policy
from tests.random_policies import random_policy
from tests.shipped import SOME

POLICIES = [
    *(random_policy(seed, leaves=leaves) for leaves in (1, 2, 4, 8, 16, 32, 64) for seed in (0, 1)),
    *map(zoo_policy, SOME),
    hostile_policy(),
]


def check_no_overlap(plan: Layout) -> None:
    for one, other in combinations(plan.boxes, 2):
        apart = (
            one.x + one.width <= other.x
            or other.x + other.width <= one.x
            or one.y + one.height <= other.y
            or other.y + other.height <= one.y
        )
        assert apart, (one, other)


@pytest.mark.parametrize("direction", ["down", "right"])
@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: f"{len(policy.leaves)} leaves")
def test_boxes(policy: Policy, direction: str) -> None:
    plan = layout(policy, direction)
    check_no_overlap(plan)
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


def test_above_is_on_top_or_at_the_right() -> None:
    policy = random_policy(1, leaves=12)
    for direction in ("down", "right"):
        plan = layout(policy, direction)
        boxes = {box.node: box for box in plan.boxes}
        for index in policy.splits:
            above, below = boxes[policy.nodes[index].above], boxes[policy.nodes[index].below]
            assert leads_above(policy, above)
            assert not leads_above(policy, below)
            if direction == "down":
                assert below.centre[0] < boxes[index].centre[0] < above.centre[0]
            else:
                assert above.centre[1] < boxes[index].centre[1] < below.centre[1]


def test_small_trees_grow_down_and_large_ones_to_the_right() -> None:
    assert layout(random_policy(0, leaves=2, features=2, actions=1)).direction == "down"
    assert layout(random_policy(0, leaves=32)).direction == "right"


def test_a_long_rule_is_shortened() -> None:
    policy = random_policy(2, features=44, actions=1, leaves=1)
    (box,) = layout(policy, "right").boxes
    assert len(box.lines) == 6
    terms = len(policy.nodes[0].controllers[0].weights)
    assert box.lines[-1].strip() == f"… {terms} terms in all"


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
