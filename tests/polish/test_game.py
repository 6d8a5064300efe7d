import os
import signal
import threading

import numpy as np
import pytest

from icct.envs.catalog import TASKS
from icct.errors import TaskError
from icct.evaluate import evaluate
from icct.policy import Action, Controller, Leaf, Policy, Split
from icct.polish.compiled import CompiledActor
from icct.polish.game import TaskGame
from icct.seeds import Purpose, seeds_above
from tests.random_policies import observations_around, random_policy

PENDULUM = TASKS["inverted-pendulum"]


def pusher(gain):
    rule = Leaf((Controller(((1, gain),)),))
    nodes = (Split(1, 0.0, below=1, above=2), rule, rule)
    return Policy(f"pusher-{gain}", PENDULUM.features, PENDULUM.actions, nodes, squash="clip")


RULE = Leaf((Controller(((0, 1.0), (1, 15.0), (2, 1.5), (3, 2.5))),))
BALANCER = Policy("balancer", PENDULUM.features, PENDULUM.actions, (RULE,), squash="clip")


@pytest.fixture
def game():
    made = TaskGame(PENDULUM, workers=2)
    yield made
    made.close()


def test_workers_answer_in_order_and_as_one_alone_even_when_killed(game):
    questions = [(pusher(gain), seeds_above(Purpose.SEARCH, 0, range(5))) for gain in (2, 9, 5)]
    alone = TaskGame(PENDULUM, workers=1)
    expected = alone.returns(questions)
    seen = alone.observations(*questions[1])
    alone.close()
    assert [len(returns) for returns in expected] == [5, 5, 5]
    assert game.returns(questions) == expected
    assert np.array_equal(game.observations(*questions[1]), seen)
    idle = game._pool._idle[-1]
    os.kill(idle.pid, signal.SIGKILL)
    idle._process.join()
    assert game.returns(questions) == expected


def test_a_worker_killed_while_it_plays_is_replaced(game):
    question = [(BALANCER, seeds_above(Purpose.SEARCH, 1, range(2)))]
    assert game.returns(question) == [[1000.0, 1000.0]]
    victims = [worker.pid for worker in game._pool._idle]
    timer = threading.Timer(0.1, os.kill, (victims[0], signal.SIGKILL))
    timer.start()
    assert game.returns(20 * question) == 20 * [[1000.0, 1000.0]]
    timer.join()
    game.returns(4 * question)
    assert victims[0] not in [worker.pid for worker in game._pool._idle]


def test_an_error_of_the_player_is_raised_and_not_played_again(game):
    two = (PENDULUM.actions[0], Action("horn"))
    wrong = Policy("wrong", PENDULUM.features, two, (Leaf((Controller(), Controller())),))
    with pytest.raises(TaskError, match="the action has shape"):
        game.returns([(wrong, [1, 2, 3, 4])])
    assert game.returns([(pusher(2), [1])])  # and the others go on


def test_an_episode_is_that_of_evaluate():
    result = evaluate(pusher(9), PENDULUM.name, episodes=3, seed=4)
    alone = TaskGame(PENDULUM, workers=1)
    found = alone.returns([(pusher(9), [episode.seed for episode in result.episodes])])
    alone.close()
    assert found == [list(result.returns)]


def test_the_compiled_actor_acts_as_the_policy_to_the_last_bit():
    for seed in range(60):
        policy = random_policy(seed)
        actor = CompiledActor(policy)
        for row in observations_around(policy, np.random.default_rng(seed), 40):
            assert np.array_equal(actor.act(row), policy.act(row))


def test_the_sets_share_no_seed_with_each_other_or_with_evaluations():
    sets = [set(seeds_above(kind, seed=3, numbers=range(200))) for kind in Purpose]
    assert len(set().union(*sets)) == 200 * len(Purpose)
    assert min(set().union(*sets)) >= 2**32
    assert seeds_above(Purpose.SEARCH, 3, range(4)) != seeds_above(Purpose.SEARCH, 4, range(4))


def test_a_game_is_played_with_the_options_of_its_task():
    question = [(pusher(5), seeds_above(Purpose.SEARCH, 0, range(2)))]
    usual, longer = (
        TaskGame(PENDULUM.with_options(options), 1) for options in ({}, {"pole_length": "1.2"})
    )
    assert usual.returns(question) != longer.returns(question)
    usual.close()
    longer.close()
