"""The GPU path: captured programs equal the eager update on the CPU. Skipped without a GPU."""

import pytest
import torch

from icct.learn.config import TrainConfig, make_config
from icct.learn.group import Group

pytestmark = [
    pytest.mark.cuda,
    # The comparison needs full products; torch advises against them.
    pytest.mark.filterwarnings("ignore:TensorFloat32 tensor cores"),
    # The compiler of torch 2.11 calls parts of torch that torch itself calls deprecated.
    pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning"),
    # It also looks at a gradient that is not there and keeps its own warning from being shown,
    # which comes too late where warnings are errors.
    pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor:UserWarning"),
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA GPU"),
]


@pytest.fixture(autouse=True)
def exact_products() -> None:
    torch.set_float32_matmul_precision("highest")


def filled(config: TrainConfig, device: str, compiled: bool) -> Group:
    group = Group(config, torch.device(device), compiled)
    generator = torch.Generator().manual_seed(0)
    rows = torch.randn(group.replay.rows.shape, generator=generator)
    rows[..., -1] = (rows[..., -1] > 1).float()
    group.replay.rows.copy_(rows)
    group.replay.stored += 500
    return group


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("algorithm", ["sac", "td3"])
@pytest.mark.parametrize("method", ["icct-2-feature", "icct-complete", "cddt", "mlp-upper"])
def test_captured_updates_equal_eager_ones(method: str, algorithm: str, compiled: bool) -> None:
    config = make_config(
        "lunar-lander",
        method,
        seeds=(0, 1, 2),
        algorithm=algorithm,
        batch_size=64,
        critic_hidden=(32, 32),
        buffer_size=500,
        actor_lr=1e-4,
        critic_lr=1e-4,
        entropy_lr=1e-4,
    )
    check_learning(config, compiled, range(10))


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("algorithm", ["sac", "td3"])
def test_captured_learning_rates_fall(algorithm: str, compiled: bool) -> None:
    """Rates of 0.01 at the start would move weights by 0.1; near the end they are a hundredth."""
    config = make_config(
        "lunar-lander",
        "icct-complete",
        seeds=(0, 1, 2),
        algorithm=algorithm,
        batch_size=64,
        critic_hidden=(32, 32),
        buffer_size=500,
        steps=10_000,
        actor_lr=1e-2,
        critic_lr=1e-2,
        entropy_lr=1e-2,
        final_lr=0.01,
    )
    check_learning(config, compiled, range(9990, 10_000))


def check_learning(config: TrainConfig, compiled: bool, steps: range) -> None:
    """Compare updates at these steps, captured on the GPU and eager on the CPU."""
    eager, graph = filled(config, "cpu", False), filled(config, "cuda", compiled)
    for step in steps:
        for group in (eager, graph):
            group.step.fill_(step)
            group.learn(step)
    assert graph.latest_losses() == pytest.approx(eager.latest_losses(), rel=1e-3, abs=1e-3)
    for key, tensor in eager.learner.state().items():
        other = graph.learner.state()[key].cpu()
        assert torch.allclose(tensor, other, atol=2e-4, rtol=1e-3), key


def test_captured_acting_equals_eager_acting() -> None:
    config = make_config("lunar-lander", "icct-2-feature", seeds=(0, 1), learning_starts=2)
    eager, graph = filled(config, "cpu", False), filled(config, "cuda", False)
    outcome = torch.randn(2, 18, generator=torch.Generator().manual_seed(1))
    for _ in range(5):
        for group in (eager, graph):
            group._host_outcome.copy_(outcome)
            group.programs.run(group._store_and_act)
        torch.cuda.synchronize()
        assert torch.allclose(eager.actions, graph.actions.cpu(), atol=1e-5)
        stored = int(eager.replay.stored)
        rows = [group.replay.rows[:, :stored].cpu() for group in (eager, graph)]
        assert torch.allclose(*rows, atol=1e-5)
        assert eager.step == graph.step.cpu()
