"""That contenders run side by side and are reported; how fast they are is not tested."""

from functools import partial

import pytest

from icct.bench.speed import our_updates, peer_updates, side_by_side
from icct.learn.config import make_config


@pytest.mark.slow
def test_contenders_take_turns_in_processes_of_their_own() -> None:
    config = make_config("lunar-lander", batch_size=16, buffer_size=100, critic_hidden=(8, 8))
    contenders = {
        "ours": partial(our_updates, config, compile_update=False),
        "theirs": partial(peer_updates, "stable_baselines3", 16),
    }
    rates = side_by_side(contenders, threads=1, seconds=0.5)
    assert [rate.what for rate in rates] == ["ours", "theirs"]
    assert all(rate.per_s > 0 and rate.set_up_s > 0 for rate in rates)
