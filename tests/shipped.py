"""Shipped policies for tests that are too slow to take all of them."""

from icct.zoo import zoo_names

BY_HAND = tuple(name for name in zoo_names() if "/" not in name)
SOME = (*BY_HAND, "lunar-lander/icct-2-feature", "lunar-lander/icct-static")
