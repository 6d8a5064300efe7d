"""The search: generations of CMA-ES, between them rewiring and races of moves, checks on the way.

A function of the start, the settings and the answers of the game, and of nothing else: resuming
and repeating rest on that. What is deployed is chosen by `icct.polish.polish`, not here.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import compress, cycle

import numpy as np
from numpy.typing import ArrayLike, NDArray

from icct.errors import ConfigError, did_you_mean
from icct.policy import Policy
from icct.polish.climb import Climb
from icct.polish.effort import Effort
from icct.polish.engine import Engine, check_engine
from icct.polish.game import Table
from icct.polish.journal import Journal
from icct.polish.moves import random_move
from icct.polish.objective import Objective, beats, check_objective, score
from icct.polish.rewire import rewired
from icct.seeds import Purpose, seeds_above

FIRST_STEPS = (0.15, 0.45, 0.05)  # a plateau needs large ones, a delicate policy small ones
# Heats: how many climbs begin or go on, and for which share of the budget each. Luck decides much
# of what a climb finds, and can be told from merit only after thousands of noisy episodes.
HEATS = ((3, 0.05), (2, 0.1))
# A climb whose generations differ in their best by less than this share of what was gained, so many
# in a row, has come to a plateau or a summit, and another begins.
FLATNESS, FLAT_GENERATIONS = 1e-3, 10
DUEL_EPISODES = 20  # to see whether the leader is better than the favourite
OBSERVED_EPISODES = 6
CHECKS = 12  # of the favourite on the validation seeds, during a run
LOOK_EVERY = 25  # generations, at what the favourite sees by now
# A race of moves: how many enter each stage, and their episodes in multiples of a candidate's. The
# last stage alone decides: those before have chosen the lucky ones. A stage that nobody wins is the
# last, and what was not played goes to the next race.
RACE = ((24, 1), (6, 4), (2, 20))
RACE_SHARE = 0.35  # episodes of races for each of the climb

# What an ablation may switch off. `growing`: populations that grow and episodes that adapt.
PARTS = (
    "heats",
    "races",
    "duels",
    "rewiring",
    "growing",
    "looks",
    "flat-restarts",
    "back-to-peak",
)

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
    without: tuple[str, ...] = ()  # parts switched off, to measure what they are worth
    engine: Engine = "cma"

    def __post_init__(self) -> None:
        check_objective(self.objective)
        check_engine(self.engine)
        for part in self.without:
            if part not in PARTS:
                raise ConfigError(
                    f"without names {part!r}, expected some of {', '.join(PARTS)}."
                    f"{did_you_mean(part, PARTS)}"
                )
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
class Ascent:
    """A climb in progress, with what is known about it."""

    climb: Climb
    effort: Effort
    peak: Champion | None = None  # the best that the validation seeds have seen of it
    bests: deque[float] = field(default_factory=lambda: deque(maxlen=FLAT_GENERATIONS))
    generation: int = 0
    checked: int = 0  # the generation of the last check
    owed: float = 0.0  # episodes that races may play

    @property
    def race_cost(self) -> int:
        """The episodes that a race plays, with the policy it starts from in every stage."""
        return self.effort.episodes * sum((places + 1) * multiple for places, multiple in RACE)


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
        self._checked = 0.0  # the share of the budget that was spent at the last check
        self._other_steps = cycle([*FIRST_STEPS[1:], FIRST_STEPS[0]])  # of climbs after a plateau
        self.start = self.champion = Champion(start, self._validated(start))
        self.status.start = self.status.champion = float(self._score(self.start.returns))

    def run(self) -> None:
        """Search until the budget is spent: several climbs at first, then the best of them."""
        climbers = HEATS[0][0] if self._has("heats") and self._affords_heats else 1
        ascents = [self._from_start(FIRST_STEPS[0]) for _ in range(climbers)]
        if climbers > 1:
            for places, share in HEATS:
                ascents = [self._climbed(ascent, share) for ascent in ascents[:places]]
                ascents.sort(key=lambda ascent: -self._height(ascent))
        self._climbed(ascents[0], 1.0)

    def _climbed(self, ascent: Ascent, share: float) -> Ascent:
        """Climb for a share of the budget, then check; return the ascent to go on with."""
        until = min(1.0, self._spent() + share)
        while self._spent() < until:
            self._generation(ascent)
            if self._has("looks") and ascent.generation % LOOK_EVERY == 0:
                self._look_again(ascent)
            if ascent.owed >= ascent.race_cost and self._spent(ascent.race_cost) < 1.0:
                self._race(ascent)
            if ascent.climb.converged:
                ascent.climb = self._begun(ascent.climb.favourite, FIRST_STEPS[0])
                ascent.effort = Effort(self.config.objective)
            if self._has("flat-restarts") and self._is_flat(ascent):
                self._check(ascent)
                ascent = self._from_start(next(self._other_steps))
            elif self._check_is_due:
                self._check(ascent)
        if ascent.checked < ascent.generation:
            self._check(ascent)
        return ascent

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

    def _generation(self, ascent: Ascent) -> None:
        """Take one generation, all candidates on the same episodes: their luck is shared."""
        before, candidates = self._game.episodes, ascent.climb.ask()
        allowed = [self._accept(policy) for policy in candidates]
        scores = np.full(len(candidates), -np.inf)
        if any(allowed):
            seeds = self._search_seeds(ascent.effort.episodes)
            played = [(policy, seeds) for policy in compress(candidates, allowed)]
            table = np.array(self._game.returns(played))
            scores[allowed] = self._score(table)
            if self._has("growing"):
                ascent.effort.adapt(table)
        ascent.climb.tell(scores.tolist())
        ascent.climb.resize(ascent.effort.crowd)
        ascent.bests.append(float(scores.max()))
        ascent.generation += 1
        if self.config.structure and self._has("races"):
            ascent.owed += RACE_SHARE * (self._game.episodes - before)
        self.status.best = ascent.bests[-1]
        self._note()

    def _note(self) -> None:
        """Tell how the run stands."""
        status, game = self.status, self._game
        status.generation += 1
        status.episodes, status.elapsed_s = game.episodes, game.elapsed_s
        status.fraction = min(1.0, self._share(0))
        if self._report is not None:
            self._report(status)

    # -- climbs ---------------------------------------------------------------------------------

    def _from_start(self, step: float) -> Ascent:
        """Return an ascent from the start; each is wired in its own way."""
        return Ascent(self._begun(self.start.policy, step), Effort(self.config.objective))

    def _begun(self, policy: Policy, step: float) -> Climb:
        """Return a climb from a policy, rewired."""
        here, seen = self._looked_at(policy)
        return Climb(self._rewired(here, seen), seen, self._rng, step, engine=self.config.engine)

    def _look_again(self, ascent: Ascent) -> None:
        """Go on with what matters by now: leaves come to life, features cease to do anything."""
        here, seen = self._looked_at(ascent.climb.favourite)
        ascent.climb = ascent.climb.moved_to(self._rewired(here, seen), seen)

    @property
    def _affords_heats(self) -> bool:
        """Whether the checks that decide the heats are a small part of them."""
        check = self._share(self.config.validation_episodes) - self._share(0)
        return 10 * check <= min(share for _, share in HEATS)

    def _height(self, ascent: Ascent) -> float:
        return -np.inf if ascent.peak is None else float(self._score(ascent.peak.returns))

    def _is_flat(self, ascent: Ascent) -> bool:
        """Return whether the last generations found the same, next to what was gained."""
        bests = ascent.bests
        gained = max(0.0, bests[-1] - self.status.start)
        full = len(bests) == FLAT_GENERATIONS
        return full and max(bests) - min(bests) <= FLATNESS * gained

    def _duel(self, ascent: Ascent) -> None:
        """Move the climb to its leader where that beats the favourite.

        A favourite on a plateau stays where it is, for the few candidates that found a way up are
        lost in the average.
        """
        climb, seeds = ascent.climb, self._search_seeds(DUEL_EPISODES)
        leader, favourite = self._game.returns([(climb.leader, seeds), (climb.favourite, seeds)])
        if beats(leader, favourite, self.config.objective):
            ascent.climb = climb.moved_to(*self._looked_at(climb.leader))

    # -- structure ------------------------------------------------------------------------------

    def _race(self, ascent: Ascent) -> None:
        """Move the climb to the winner of a race of moves, if that is better."""
        before = self._game.episodes
        here, seen = self._looked_at(ascent.climb.favourite)
        racers = self._moves_from(here, seen, RACE[0][0])
        ours: list[float] = []
        theirs: list[list[float]] = []
        for places, multiple in RACE:
            seeds = self._search_seeds(multiple * ascent.effort.episodes)
            ours, *theirs = self._game.returns([(p, seeds) for p in (here, *racers[:places])])
            order = sorted(range(len(theirs)), key=lambda n: -self._score(theirs[n]))
            racers, theirs = [racers[n] for n in order], [theirs[n] for n in order]
            if not racers or self._score(theirs[0]) <= self._score(ours):
                break
        ascent.owed -= self._game.episodes - before
        if racers and beats(theirs[0], ours, self.config.objective):
            self.status.moves += 1
            ascent.climb = ascent.climb.moved_to(*self._looked_at(racers[0]))

    def _moves_from(self, policy: Policy, seen: Table, count: int) -> list[Policy]:
        found = []
        for _ in range(4 * count):  # some places have no move, and some moves are not accepted
            other = random_move(policy, seen, self._rng)
            if other is not None and self._accept(other):
                found.append(other)
        return found[:count]

    def _rewired(self, policy: Policy, seen: Table) -> Policy:
        """Return the policy rewired, where that is wanted and allowed."""
        wanted = self.config.structure and self._has("rewiring")
        other = rewired(policy, seen, self._rng) if wanted else policy
        return other if self._accept(other) else policy

    # -- inside ---------------------------------------------------------------------------------

    def _has(self, part: str) -> bool:
        """Return whether a part of the search is switched on."""
        return part not in self.config.without

    @property
    def _check_is_due(self) -> bool:
        """Whether it is time for a check; they take a fifth of the budget at most."""
        cost = self._spent(self.config.validation_episodes) - self._spent()
        return self._spent() >= self._checked + max(1 / CHECKS, 5 * cost)

    def _check(self, ascent: Ascent) -> None:
        """Let the favourite, or the last leader where that may not be, try for the championship.

        A climb that has come down from its peak beyond noise goes back there; one that has not got
        higher needs larger crowds to see the way.
        """
        if self._has("duels"):
            self._duel(ascent)
        self._checked, ascent.checked = self._spent(), ascent.generation
        climb, peak = ascent.climb, ascent.peak
        policy = next(filter(self._accept, (climb.favourite, climb.leader)), None)
        if policy is None:
            return
        tried = Champion(policy, self._validated(policy))
        if (reached := float(self._score(tried.returns))) > self.status.champion:
            self.champion, self.status.champion = tried, reached
        if peak is None or reached > self._height(ascent):
            ascent.peak = tried
            return
        if self._has("growing"):
            ascent.effort.enlarge_crowd()
        if self._has("back-to-peak") and beats(peak.returns, tried.returns, self.config.objective):
            ascent.climb = climb.moved_to(*self._looked_at(peak.policy))

    def _looked_at(self, policy: Policy) -> tuple[Policy, Table]:
        """Return a policy and what it sees."""
        return policy, self._game.observations(policy, self._search_seeds(OBSERVED_EPISODES))

    def _validated(self, policy: Policy) -> list[float]:
        numbers = range(self.config.validation_episodes)
        return self._game.returns([(policy, self._seeds(Purpose.VALIDATE, numbers))])[0]

    def _search_seeds(self, count: int) -> list[int]:
        self._played += count
        return self._seeds(Purpose.SEARCH, range(self._played - count, self._played))

    def _seeds(self, kind: Purpose, numbers: range) -> list[int]:
        return seeds_above(kind, self.config.seed, numbers)

    def _score(self, returns: ArrayLike) -> NDArray[np.float64]:
        return score(returns, self.config.objective)
