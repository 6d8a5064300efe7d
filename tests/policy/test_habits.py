"""What Python users try first: print it, show it in a notebook, act by name, find the names."""

import xml.etree.ElementTree as ElementTree

import pytest

import icct
from icct.errors import ObservationError
from icct.policy.text import tree_text
from icct.zoo import zoo_policy
from tests.export.hostile import hostile_policy
from tests.random_policies import random_policy

RING = zoo_policy("ring-cruiser")


def test_print_shows_the_rules() -> None:
    assert str(RING).endswith(tree_text(RING))
    assert "if speed_ego <= 3.00 m/s:   [0]" in str(RING)


@pytest.mark.parametrize("policy", [RING, hostile_policy(), random_policy(3, leaves=24)])
def test_notebooks_show_a_picture(policy: icct.Policy) -> None:
    picture = policy._repr_html_()
    root = ElementTree.fromstring(picture)  # well formed, whatever the names
    assert root.tag.endswith("svg")
    drawn = {box.get("data-node") for box in root.iter() if "node" in box.get("class", "").split()}
    assert "0" in drawn
    assert "onload" not in picture.lower().replace("onload_", "")


def test_act_by_name() -> None:
    raw = RING.act([0.0] * 21 + [0.118] + [0.0] * 22)
    assert RING.act({"speed_ego": 0.118}) == raw
    assert RING.act({"speed_ego": "3.54 m/s", "position_ego": 0.5}) == raw
    assert RING.path({"speed_ego": 0.118}) == (0, 2, 3)
    assert RING.leaf_of({"speed_ego": 0.118}) == 3


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"speed_eg": 0.1}, "Did you mean 'speed_ego'"),
        ({"position_ego": 0.1}, "no value for speed_ego"),
        ({"speed_ego": "3 km/h"}, "speed_ego is in m/s"),
        ({"speed_ego": None}, "not a list of numbers|must be finite"),
        ({"speed_ego": float("nan")}, "must be finite"),
    ],
)
def test_names_that_do_not_fit_are_refused(values: dict, says: str) -> None:
    with pytest.raises(ObservationError, match=says):
        RING.act(values)


def test_the_public_names_are_few_and_documented() -> None:
    assert len(icct.__all__) <= 16
    assert "from_sklearn" in icct.__all__
    for name in icct.__all__:
        public = getattr(icct, name)
        assert name == "__version__" or public.__doc__, name
