"""The search: generations of CMA-ES, between them rewiring and races of moves, checks on the way.

A function of the start, the settings and the answers of the game, and of nothing else: resuming
and repeating rest on that. What is deployed is chosen by `icct.polish.polish`, not here.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import compress, cycle

import numpy as np
from numpy.typing import ArrayLike, NDArray

from icct.errors import ConfigError
from icct.policy import Policy
from icct.polish.climb import Climb
from icct.polish.game import Table
from icct.polish.journal import Journal
from icct.polish.moves import random_move
from icct.polish.objective import Objective, beats, check_objective, score
from icct.polish.rewire import rewired
from icct.polish.seeds import SeedSet, polish_seeds

# Of each candidate. A generation averages over its candidates too, so where the noise asks for more
# than these, a larger crowd does more.
FEWEST_EPISODES = {"mean": 2, "worst-10%": 10}
MOST_EPISODES = {"mean": 3, "worst-10%": 30}
MOST_CROWD = 3.0  # in multiples of what is usual without noise; more leaves too few generations
GROWTH = 1.4  # of the crowd at a time
# The correlation of the scores on two halves of the episodes: below, the noise asks for more;
# above, for less. Where it is near zero, the middle of the candidates wanders away at random.
AGREEING = (0.2, 0.4)
FIRST_STEPS = (0.15, 0.45, 0.05)  # a plateau needs large ones, a delicate policy small ones
# A climb whose generations differ in their best by less than this share of what was gained, so many
# in a row, has come to a plateau or a summit, and another begins.
FLATNESS, FLAT_GENERATIONS = 1e-3, 10
DUEL_EPISODES = 20  # to see whether the leader is better than the favourite
OBSERVED_EPISODES = 6
CHECKS = 12  # of the favourite on the validation seeds, during a run
REWIRE_EVERY = 25  # generations
# A race of moves: how many enter each stage, and their episodes in multiples of a candidate's. The
# last stage alone decides: those before have chosen the lucky ones.
RACE = ((24, 1), (6, 4), (2, 20))
RACE_SHARE = 0.5  # episodes of races for each of the climb

Accept = Callable[[Policy], bool]


@dataclass(frozen=True)
class PolishConfig:
    """What a polishing run does; one of `evaluations` and `minutes` bounds it."""

    evaluations: int | None = None  # episodes, those for the report left out
    minutes: float | None = None
    objective: Objective = "mean"
    structure: bool = True  # whether features may be exchanged
    seed: int = 0
    validation_episodes: int = 100
    report_episodes: int = 100

    def __post_init__(self) -> None:
        check_objective(self.objective)
        if (self.evaluations is None) == (self.minutes is None):
            raise ConfigError("Give the budget as evaluations or as minutes, one of the two.")
        for name, lowest in (("validation_episodes", 10), ("report_episodes", 2), ("seed", 0)):
            if (value := getattr(self, name)) < lowest:
                raise ConfigError(f"{name} is {value}, expected at least {lowest}.")
        if self.evaluations is not None and self.evaluations < 2 * self.reserve:
            raise ConfigError(
                f"evaluations is {self.evaluations}, expected at least {2 * self.reserve}: the "
                f"choice alone takes {self.reserve} episodes. Set validation_episodes for less."
            )
        if self.minutes is not None and not self.minutes > 0:
            raise ConfigError(f"minutes is {self.minutes}, expected more than 0.")

    @property
    def reserve(self) -> int:
        """The episodes kept back for the last check and the final choice.

        A check is one policy's; the choice lets two play twice as many, on fresh seeds.
        """
        return self.validation_episodes + 2 * self.choice_episodes

    @property
    def choice_episodes(self) -> int:
        """The episodes that the start and the champion play each in the final choice."""
        return 2 * self.validation_episodes


@dataclass(frozen=True)
class Champion:
    """A policy with its returns on the validation seeds."""

    policy: Policy
    returns: list[float]


@dataclass
class Status:
    """How the run stands, for people."""

    generation: int = 0
    best: float = -np.inf  # of the last generation, on search seeds
    start: float = -np.inf  # on validation seeds, as the next
    champion: float = -np.inf
    moves: int = 0  # adopted so far
    episodes: int = 0
    elapsed_s: float = 0.0
    fraction: float = 0.0  # of the budget


class Search:
    """A search in progress; `champion` is the best that the validation seeds have seen so far."""

    def __init__(
        self,
        start: Policy,
        game: Journal,
        config: PolishConfig,
        accept: Accept | None = None,
        report: Callable[[Status], None] | None = None,
    ) -> None:
        self.config, self.status = config, Status()
        self._game, self._accept, self._report = game, accept or (lambda policy: True), report
        self._rng = np.random.default_rng((0x9011, config.seed))
        self._played = 0  # episodes of the search seeds
        self._steps = cycle(FIRST_STEPS)  # of climbs from the start
        self._checked = 0.0  # the share of the budget that was spent at the last check
        self._peak: Champion | None = None  # of the climb
        self._bests: deque[float] = deque(maxlen=FLAT_GENERATIONS)  # of its generations
        self.start = self.champion = Champion(start, self._validated(start))
        self.status.start = self.status.champion = float(self._score(self.start.returns))

    def run(self) -> None:
        """Search until the budget is spent."""
        climb, owed = self._from_start(), 0.0  # owed: episodes that races may play
        while self._spent() < 1.0:
            before = self._game.episodes
            self._generation(climb)
            climb.resize(self._crowd)
            owed += RACE_SHARE * (self._game.episodes - before)
            if self.config.structure:
                if self.status.generation % REWIRE_EVERY == 0:
                    climb = self._rewire(climb)
                if owed >= (cost := self._race_cost) and self._spent(cost) < 1.0:
                    climb, owed = self._race(climb), 0.0
            if climb.converged:
                climb = self._begun(climb.favourite, FIRST_STEPS[0])
            if self._is_flat:
                self._check(climb)
                climb = self._from_start()
            elif self._check_is_due:
                climb = self._check(self._led(climb))
        self._check(climb)

    def _spent(self, more: int = 0) -> float:
        """Return the share of the budget spent after `more` episodes and the final choice."""
        return self._share(self.config.reserve + more)

    def _share(self, to_come: int) -> float:
        """Return the share of the budget that is spent after some more episodes.

        By the clock, episodes to come are taken to be as long as those so far.
        """
        played = self._game.episodes
        if self.config.evaluations is not None:
            return (played + to_come) / self.config.evaluations
        assert self.config.minutes is not None  # by the checks of the configuration
        return self._game.elapsed_s * (1 + to_come / played) / (60 * self.config.minutes)

    # -- one generation -------------------------------------------------------------------------

    def _generation(self, climb: Climb) -> None:
        """Take one generation, all candidates on the same episodes: their luck is shared."""
        scores = self._scores(climb.ask(), self._search_seeds(self._episodes))
        climb.tell(scores.tolist())
        self.status.best = float(scores.max())
        self._bests.append(self.status.best)
        self._note()

    def _scores(self, candidates: Sequence[Policy], seeds: Sequence[int]) -> NDArray[np.float64]:
        """Return the score of each candidate; minus infinity for those that are not allowed."""
        allowed = [self._accept(policy) for policy in candidates]
        scores = np.full(len(candidates), -np.inf)
        if any(allowed):
            played = [(policy, seeds) for policy in compress(candidates, allowed)]
            table = np.array(self._game.returns(played))
            scores[allowed] = self._score(table)
            self._adapt_to_noise(table)
        return scores

    def _note(self) -> None:
        """Tell how the run stands."""
        status, game = self.status, self._game
        status.generation += 1
        status.episodes, status.elapsed_s = game.episodes, game.elapsed_s
        status.fraction = min(1.0, self._share(0))
        if self._report is not None:
            self._report(status)

    def _settle(self) -> None:
        """Begin with few episodes and a small crowd."""
        self._episodes, self._crowd = FEWEST_EPISODES[self.config.objective], 1.0
        self._agreement = sum(AGREEING) / 2

    def _adapt_to_noise(self, returns: Table) -> None:
        """Play more where two halves of the episodes disagree on who is better.

        First more episodes, then larger crowds.
        """
        halves = self._score(returns[:, ::2]), self._score(returns[:, 1::2])
        if len(returns) < 3 or not (halves[0].std() > 0 and halves[1].std() > 0):
            return  # a plateau: more episodes would not tell them apart either
        self._agreement += 0.2 * (float(np.corrcoef(*halves)[0, 1]) - self._agreement)
        fewest = FEWEST_EPISODES[self.config.objective]
        most = MOST_EPISODES[self.config.objective]
        if AGREEING[0] <= self._agreement <= AGREEING[1]:
            return
        more = self._agreement < AGREEING[0]
        if self._episodes == most and (more or self._crowd > 1.0):
            growth = GROWTH if more else 1 / GROWTH
            self._crowd = min(MOST_CROWD, max(1.0, growth * self._crowd))
        else:
            step = fewest // 2 if more else -(fewest // 2)
            self._episodes = min(most, max(fewest, self._episodes + step))
        self._agreement = sum(AGREEING) / 2

    # -- climbs ---------------------------------------------------------------------------------

    def _from_start(self) -> Climb:
        """Return a climb from the start, with other steps than the last."""
        self._peak = None
        self._bests.clear()
        return self._begun(self.start.policy, next(self._steps))

    def _begun(self, policy: Policy, step: float) -> Climb:
        """Return a climb from a policy, rewired."""
        self._settle()
        here, seen = self._looked_at(policy)
        return Climb(self._rewired(here, seen), seen, self._rng, step)

    @property
    def _is_flat(self) -> bool:
        """Whether the last generations found the same, next to what was gained."""
        gained = max(0.0, self._bests[-1] - self.status.start)
        full = len(self._bests) == FLAT_GENERATIONS
        return full and max(self._bests) - min(self._bests) <= FLATNESS * gained

    def _led(self, climb: Climb) -> Climb:
        """Return the climb, moved to its leader where that beats the favourite.

        A favourite on a plateau stays where it is, for the few candidates that found a way up are
        lost in the average.
        """
        seeds = self._search_seeds(DUEL_EPISODES)
        leader, favourite = self._game.returns([(climb.leader, seeds), (climb.favourite, seeds)])
        if beats(leader, favourite, self.config.objective):
            return climb.moved_to(*self._looked_at(climb.leader))
        return climb

    # -- structure ------------------------------------------------------------------------------

    def _race(self, climb: Climb) -> Climb:
        """Return a climb on the winner of a race of moves, or the same climb if none is better."""
        here, seen = self._looked_at(climb.favourite)
        racers = self._moves_from(here, seen, RACE[0][0])
        returns: list[list[float]] = [[] for _ in racers]
        for places, multiple in RACE:
            ahead = sorted(range(len(racers)), key=lambda n: -self._score(returns[n] or [0.0]))
            racers = [racers[n] for n in ahead[:places]]
            seeds = self._search_seeds(multiple * self._episodes)
            ours, *returns = self._game.returns([(policy, seeds) for policy in (here, *racers)])
        winner = max(range(len(racers)), key=lambda n: float(self._score(returns[n])), default=None)
        if winner is None or not beats(returns[winner], ours, self.config.objective):
            return climb
        self.status.moves += 1
        return climb.moved_to(*self._looked_at(racers[winner]))

    @property
    def _race_cost(self) -> int:
        """The episodes that a race plays, with the policy it starts from in every stage."""
        return self._episodes * sum((places + 1) * multiple for places, multiple in RACE)

    def _moves_from(self, policy: Policy, seen: Table, count: int) -> list[Policy]:
        found = []
        for _ in range(4 * count):  # some places have no move, and some moves are not accepted
            other = random_move(policy, seen, self._rng)
            if other is not None and self._accept(other):
                found.append(other)
        return found[:count]

    def _rewire(self, climb: Climb) -> Climb:
        """Return a climb with other features where those of the favourite do nothing."""
        here, seen = self._looked_at(climb.favourite)
        policy = self._rewired(here, seen)
        return climb if policy is here else climb.moved_to(policy, seen)

    def _rewired(self, policy: Policy, seen: Table) -> Policy:
        """Return the policy rewired, where that is wanted and allowed."""
        other = rewired(policy, seen, self._rng) if self.config.structure else policy
        return other if self._accept(other) else policy

    # -- inside ---------------------------------------------------------------------------------

    @property
    def _check_is_due(self) -> bool:
        """Whether it is time for a check; they take a fifth of the budget at most."""
        cost = self._spent(self.config.validation_episodes) - self._spent()
        return self._spent() >= self._checked + max(1 / CHECKS, 5 * cost)

    def _check(self, climb: Climb) -> Climb:
        """Let the favourite, or the last leader where that may not be, try for the championship.

        Return the climb to go on with: back at its peak when it has come down beyond noise.
        """
        self._checked = self._spent()
        policy = next(filter(self._accept, (climb.favourite, climb.leader)), None)
        if policy is None:
            return climb
        tried = Champion(policy, self._validated(policy))
        if (reached := float(self._score(tried.returns))) > self.status.champion:
            self.champion, self.status.champion = tried, reached
        peak = self._peak
        if peak is None or reached > float(self._score(peak.returns)):
            self._peak = tried
        elif beats(peak.returns, tried.returns, self.config.objective):
            return climb.moved_to(*self._looked_at(peak.policy))
        return climb

    def _looked_at(self, policy: Policy) -> tuple[Policy, Table]:
        """Return a policy and what it sees."""
        return policy, self._game.observations(policy, self._search_seeds(OBSERVED_EPISODES))

    def _validated(self, policy: Policy) -> list[float]:
        numbers = range(self.config.validation_episodes)
        return self._game.returns([(policy, self._seeds(SeedSet.VALIDATE, numbers))])[0]

    def _search_seeds(self, count: int) -> list[int]:
        self._played += count
        return self._seeds(SeedSet.SEARCH, range(self._played - count, self._played))

    def _seeds(self, kind: SeedSet, numbers: range) -> list[int]:
        return polish_seeds(kind, self.config.seed, numbers)

    def _score(self, returns: ArrayLike) -> NDArray[np.float64]:
        return score(returns, self.config.objective)
