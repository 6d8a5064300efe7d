"""What the replay holds is what happened: the law of the toy holds in every row of every member."""

import pytest
import torch
from torch import Tensor

from icct.learn import make_config
from icct.learn.group import Group
from tests.learn.go_to_target import REACH, STEPS
from tests.learn.test_learning import TOY

ROWS, SCALED_AFTER = 150, 120
SEEDS = (0, 1)


def played(**options: object) -> Group:
    """Return a population that has acted at random for some episodes, and scaled what it saw."""
    sizes = {"batch_size": 16, "critic_hidden": (8,), "leaves": 2, "buffer_size": ROWS}
    random = {"learning_starts": 2 * ROWS, "random_hold": 1, "seeds": SEEDS, "steps": 2 * ROWS}
    config = make_config(TOY, "icct-2-feature", **sizes, **random, **options)
    group = Group(config, torch.device("cpu"), False)
    group.start(workers=1)
    try:
        for step in range(1, ROWS + 1):
            group.advance()
            if config.start.normalise and step == SCALED_AFTER:
                group.fit_scaling()
    finally:
        group.stop()
    return group


def raw(group: Group, observations: Tensor) -> Tensor:
    """Return observations as the environment gave them."""
    if group.scaling is None:
        return observations
    return observations / group.scaling.gain.unsqueeze(1) + group.scaling.shift.unsqueeze(1)


@pytest.mark.parametrize("normalise", [False, True])
def test_every_row_obeys_the_law_of_the_environment(normalise: bool) -> None:
    group = played(normalise=normalise)
    assert group.scaling is None or (group.scaling.gain != 1).all()
    before, after, actions, rewards, dones = group.replay.rows.split((2, 2, 1, 1, 1), dim=-1)
    before, after = raw(group, before), raw(group, after)
    place, target = before.split(1, dim=-1)
    moved = (place + REACH * actions).clamp(-1, 1)
    assert torch.allclose(after, torch.cat((moved, target), dim=-1), atol=1e-5)
    assert torch.allclose(rewards, -(place - target).abs(), atol=1e-5)
    assert not dones.any()  # the horizon ends an episode, and something follows all the same
    goes_on = torch.arange(1, ROWS) % STEPS != 0
    assert torch.allclose(before[:, 1:][:, goes_on], after[:, :-1][:, goes_on], atol=1e-5)
    assert not torch.isclose(before[:, 1:][:, ~goes_on], after[:, :-1][:, ~goes_on]).any()
    assert not torch.isclose(*actions).any()  # each member's own
    assert not torch.isclose(place[0, ::STEPS], place[1, ::STEPS]).any()


def test_the_horizon_ends_an_episode_where_it_is_said_to() -> None:
    dones = played(normalise=False, time_limit="terminal").replay.rows[..., -1]
    ends = torch.arange(1, ROWS + 1) % STEPS == 0
    assert torch.equal(dones, ends.float().expand(len(SEEDS), -1))


def test_a_batch_has_the_rows_that_were_drawn_of_the_member_that_lived_them() -> None:
    group = played(normalise=False)
    drawn = torch.tensor([[3, 0, 149], [77, 3, 3]])
    batch = group.replay.sample(drawn << 32)  # `integers` takes the upper half of the bits
    for member, rows in enumerate(drawn):
        parts = [part[member].reshape(len(rows), -1) for part in batch]
        assert torch.equal(torch.cat(parts, dim=-1), group.replay.rows[member, rows])


def test_the_oldest_row_makes_room() -> None:
    """200 steps in a ring of 150 rows."""
    group = played(normalise=False)
    kept = group.replay.rows.clone()
    for number in range(50):
        group.replay.store(torch.full((len(SEEDS), kept.shape[-1]), float(number)))
    assert torch.equal(group.replay.rows[:, 50:], kept[:, 50:])
    assert group.replay.rows[0, :50, 0].tolist() == list(range(50))
    latest = group.replay.recent(60)
    assert torch.equal(latest[:, :10], kept[:, 140:, :2])
    assert latest[1, 10:, 1].tolist() == list(range(50))
