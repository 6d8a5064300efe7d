"""Figures: the text fits its boxes as the font really draws it; files say what they are."""

import pytest

from icct.draw import draw, write_figure
from icct.errors import ConfigError
from icct.policy import Policy
from icct.policy.usage import leaf_shares
from icct.zoo import zoo_policy
from tests.random_policies import random_policy
from tests.shipped import SOME


def text_outside_boxes(policy: Policy, **options) -> list[str]:
    """Return the texts that no box holds, except for the answers beside the edges."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.patches import FancyBboxPatch

    figure = draw(policy, whole=True, **options)
    renderer = FigureCanvasAgg(figure).get_renderer()
    (axes,) = figure.axes
    boxes = [
        patch.get_window_extent(renderer)
        for patch in axes.patches
        if isinstance(patch, FancyBboxPatch)
    ]
    assert len(boxes) == 2 * len(policy.nodes)  # one for each node, one for its number
    lost = []
    for text in axes.texts:
        area = text.get_window_extent(renderer)
        held = any(
            box.x0 <= area.x0 and area.x1 <= box.x1 and box.y0 <= area.y0 and area.y1 <= box.y1
            for box in boxes
        )
        if not held:
            assert 0 <= area.x0 <= area.x1 <= figure.bbox.x1
            lost.append(text.get_text())
    return lost


@pytest.mark.parametrize("leaves", [2, 4, 8, 16, 32, 64])
def test_text_fits_its_box(leaves: int) -> None:
    policy = random_policy(leaves, leaves=leaves)
    lost = text_outside_boxes(policy)
    assert sorted(lost) == sorted(["yes", "no"] * (leaves - 1))


@pytest.mark.parametrize("name", SOME)
def test_shipped_policies_with_path_and_usage(name: str) -> None:
    policy = zoo_policy(name)
    path = policy.path([0.1] * len(policy.features))
    usage = {leaf: 10 * index + 1 for index, leaf in enumerate(policy.leaves)}
    lost = text_outside_boxes(policy, path=path, usage=usage)
    assert sorted(lost) == sorted(["yes", "no"] * len(policy.splits))


def test_unreached_branches_are_one_line_unless_all_are_asked_for() -> None:
    policy = random_policy(7, leaves=32)
    simple, whole = (write_figure(draw(policy, whole=all_), "a.svg") for all_ in (False, True))
    assert b"that no observation reaches" in simple
    assert b"that no observation reaches" not in whole
    assert whole.count(b"#f3f4f6") > simple.count(b"#f3f4f6") > 0  # grey
    assert len(whole) > len(simple)


def test_a_figure_of_up_to_16_leaves_is_no_larger_than_a_page() -> None:
    for policy in map(zoo_policy, SOME):
        if len(policy.leaves) > 16:
            continue
        width, height = draw(policy).get_size_inches()
        assert width <= 7.01
        assert height <= 9.51


def test_path_and_usage_change_the_picture() -> None:
    policy = zoo_policy("ring-cruiser")
    plain = write_figure(draw(policy), "a.svg")
    assert plain == write_figure(draw(policy), "b.svg")  # and nothing else does
    marked = write_figure(draw(policy, path=policy.path([0.1] * 44)), "a.svg")
    assert marked.count(b"#e08a00") > 0 == plain.count(b"#e08a00")
    shaded = write_figure(draw(policy, usage={1: 1, 3: 1, 4: 2}), "a.svg")
    assert shaded != plain


@pytest.mark.parametrize(
    ("path", "start"), [("t.svg", b"<?xml"), ("t.png", b"\x89PNG"), ("t.PDF", b"%PDF")]
)
def test_formats(path: str, start: bytes) -> None:
    assert write_figure(draw(zoo_policy("lane-keeper")), path).startswith(start)


def test_other_formats_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"ends in \.svg, \.png, \.pdf"):
        write_figure(draw(zoo_policy("lane-keeper")), "tree.bmp")


def test_shares_without_counts() -> None:
    policy = zoo_policy("ring-cruiser")
    assert leaf_shares(policy, None) == leaf_shares(policy, {1: 0}) == {}
