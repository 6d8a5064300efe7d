"""One population at work: environments, replay and update rule, and a step of all of them.

The order within a step lets environments and updates overlap: wait for the environments, store,
act, let them go, update. What runs on the device are functions over fixed tensors (`Programs`).
"""

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from icct.envs.crew import Crew, Slot
from icct.learn.build import make_actor, make_learner
from icct.learn.config import TrainConfig
from icct.learn.deepen import Deepening, Growth, active_nodes
from icct.learn.fast import Programs, accelerator
from icct.learn.module import TreeModule
from icct.learn.noise import hashed, integers, normal, places, uniform
from icct.learn.sac import Batch, Sac
from icct.learn.scaling import Scaling, start_thresholds

UPDATE, EXPLORE, START = range(3)  # what is drawn at a step, told apart by a number
SEEN_LATELY = 2000  # observations of each member by which its tree grows


class Episode(NamedTuple):
    """A training episode that ended."""

    member: int
    total: float
    length: int


class Replay:
    """One ring of transitions for each member, on the training device.

    A transition is one row (observation, next observation, action, reward, done), so that storing
    and sampling are one copy and one gather. All members store at the same place.
    """

    def __init__(
        self, members: int, capacity: int, features: int, actions: int, device: torch.device
    ) -> None:
        self.sizes = (features, features, actions, 1, 1)
        self.rows = torch.zeros(members, capacity, sum(self.sizes), device=device)
        self.members = torch.arange(members, device=device).unsqueeze(-1)
        self.stored = torch.zeros((), dtype=torch.int64, device=device)  # since the start

    def store(self, rows: Tensor) -> None:
        """Keep one transition of each member, (members, sum of sizes), over the oldest."""
        place = (self.stored % self.rows.shape[1]).reshape(1)
        self.rows.index_copy_(1, place, rows.unsqueeze(1))
        self.stored += 1

    def sample(self, bits: Tensor) -> Batch:
        """Return the batch that random integers choose, (members, batch)."""
        chosen = integers(bits, self.stored.clamp(1, self.rows.shape[1]))
        seen, following, actions, rewards, dones = self.rows[self.members, chosen].split(
            self.sizes, dim=-1
        )
        return Batch(seen, following, actions, rewards.squeeze(-1), dones.squeeze(-1))

    def recent(self, count: int) -> Tensor:
        """Return the latest observations, at most `count`, (members, count, features)."""
        stored = int(self.stored.item())
        rows = torch.arange(max(0, stored - count), stored, device=self.rows.device)
        return self.rows[:, rows % self.rows.shape[1], : self.sizes[0]]


class Group:
    """The members of one configuration."""

    def __init__(self, config: TrainConfig, device: torch.device, compile_update: bool) -> None:
        self.config, self.device, self.task = config, device, config.task
        features, actions = len(self.task.features), len(self.task.actions)
        accelerate = accelerator(device, compile_update)
        self.learner = make_learner(config, device, accelerate)
        self.growth: Deepening | None = None
        if config.growth.grow:
            assert isinstance(self.learner, Sac), "checked with the configuration"
            self.growth = Deepening(config, self.learner)
        capacity = min(config.learning.buffer_size, config.steps)
        self.replay = Replay(config.members, capacity, features, actions, device)
        self.choose, self.draw = accelerate(self._choose), accelerate(self._draw)
        self.scaling = Scaling(config.members, features, device) if config.start.normalise else None
        # On the CPU, where snapshots are taken.
        self.host_actor = make_actor(config).eval().requires_grad_(False)
        self.host_scaling: Scaling | None = None
        # The tensors that programs read and write.
        self.step = torch.zeros((), dtype=torch.int64, device=device)
        self.outcome = torch.zeros(config.members, 2 * features + 2, device=device)
        self.observations = torch.zeros(config.members, features, device=device)
        self.actions = torch.zeros(config.members, actions, device=device)
        self.losses = torch.zeros(3, config.members, device=device)
        self.seeds = torch.tensor(config.seeds, dtype=torch.int64, device=device)
        self.action_places = places(actions, device)
        numbers = config.learning.batch_size * (1 + self.learner.noises * actions)
        self.update_places = places(numbers, device)
        self.programs = Programs(device, self._changed)
        # On the host, from where a GPU copies by itself; `_seen` and `_chosen` are views of them.
        pin = device.type == "cuda"
        self._host_outcome = torch.zeros(self.outcome.shape, pin_memory=pin)
        self._host_actions = torch.zeros(self.actions.shape, pin_memory=pin)
        self._seen, self._chosen = self._host_outcome.numpy(), self._host_actions.numpy()
        # Where the running episodes stand; enough to play them again after a stop.
        self.episodes = np.zeros(config.members, np.int64)
        self.lengths = np.zeros(config.members, np.int64)
        self.played = np.zeros((config.members, self.task.horizon, actions), np.float32)
        self.centre = np.array([a.centre for a in self.task.actions], np.float32)
        self.half_range = np.array([a.half_range for a in self.task.actions], np.float32)
        self.crew: Crew | None = None

    # -- a step -----------------------------------------------------------------------------------

    def advance(self) -> list[Episode]:
        """Take one step with every member; return the episodes that ended."""
        assert self.crew is not None, "start comes first"
        self.crew.wait()
        self._seen[:] = self.crew.outcome
        self.programs.run(self._store_and_act)
        ended = self._episodes_ended(self.crew)
        self._send(self.crew)
        return ended

    def learn(self, step: int) -> None:
        """Do the update that belongs to a step, while the environments take theirs."""
        self.programs.run(self._update, self.learner.moves_actor(step))

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
        """Choose actions on the observations that the environments are at."""
        features = self.observations.shape[1]
        self.observations.copy_(self.outcome[:, features : 2 * features])
        self.actions.copy_(self.choose(self.observations, self.step))
        self._host_actions.copy_(self.actions, non_blocking=True)

    @torch.no_grad()
    def _choose(self, observations: Tensor, step: Tensor) -> Tensor:
        """Return the action to take: random before learning starts, then with exploration."""
        noise = normal(hashed(self.seeds, step, EXPLORE, self.action_places))
        held = step // self.config.learning.random_hold
        drawn = 2 * uniform(hashed(self.seeds, held, START, self.action_places)) - 1
        action = self.learner.explore(observations, noise)
        if self.config.start.init:  # a policy to start from knows better than chance
            return action
        return torch.where(step < self.config.learning.learning_starts, drawn, action)

    def _update(self, move_actor: bool) -> None:
        """Learn from a batch."""
        self._set_learning_rates()
        batch, noise = self.draw(self.step)
        losses = self.learner.update(batch, *noise, move_actor=move_actor)
        if self.growth is not None:
            self.growth.update(batch.observations, noise[0], losses.entropy)
        self.losses.copy_(torch.stack(losses))

    def _draw(self, step: Tensor) -> tuple[Batch, tuple[Tensor, ...]]:
        """Return the batch of a step's update, and its noise, each (members, batch, actions)."""
        rows, actions = self.config.learning.batch_size, self.learner.actor.actions
        bits = hashed(self.seeds, step, UPDATE, self.update_places)
        noise = normal(bits[:, rows:]).reshape(-1, self.learner.noises, rows, actions)
        return self.replay.sample(bits[:, :rows]), noise.unbind(1)

    def _set_learning_rates(self) -> None:
        if (final := self.config.learning.final_lr) < 1:
            share = 1 - (1 - final) * self.step.double() / self.config.steps
            growing = [] if self.growth is None else [self.growth.adam]
            for optimiser in (*self.learner.optimisers.values(), *growing):
                optimiser.set_share(share)

    # -- environments -----------------------------------------------------------------------------

    def start(self, workers: int) -> None:
        """Start the environments where the episodes stand, and let them take a step."""
        ends = self.config.learning.time_limit == "terminal"
        slots = [
            Slot(seed, ends, int(self.episodes[i]), self.played[i, : self.lengths[i]].copy())
            for i, seed in enumerate(self.config.seeds)
        ]
        self.crew = Crew(self.task, slots, workers)
        if self.step.item() == 0:
            self._seen[:] = self.crew.outcome
            self.programs.run(self._begin)
        else:
            self._host_actions.copy_(self.actions)
        self._send(self.crew)

    def _begin(self) -> None:
        """Act on the first observations."""
        self._see()
        self._act()

    def stop(self) -> None:
        """Stop the environments; may be called twice."""
        if self.crew is not None:
            self.crew.close()
            self.crew = None

    def _send(self, crew: Crew) -> None:
        """Let the environments take a step with the chosen actions."""
        self.programs.synchronize()
        raw = self.centre + self.half_range * self._chosen
        crew.actions[:] = raw
        self.played[np.arange(len(raw)), self.lengths] = raw
        crew.go()

    def _episodes_ended(self, crew: Crew) -> list[Episode]:
        self.lengths += 1
        ended = [
            Episode(member, float(crew.episode[member, 2]), int(crew.episode[member, 3]))
            for member in np.flatnonzero(crew.episode[:, 1]).tolist()
        ]
        for episode in ended:
            self.episodes[episode.member] += 1
            self.lengths[episode.member] = 0
        return ended

    # -- now and then -----------------------------------------------------------------------------

    def fit_scaling(self) -> None:
        """Scale by what the random steps have shown, and start thresholds at values seen there."""
        assert self.scaling is not None, "only where observations are normalised"
        self.programs.synchronize()
        features = self.observations.shape[1]
        rows = self.replay.rows[:, : int(self.replay.stored.item())]
        seen, following = rows[..., :features], rows[..., features : 2 * features]
        self.scaling.fit(seen)
        for part in (seen, following):
            part.copy_(self.scaling(part))
        self.observations.copy_(self.scaling(self.observations))
        if isinstance(self.learner.actor, TreeModule):
            start_thresholds(self.learner.actor, seen)

    def grows_at(self, step: int) -> bool:
        """Return whether trees may grow after a step."""
        if self.growth is None or step % self.config.growth.grow_every:
            return False
        return step > self.config.first_actor_step

    def grow(self, step: int) -> list[Growth]:
        """Split the leaves of growing trees where it pays, by what was seen lately."""
        assert self.growth is not None, "only growing trees grow"
        self.programs.synchronize()
        return self.growth.grow(self.replay.recent(SEEN_LATELY), step)

    def latest_losses(self) -> NDArray[np.float32]:
        """Return critic loss, actor loss and entropy coefficient, (3, members)."""
        self.programs.synchronize()
        return self.losses.cpu().numpy()

    def refresh_host(self) -> None:
        """Copy the actors to the CPU, where snapshots are taken."""
        self.programs.synchronize()
        pairs = zip(self.host_actor.parameters(), self.learner.actor.parameters(), strict=True)
        for ours, theirs in pairs:
            ours.copy_(theirs)
        self.host_scaling = None if self.scaling is None else self.scaling.on_cpu()
        if self.growth is not None:
            assert isinstance(self.host_actor, TreeModule)
            active_nodes(self.host_actor).copy_(active_nodes(self.growth.actor))

    def state(self) -> dict[str, Tensor]:
        """Return all tensors that a step changes, by name; loading copies into them."""
        return {
            **self.learner.state(),
            **({} if self.growth is None else self.growth.state()),
            "replay.rows": self.replay.rows,
            "replay.stored": self.replay.stored,
            "step": self.step,
            "observations": self.observations,
            "actions": self.actions,
            "losses": self.losses,
            **({} if self.scaling is None else vars(self.scaling)),
        }

    def _changed(self) -> list[Tensor]:
        # Not the replay: it is large, and what a warm-up stores lies beyond `stored`.
        return [tensor for name, tensor in self.state().items() if name != "replay.rows"]
