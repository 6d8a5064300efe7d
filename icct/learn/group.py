"""One population at work: environments, replay, update rule, and the programs that join them.

A program is a function over fixed tensors. On a GPU it is captured once as a CUDA graph and then
replayed; on a CPU it is simply called. The order within a step lets environments and updates
overlap: wait for the environments, store, act, let them go, update.
"""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from icct.envs.crew import Crew, Slot
from icct.learn.config import TrainConfig
from icct.learn.deepen import Growth
from icct.learn.module import TreeModule
from icct.learn.replay import Replay
from icct.learn.sac import Sac
from icct.learn.scaling import Scaling, start_thresholds
from icct.learn.snapshot import make_actor, make_critics
from icct.learn.td3 import Td3

UPDATE_RULES = {"sac": Sac, "td3": Td3}
SEEN_LATELY = 2000  # observations of each member by which its tree grows
WARM_UPS = 3  # calls before a capture, in which libraries choose their kernels


class Group:
    """The members of one configuration."""

    def __init__(self, config: TrainConfig, device: torch.device, compile_update: bool) -> None:
        self.config, self.device = config, device
        self.task = config.task
        features, actions = len(self.task.features), len(self.task.actions)
        rule = UPDATE_RULES[config.algorithm]
        self.learner = rule(config, make_actor(config), make_critics(config), device)
        capacity = min(config.buffer_size, config.steps)
        self.replay = Replay(config.members, capacity, features, actions, device)
        if compile_update:
            self.learner.compile()
            self.replay.sample = torch.compile(self.replay.sample)
        self.scaling = Scaling(config.members, features, device) if config.normalise else None
        self.twin_scaling: Scaling | None = None
        self.twin = make_actor(config).eval().requires_grad_(False)  # on the CPU, for snapshots
        # The tensors that programs read and write.
        self.step = torch.zeros((), dtype=torch.int64, device=device)
        self.outcome = torch.zeros(config.members, 2 * features + 2, device=device)
        self.observations = torch.zeros(config.members, features, device=device)
        self.actions = torch.zeros(config.members, actions, device=device)
        self.losses = torch.zeros(3, config.members, device=device)
        self.centre = np.array([a.centre for a in self.task.actions], np.float32)
        self.half_range = np.array([a.half_range for a in self.task.actions], np.float32)
        # Where the running episodes stand; enough to play them again after a stop.
        self.episodes = np.zeros(config.members, np.int64)
        self.lengths = np.zeros(config.members, np.int64)
        self.played = np.zeros((config.members, self.task.horizon, actions), np.float32)
        self.crew: Crew | None = None
        self.stream = torch.cuda.Stream(device) if device.type == "cuda" else None
        # On the host, from where a GPU copies by itself; `_seen` and `_chosen` are views of them.
        pin = device.type == "cuda"
        self._host_outcome = torch.zeros(self.outcome.shape, pin_memory=pin)
        self._host_actions = torch.zeros(self.actions.shape, pin_memory=pin)
        self._seen, self._chosen = self._host_outcome.numpy(), self._host_actions.numpy()
        self._rows = np.arange(config.members)
        self._programs: dict[str, Callable[[], None]] = {}

    # -- the programs ---------------------------------------------------------------------------

    def _begin(self) -> None:
        """Act on the first observations."""
        self._see()
        self._act()

    def _store_and_act(self) -> None:
        """Keep what happened, and act on what is seen now."""
        self._see()
        features = self.observations.shape[1]
        following, _, ending = self.outcome.split((features, features, 2), dim=1)
        self.replay.store(torch.cat((self.observations, following, self.actions, ending), dim=1))
        self.step += 1
        self._act()

    def _see(self) -> None:
        """Take what the environments did, its observations scaled."""
        self.outcome.copy_(self._host_outcome, non_blocking=True)
        if self.scaling is not None:
            features = self.observations.shape[1]
            for part in self.outcome[:, : 2 * features].split(features, dim=1):
                part.copy_(self.scaling(part))

    def _act(self) -> None:
        features = self.observations.shape[1]
        self.observations.copy_(self.outcome[:, features : 2 * features])
        self.actions.copy_(self.learner.act(self.observations, self.step))
        self._host_actions.copy_(self.actions, non_blocking=True)

    def _update(self, phase: int) -> None:
        """Learn from a batch."""
        self.learner.set_share(self.step)
        chosen, *noise = self.learner.draws(self.step)
        losses = self.learner.update(self.replay.sample(chosen), *noise, phase=phase)
        self.losses.copy_(torch.stack((losses.critic, losses.actor, losses.entropy)))

    def run(self, name: str, function: Callable[[], None]) -> None:
        """Run a program: as a CUDA graph, captured at its first run, or as it is."""
        if self.stream is None:
            function()
            return
        torch.cuda.set_stream(self.stream)
        if name not in self._programs:
            # Not the replay: it is large, and what a warm-up stores lies beyond `stored`.
            changed = [v for key, v in self.state().items() if key != "replay.rows"]
            self._programs[name] = captured(function, changed, self.stream)
        self._programs[name]()

    # -- the steps ------------------------------------------------------------------------------

    def start(self, workers: int) -> None:
        """Start the environments where the episodes stand, and let them take a step."""
        ends = self.config.time_limit == "terminal"
        slots = [
            Slot(seed, ends, int(self.episodes[i]), self.played[i, : self.lengths[i]].copy())
            for i, seed in enumerate(self.config.seeds)
        ]
        self.crew = Crew(self.task, slots, workers)
        if self.step.item() == 0:
            self._seen[:] = self.crew.outcome
            self.run("begin", self._begin)
        else:
            self._host_actions.copy_(self.actions)
        self._send()

    def advance(self) -> list[tuple[int, float, int]]:
        """Take one step with every member; return (member, return, length) of ended episodes."""
        assert self.crew is not None, "start comes first"
        self.crew.wait()
        self._seen[:] = self.crew.outcome
        self.run("act", self._store_and_act)
        ended = self._episodes_ended()
        self._send()
        return ended

    def learn(self, step: int) -> None:
        """Do the update that belongs to a step, while the environments take theirs."""
        phase = self.learner.phase(step)
        self.run(f"update-{phase}", lambda: self._update(phase))

    def fit_scaling(self) -> None:
        """Scale by what the random steps have shown, and start thresholds at values seen there."""
        assert self.scaling is not None, "only where observations are normalised"
        if self.stream is not None:
            self.stream.synchronize()
        features = self.observations.shape[1]
        rows = self.replay.rows[:, : int(self.replay.stored.item())]
        seen, following = rows[..., :features], rows[..., features : 2 * features]
        self.scaling.fit(seen)
        for part in (seen, following):
            part.copy_(self.scaling(part))
        self.observations.copy_(self.scaling(self.observations))
        if isinstance(self.learner.actor, TreeModule):
            start_thresholds(self.learner.actor, seen)

    def grow(self, step: int) -> list[Growth]:
        """Split the leaves of growing trees where it pays, by what was seen lately."""
        if self.stream is not None:
            self.stream.synchronize()
        return self.learner.grow(self.replay.recent(SEEN_LATELY), step)

    def stop(self) -> None:
        """Stop the environments; may be called twice."""
        if self.crew is not None:
            self.crew.close()
            self.crew = None

    def _send(self) -> None:
        assert self.crew is not None
        if self.stream is not None:
            self.stream.synchronize()
        raw = self.centre + self.half_range * self._chosen
        self.crew.actions[:] = raw
        self.played[self._rows, self.lengths] = raw
        self.crew.go()

    def _episodes_ended(self) -> list[tuple[int, float, int]]:
        assert self.crew is not None
        self.lengths += 1
        ended = [
            (i, float(self.crew.episode[i, 2]), int(self.crew.episode[i, 3]))
            for i in np.flatnonzero(self.crew.episode[:, 1]).tolist()
        ]
        for member, _, _ in ended:
            self.episodes[member] += 1
            self.lengths[member] = 0
        return ended

    # -- what is kept ---------------------------------------------------------------------------

    def latest_losses(self) -> NDArray[np.float32]:
        """Return critic loss, actor loss and entropy coefficient, (3, members)."""
        if self.stream is not None:
            self.stream.synchronize()
        return self.losses.cpu().numpy()

    def refresh_twin(self) -> None:
        """Copy the actors to the CPU, where snapshots are taken."""
        if self.stream is not None:
            self.stream.synchronize()
        for ours, theirs in zip(
            self.twin.parameters(), self.learner.actor.parameters(), strict=True
        ):
            ours.copy_(theirs)
        self.twin_scaling = None if self.scaling is None else self.scaling.on_cpu()
        if self.config.grow:
            self.twin.active.copy_(self.learner.actor.active)

    def state(self) -> dict[str, Tensor]:
        """Return all tensors that a step changes, by name; loading copies into them."""
        return {
            **self.learner.state(),
            "replay.rows": self.replay.rows,
            "replay.stored": self.replay.stored,
            "step": self.step,
            "observations": self.observations,
            "actions": self.actions,
            "losses": self.losses,
            **({} if self.scaling is None else vars(self.scaling)),
        }


def captured(
    function: Callable[[], None], tensors: Sequence[Tensor], stream: torch.cuda.Stream
) -> Callable[[], None]:
    """Return a CUDA graph of a function; `tensors` are what it changes, put back afterwards."""
    kept = [(tensor, tensor.clone()) for tensor in tensors]
    for _ in range(WARM_UPS):
        function()
    graph = torch.cuda.CUDAGraph()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph, stream=stream):
        function()
    for tensor, before in kept:
        tensor.copy_(before)
    torch.cuda.synchronize()
    return graph.replay
