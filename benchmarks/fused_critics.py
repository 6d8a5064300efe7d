"""What do critics in one kernel a pass gain over torch's own, on a GPU?

python benchmarks/fused_critics.py            how long passes and updates take, ours and torch's
python benchmarks/fused_critics.py --tiles    which division of the work is the fastest

Every pass is captured as a CUDA graph, as in training; rounds take turns.
"""

import argparse
import itertools
from collections.abc import Callable
from statistics import median

import torch

from icct.learn import build, fused
from icct.learn.config import make_config
from icct.learn.device import choose_device
from icct.learn.fast import FastCritics, compiled
from icct.learn.fused import FusedCritics, Tile
from icct.learn.group import Group

ROUNDS, REPEATS = 7, 50
SHAPES = {  # members, batch, features, actions
    "figure-eight": (5, 1024, 28, 1),
    "multi-lane-ring": (5, 1024, 66, 2),
    "lunar-lander": (5, 256, 8, 2),
    "lunar-lander, 72 members": (72, 256, 8, 2),
}
TILES = [
    Tile(*one)
    for one in (
        (128, 32, 8, 2), (128, 32, 8, 3), (128, 16, 8, 3), (128, 32, 16, 2),
        (64, 32, 4, 2), (64, 32, 4, 3), (64, 16, 4, 3), (64, 32, 8, 2), (64, 32, 8, 3),
    )
]  # fmt: skip


def captured(function: Callable[[], object]) -> Callable[[], float]:
    """Return what replays a function as a graph, and returns how many microseconds it takes."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            function()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        function()

    def replay() -> float:
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(REPEATS):
            graph.replay()
        end.record()
        torch.cuda.synchronize()
        return 1000 * start.elapsed_time(end) / REPEATS

    return replay


def passes(critics: FastCritics, shape: tuple[int, ...]) -> dict[str, Callable[[], object]]:
    """Return the three passes of an update."""
    members, batch, features, actions = shape
    g = torch.Generator("cuda").manual_seed(0)
    observations = torch.randn(members, batch, features, device="cuda", generator=g)
    action = torch.randn(members, batch, actions, device="cuda", generator=g)
    targets = torch.randn(members, batch, device="cuda", generator=g)
    layers = [layer.detach() for layer in critics.layers]

    def slopes() -> object:
        wanted = action.detach().requires_grad_()
        return torch.autograd.grad(critics.of_actions(observations, wanted).sum(), wanted)[0]

    return {
        "values": lambda: critics.values(layers, observations, action),
        "slopes": slopes,
        "errors": lambda: critics.errors(observations, action, targets, 0.5),
    }


def pair(shape: tuple[int, ...]) -> tuple[FastCritics, FusedCritics]:
    """Return the same critics twice, torch's and ours."""
    members, _, features, actions = shape
    sizes = (256, 256), features, actions, tuple(range(members))
    return FastCritics(*sizes).cuda(), FusedCritics(*sizes).cuda()


def exact(critics: FastCritics, shape: tuple[int, ...]) -> dict[str, list[torch.Tensor]]:
    """Return what the passes give without rounded products."""
    torch.set_float32_matmul_precision("highest")
    found = {key: flat(one()) for key, one in passes(critics, shape).items()}
    torch.set_float32_matmul_precision("high")
    return found


def compare(name: str) -> None:
    """Print how long the passes take, and how far they are from exact ones."""
    shape = SHAPES[name]
    critics = pair(shape)
    wanted = exact(critics[0], shape)
    for key in wanted:
        timers, errors = [], []
        for one in critics:
            function = passes(one, shape)[key]
            errors.append(f"{error(wanted[key], flat(function())):.1e}")
            timers.append(captured(compiled(function) if key != "slopes" else function))
        times = [[timer() for timer in timers] for _ in range(ROUNDS)]
        before, after = (median(column) for column in zip(*times, strict=True))
        numbers = f"{before:.0f} | {after:.0f} | {before / after:.2f} | {' | '.join(errors)}"
        print(f"| {name} | {key} | {numbers} |", flush=True)


def error(wanted: list[torch.Tensor], found: list[torch.Tensor]) -> float:
    """Return the largest of the root mean square errors, as a share of what is wanted."""
    pairs = zip(wanted, found, strict=True)
    return max(float((a - b).norm() / a.norm()) for a, b in pairs)


def flat(found: object) -> list[torch.Tensor]:
    """Return all tensors of an answer."""
    if isinstance(found, torch.Tensor):
        return [found.detach()]
    return list(itertools.chain.from_iterable(map(flat, found)))  # type: ignore[call-overload]


def compare_tiles(name: str) -> None:
    """Print how long each kernel takes, by how it divides the work; the fastest of each last."""
    shape = SHAPES[name]
    members, batch, features, actions = shape
    critics = pair(shape)[1]
    inputs = fused._joined(
        torch.randn(members, batch, features, device="cuda"),
        torch.randn(members, batch, actions, device="cuda"),
    )
    layers = [layer.detach() for layer in critics.layers]
    laid_out = fused._laid_out(layers, inputs)
    values, first, second = fused.critic_trace(inputs, laid_out)
    kernels = {
        "forward": lambda: fused.critic_values(inputs, laid_out),
        "forward, kept": lambda: fused.critic_trace(inputs, laid_out),
        "backward": lambda: fused.critic_back(values, layers[2], layers[4], first, second),
    }
    best: dict[str, tuple[float, Tile]] = {}
    for tile in TILES:
        fused.FORWARD_TILE = fused.BACKWARD_TILE = tile
        for key, one in kernels.items():
            try:
                timer = captured(one)
            except Exception as problem:  # of Triton: too much memory of a block
                print(name, tuple(tile), key, type(problem).__name__, flush=True)
                torch.cuda.synchronize()
                continue
            took = median(timer() for _ in range(ROUNDS))
            print(f"{name} {tuple(tile)} {key} {took:.1f} us", flush=True)
            best[key] = min(best.get(key, (took, tile)), (took, tile))
    for key, (took, tile) in best.items():
        print(f"fastest {name} {key} {took:.1f} us Tile{tuple(tile)}", flush=True)


def update(task: str, method: str, batch: int, ours: bool) -> tuple[Group, Callable[[], None]]:
    """Return a population and its whole update, with our critics or torch's."""
    fits = fused.fits
    fused.fits = fits if ours else lambda *_: False  # type: ignore[assignment]
    config = make_config(
        task, method, recipe="paper", seeds=tuple(range(5)), batch_size=batch, buffer_size=50_000
    )
    group = Group(config, choose_device("cuda"), compile_update=True)
    fused.fits = fits
    assert isinstance(group.learner.critics, FusedCritics) == ours
    group.replay.rows.normal_()
    group.replay.rows[..., -1] = 0
    group.replay.stored += 50_000
    return group, lambda: group.programs.run(group._update, True)


def compare_updates(task: str, method: str, batch: int) -> None:
    """Print how long a whole update takes."""
    times: list[list[float]] = [[], []]
    both = [update(task, method, batch, ours) for ours in (False, True)]
    for _, run in both:
        run()
    for _ in range(ROUNDS):
        for column, (group, run) in zip(times, both, strict=True):
            torch.cuda.synchronize()
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record(group.programs.stream)
            for _ in range(REPEATS):
                run()
            end.record(group.programs.stream)
            torch.cuda.synchronize()
            column.append(1000 * start.elapsed_time(end) / REPEATS)
    before, after = map(median, times)
    print(f"| {task}, {method} | update | {before:.0f} | {after:.0f} | {before / after:.2f} | | |")


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tiles", action="store_true", help="compare divisions of the work")
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=list(SHAPES))
    parser.add_argument("--updates", nargs="*", metavar="TASK:METHOD:BATCH", default=[])
    options = parser.parse_args()
    choose_device("cuda")
    assert build.find_spec("triton") is not None
    if not options.tiles:
        print(
            "| population | pass | torch, us | ours, us | ratio | error, torch | error, ours |",
            flush=True,
        )
        print("|---|---|---|---|---|---|---|", flush=True)
    for name in options.shapes:
        (compare_tiles if options.tiles else compare)(name)
    for one in options.updates:
        task, method, batch = one.split(":")
        compare_updates(task, method, int(batch))


if __name__ == "__main__":
    main()
