"""The search: generations of CMA-ES, races of structure moves between them, checks on the way.

A function of the start, the settings and the answers of the game, and of nothing else: resuming
and repeating rest on that. What is deployed is chosen by `icct.polish.polish`, not here.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import compress, islice

import numpy as np
from numpy.typing import ArrayLike, NDArray

from icct.errors import ConfigError
from icct.policy import Policy
from icct.polish.climb import Climb
from icct.polish.game import Table
from icct.polish.journal import Journal
from icct.polish.moves import Move, random_move
from icct.polish.objective import Objective, beats, check_objective, score
from icct.polish.seeds import SeedSet, polish_seeds

FIRST_EPISODES = 4  # for each candidate, until the noise asks for more
FEWEST_EPISODES = {"mean": 2, "worst-10%": 10}
MOST_EPISODES = 50
# The correlation of the scores on two halves of the episodes: below, the noise asks for more
# episodes; above, for fewer.
AGREEING = (0.15, 0.45)
OBSERVED_EPISODES = 6
CHECKS = 12  # of the favourite on the validation seeds, during a run
# A race of moves: how many enter each stage, and their episodes in multiples of a candidate's, but
# of at most so many: a race looks for leaps, not for the last percent.
RACE = ((24, 1), (6, 4), (2, 10))
MOST_RACE_EPISODES = 8
# After a race without a winner, those of the next that pass the first stage are tuned before the
# second: few numbers each, so that a few generations of about as many candidates do.
TUNING = 6
TUNING_CANDIDATES = 8

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
    """A policy with its returns on the validation seeds, and the moves that led to it."""

    policy: Policy
    returns: list[float]
    moves: tuple[str, ...] = ()


@dataclass
class Status:
    """How the run stands, for people."""

    generation: int = 0
    parameters: int = 0
    episodes_each: int = FIRST_EPISODES
    best: float = -np.inf  # of the last generation, on search seeds
    start: float = -np.inf  # on validation seeds, as the next
    champion: float = -np.inf
    moves: int = 0  # adopted so far
    races: int = 0
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
        self._episodes = max(FIRST_EPISODES, FEWEST_EPISODES[config.objective])
        self._agreement = sum(AGREEING) / 2
        self._moves: tuple[str, ...] = ()
        self._tuning = False  # whether the next race tunes its survivors
        self.start = self.champion = Champion(start, self._validated(start))
        self.status.start = self.status.champion = float(self._score(self.start.returns))

    def run(self) -> None:
        """Search until the budget is spent."""
        climb = self._climb_on(self.start.policy)
        checked, balance = 0.0, 0  # episodes of generations less those of races
        while (fraction := self._spent()) < 1.0:
            before = self._game.episodes
            self._generation([climb], self._episodes)
            self._note(climb)
            balance += self._game.episodes - before
            cost = self._race_cost
            if self.config.structure and balance >= cost and self._spent(cost) < 1.0:
                before = self._game.episodes
                climb = self._race(climb)
                balance -= self._game.episodes - before
            if climb.converged:
                climb = self._climb_on(climb.favourite)
            if fraction >= checked + 1 / CHECKS:
                checked = fraction
                self._check(climb)
        self._check(climb)

    def _spent(self, more: int = 0) -> float:
        """Return the share of the budget that is spent after the final choice and `more` episodes.

        By the clock, episodes to come are taken to be as long as those so far.
        """
        played, to_come = self._game.episodes, self.config.reserve + more
        if self.config.evaluations is not None:
            return (played + to_come) / self.config.evaluations
        assert self.config.minutes is not None  # by the checks of the configuration
        return self._game.elapsed_s * (1 + to_come / played) / (60 * self.config.minutes)

    # -- one generation -------------------------------------------------------------------------

    def _generation(self, climbs: Sequence[Climb], episodes: int) -> None:
        """Take one generation of each climb, all on the same episodes: their luck is shared."""
        asked = [climb.ask() for climb in climbs]
        allowed = [[self._accept(policy) for policy in policies] for policies in asked]
        played = [
            policy
            for policies, fine in zip(asked, allowed, strict=True)
            for policy in compress(policies, fine)
        ]
        seeds = self._search_seeds(episodes)
        returns = iter(self._game.returns([(policy, seeds) for policy in played]))
        for climb, fine in zip(climbs, allowed, strict=True):
            table = np.array(list(islice(returns, sum(fine))))
            scores = np.full(len(fine), -np.inf)
            if any(fine):
                scores[fine] = self._score(table)
            climb.tell(scores.tolist())
            if len(climbs) == 1 and any(fine):
                self._adapt_episodes(table)
                self.status.best = float(scores.max())

    def _note(self, climb: Climb) -> None:
        """Tell how the run stands."""
        status, game = self.status, self._game
        status.generation += 1
        status.parameters = climb.dimension
        status.episodes, status.elapsed_s = game.episodes, game.elapsed_s
        status.fraction = min(1.0, self._spent())
        if self._report is not None:
            self._report(status)

    def _adapt_episodes(self, returns: Table) -> None:
        """Play more episodes where two halves of them disagree on who is better."""
        halves = self._score(returns[:, ::2]), self._score(returns[:, 1::2])
        if len(returns) < 3 or not (halves[0].std() > 0 and halves[1].std() > 0):
            return  # a plateau: more episodes would not tell them apart either
        self._agreement += 0.1 * (float(np.corrcoef(*halves)[0, 1]) - self._agreement)
        fewest = FEWEST_EPISODES[self.config.objective]
        if self._agreement < AGREEING[0] and self._episodes < MOST_EPISODES:
            self._episodes = min(MOST_EPISODES, round(1.3 * self._episodes) + 1)
            self._agreement = sum(AGREEING) / 2
        elif self._agreement > AGREEING[1] and self._episodes > fewest:
            self._episodes = max(fewest, round(self._episodes / 1.3))
            self._agreement = sum(AGREEING) / 2
        self.status.episodes_each = self._episodes

    # -- structure ------------------------------------------------------------------------------

    def _race(self, climb: Climb) -> Climb:
        """Return a climb on the winner of a race of moves, or the same climb if none is better."""
        here = climb.favourite
        seen = self._game.observations(here, self._search_seeds(OBSERVED_EPISODES))
        racers = self._moves_from(here, seen, RACE[0][0])
        ours, theirs = list[float](), [list[float]() for _ in racers]
        for stage, (places, multiple) in enumerate(RACE):
            ahead = sorted(range(len(racers)), key=lambda n: -self._score(theirs[n] or [0.0]))
            racers = [racers[n] for n in ahead[:places]]
            theirs = [theirs[n] for n in ahead[:places]]
            if stage == 1 and self._tuning:
                racers = self._tuned(racers, here, seen)
                ours, theirs = [], [[] for _ in racers]
            seeds = self._search_seeds(multiple * self._race_episodes)
            new = self._game.returns([(here, seeds), *((move.policy, seeds) for move in racers)])
            ours += new[0]
            for known, more in zip(theirs, new[1:], strict=True):
                known += more
        self.status.races += 1
        winner = max(range(len(racers)), key=lambda n: float(self._score(theirs[n])), default=None)
        self._tuning = winner is None or not beats(theirs[winner], ours, self.config.objective)
        if winner is None or self._tuning:
            return climb
        self.status.moves += 1
        self._moves += (racers[winner].change,)
        policy = racers[winner].policy
        seen = self._game.observations(policy, self._search_seeds(OBSERVED_EPISODES))
        return climb.moved_to(policy, seen)

    def _tuned(self, moves: list[Move], here: Policy, seen: Table) -> list[Move]:
        """Return the moves after a short climb on the few numbers that each has touched."""
        climbs = []
        for move in moves:
            pairs = enumerate(zip(here.nodes, move.policy.nodes, strict=True))
            touched = {index for index, (before, after) in pairs if before != after}
            climbs.append(Climb(move.policy, seen, self._rng, touched))
        for _ in range(TUNING):
            self._generation(climbs, self._race_episodes)
        tuned = [replace(m, policy=c.favourite) for m, c in zip(moves, climbs, strict=True)]
        return [move for move in tuned if self._accept(move.policy)]

    @property
    def _race_episodes(self) -> int:
        fewest = FEWEST_EPISODES[self.config.objective]
        return max(fewest, min(self._episodes, MOST_RACE_EPISODES))

    @property
    def _race_cost(self) -> int:
        """The episodes that a race will play, with the policy it starts from in every stage."""
        tuning = RACE[1][0] * TUNING * TUNING_CANDIDATES if self._tuning else 0
        return self._race_episodes * (tuning + sum((n + 1) * multiple for n, multiple in RACE))

    def _moves_from(self, policy: Policy, seen: Table, count: int) -> list[Move]:
        found = []
        for _ in range(4 * count):  # some places have no move, and some moves are not accepted
            move = random_move(policy, seen, self._rng)
            if move is not None and self._accept(move.policy):
                found.append(move)
        return found[:count]

    # -- inside ---------------------------------------------------------------------------------

    def _check(self, climb: Climb) -> None:
        """Let the favourite, or the last leader where that may not be, try for the championship."""
        policy = next(filter(self._accept, (climb.favourite, climb.leader)), None)
        if policy is not None:
            tried = Champion(policy, self._validated(policy), self._moves)
            if self._score(tried.returns) > self._score(self.champion.returns):
                self.champion = tried
                self.status.champion = float(self._score(tried.returns))

    def _climb_on(self, policy: Policy) -> Climb:
        seen = self._game.observations(policy, self._search_seeds(OBSERVED_EPISODES))
        return Climb(policy, seen, self._rng)

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
