import math

import pytest
import torch

from icct.learn.crisp import (
    diff_argmax,
    diff_top_k,
    node_crisp,
    outcome_crisp,
    route,
    soft_argmax,
    sparse_controllers,
    straight_through,
)


def test_the_papers_worked_example() -> None:
    """Sections IV-B1 and IV-B2: x = [2, 3], w = [2, 1], b = 1, alpha = 1."""
    observation, weights = torch.tensor([2.0, 3.0]), torch.tensor([2.0, 1.0], requires_grad=True)
    bias, alpha = torch.tensor(1.0, requires_grad=True), torch.tensor(1.0, requires_grad=True)
    assert diff_argmax(weights.abs()).tolist() == [1.0, 0.0]
    score = alpha * (node_crisp(weights) @ observation - bias)
    assert score.item() == 3.0
    assert round(torch.sigmoid(score).item(), 2) == 0.95
    soft = soft_argmax(torch.stack((score, torch.zeros(()))))
    assert [round(value, 2) for value in soft.tolist()] == [0.95, 0.05]
    outcome = outcome_crisp(score)
    assert outcome.item() == 1.0
    assert route(outcome.reshape(1)).tolist() == [1.0, 0.0]  # the true, left branch
    outcome.backward()
    slope = 0.95257 * (1 - 0.95257)  # of the sigmoid at 3
    assert bias.grad.item() == pytest.approx(-slope, abs=1e-4)
    assert alpha.grad.item() == pytest.approx(3 * slope, abs=1e-4)
    # Through the weight itself, and through the choice: softmax([2, 1]) = [0.731, 0.269].
    choice = 0.7311 * 0.2689
    expected = [slope * (2 + choice * (4 - 3)), slope * choice * (3 - 4)]
    assert weights.grad.tolist() == pytest.approx(expected, abs=1e-4)


def test_straight_through_is_exact_forward_and_soft_backward() -> None:
    soft = torch.rand(1000, requires_grad=True)
    hard = (soft.detach() > 0.5).float()
    value = straight_through(hard, soft)
    assert torch.equal(value, hard)
    value.sum().backward()
    assert torch.equal(soft.grad, torch.ones(1000))


def test_argmax_of_neighbouring_floats() -> None:
    """Softmax would make these equal; the choice must not depend on that."""
    larger = torch.nextafter(torch.tensor(1e-3), torch.tensor(1.0))
    assert diff_argmax(torch.stack((torch.tensor(1e-3), larger))).tolist() == [0.0, 1.0]


@pytest.mark.parametrize("score", [0.0, -0.0, -1e-30, -1.0, -1e30])
def test_a_score_of_at_most_zero_is_false(score: float) -> None:
    assert outcome_crisp(torch.tensor(score)).item() == 0.0


@pytest.mark.parametrize("score", [1e-45, 1e-30, 1.0, 1e30])
def test_a_score_above_zero_is_true(score: float) -> None:
    assert outcome_crisp(torch.tensor(score)).item() == 1.0


def test_temperature_softens_the_gradient_only() -> None:
    for temperature in (0.1, 1.0, 10.0):
        score = torch.tensor(0.5, requires_grad=True)
        outcome = outcome_crisp(score, temperature)
        assert outcome.item() == 1.0
        outcome.backward()
        soft = 1 / (1 + math.exp(-0.5 / temperature))
        assert score.grad.item() == pytest.approx(soft * (1 - soft) / temperature, rel=1e-5)


def test_top_k_chooses_k_different_largest() -> None:
    logits = torch.tensor([[0.3, 0.9, 0.1, 0.9]], requires_grad=True)
    choices = diff_top_k(logits, 3)
    assert choices.argmax(-1).flatten().tolist() == [1, 3, 0]
    assert choices.sum(0).tolist() == [[1.0, 1.0, 0.0, 1.0]]
    (choices[1] * torch.tensor([1.0, 2.0, 3.0, 4.0])).sum().backward()
    assert torch.isfinite(logits.grad).all()
    assert logits.grad[0, 1] == 0.0  # taken by the first choice, no longer on offer


def test_every_pick_of_a_top_k_has_noise_of_its_own() -> None:
    logits = torch.zeros(3)
    noise = torch.tensor([[0.0, 0.0, 9.0], [1.0, 0.0, 9.0], [0.0, 0.0, 9.0]])
    assert diff_top_k(logits, 3, noise=noise).argmax(-1).tolist() == [2, 0, 1]
    noise[1] = torch.tensor([0.0, 1.0, 9.0])
    assert diff_top_k(logits, 3, noise=noise).argmax(-1).tolist() == [2, 1, 0]


def test_routing_numbers_leaves_from_true_to_false() -> None:
    outcomes = torch.tensor([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    assert route(outcomes).tolist() == [[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
    fuzzy = route(torch.rand(5, 7, dtype=torch.float64))
    assert torch.allclose(fuzzy.sum(-1), torch.ones(5, dtype=torch.float64))
    first, second, third = 0.9, 0.2, 0.6
    assert route(torch.tensor([first, second, third])).tolist() == pytest.approx(
        [first * second, first * (1 - second), (1 - first) * third, (1 - first) * (1 - third)]
    )


def test_a_sparse_controller_by_hand() -> None:
    """One leaf, one action, three features of which two are chosen."""
    selector = torch.tensor([-3.0, 1.0, 2.0], requires_grad=True)
    choices = diff_top_k(selector.abs().reshape(1, 1, 1, 3), 2)
    weights = torch.tensor([10.0, 20.0, 30.0]).reshape(1, 1, 1, 3).requires_grad_()
    biases = torch.tensor([0.1, 0.2, 0.3]).reshape(1, 1, 1, 3).requires_grad_()
    observation = torch.tensor([[[1.0, 2.0, 3.0]]])
    value = sparse_controllers(observation, choices, weights, biases)
    assert value.item() == pytest.approx(10 * 1 + 30 * 3 + 0.1 + 0.3)
    value.sum().backward()
    assert weights.grad.flatten().tolist() == [1.0, 0.0, 3.0]
    assert biases.grad.flatten().tolist() == [1.0, 0.0, 1.0]
    assert (selector.grad != 0).all()  # the feature left out learns too
