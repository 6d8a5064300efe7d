"""The search: generations of CMA-ES, checks of its mean on validation episodes, restarts.

A function of the start, the settings and the answers of the game, and of nothing else: resuming
and repeating rest on that. What is deployed is chosen by `icct.polish.polish`, not here.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np
from numpy.typing import ArrayLike, NDArray

from icct.policy import Policy
from icct.polish.choice import CHOICE_PLANS, ChoicePlan
from icct.polish.climb import SearchDistribution
from icct.polish.config import PolishConfig
from icct.polish.effort import FEWEST_EPISODES, Effort
from icct.polish.hard import HardEpisodes, with_hard
from icct.polish.journal import Journal
from icct.polish.objective import score
from icct.seeds import Purpose, seeds_above

# In their order: the usual one, a large one for plateaus, a small one for delicate policies, which
# is the first where it is needed.
FIRST_STEPS = (0.15, 0.45, 0.05)
LEADERS = 0.25  # the share of a generation whose mean says how good its step is
# Generations whose best differ by less than this share of what was gained, so many in a row, have
# come to a plateau or a summit.
FLATNESS, FLAT_GENERATIONS = 5e-3, 10
OBSERVED_EPISODES = 6
CHECKS = 12  # of the mean on the validation seeds, during a run
CHOICE_SHARE = 0.25  # of the budget, for the last check and the final choice; a batch at least

Accept = Callable[[Policy], bool]


@dataclass(frozen=True)
class Validated:
    """A policy with its returns on the validation seeds."""

    policy: Policy
    returns: list[float]


@dataclass
class Status:
    """How the run stands, for people."""

    generation: int = 0
    best: float = -np.inf  # of the last generation, on search seeds
    start: float = -np.inf  # on validation seeds, as the next
    incumbent: float = -np.inf
    restarts: int = 0
    episodes: int = 0
    elapsed_s: float = 0.0
    fraction: float = 0.0  # of the budget


class Search:
    """A search in progress; `incumbent` is the best that the validation seeds have seen so far."""

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
        self._steps = deque(FIRST_STEPS)
        self._played = 0  # episodes of the search seeds
        self._hard = HardEpisodes()
        self.start = self.incumbent = Validated(start, self._validated(start))
        self.status.start = self.status.incumbent = float(self._score(self.start.returns))
        self._tried: list[Validated] = []  # at the checks
        self._checked = self._spent()  # at the last check
        self._highest = max(self.start.returns)  # of any episode

    def run(self) -> None:
        """Search until the budget is spent, or nothing can be gained."""
        self._begin(self.start.policy)
        while self._spent() < 1.0 and not self.nothing_to_gain:
            self._generation()
            if self._distribution.converged or self._is_flat:
                self._restart()
            elif self._check_is_due:
                self._check()
        if self._candidate is not None:
            self._check()

    def finalists(self, count: int) -> list[Validated]:
        """Return the best at the checks, at most so many; none where the start was the best."""
        if self.incumbent is self.start:
            return []
        best_first = sorted(self._tried, key=lambda one: -float(self._score(one.returns)))
        return best_first[:count]

    @property
    def nothing_to_gain(self) -> bool:
        """Whether the start has one return in all episodes, and no policy ever had a higher one.

        That is said when the search has ended in a restart with every first step.
        """
        constant = min(self.start.returns) == self._highest
        return constant and self.status.restarts >= len(FIRST_STEPS)

    # -- the budget -----------------------------------------------------------------------------

    @property
    def choice_plan(self) -> ChoicePlan:
        """How thorough a final choice the budget affords."""
        for plan in CHOICE_PLANS:
            if self._share(self.config.reserve(plan)) - self._share(0) <= CHOICE_SHARE:
                return plan
        return CHOICE_PLANS[-1]

    def _spent(self, more: int = 0) -> float:
        """Return the share of the budget spent after `more` episodes and the final choice."""
        return self._share(self.config.reserve(self.choice_plan) + more)

    def _share(self, to_come: int) -> float:
        """Return the share of the budget that is spent after some more episodes.

        By the clock, episodes to come are taken to be as long as those so far.
        """
        played = self._game.episodes
        if self.config.evaluations is not None:
            return (played + to_come) / self.config.evaluations
        assert self.config.minutes is not None  # by the checks of the configuration
        return self._game.elapsed_s * (1 + to_come / played) / (60 * self.config.minutes)

    # -- generations and restarts ---------------------------------------------------------------

    def _begin(self, policy: Policy) -> None:
        """Begin a distribution around a policy, with the next of the first steps."""
        seen = self._game.observations(policy, self._search_seeds(OBSERVED_EPISODES))
        budget = self._game.episodes / self._share(0)
        begun = [SearchDistribution(policy, seen, self._rng, step, budget) for step in self._steps]
        if self.status.generation == 0 and self._is_delicate(begun):
            self._steps.rotate(1)
            begun.insert(0, begun.pop())
        self._distribution = begun[0]
        self._steps.rotate(-1)
        self._effort = Effort(self.config.objective)
        self._bests: deque[float] = deque(maxlen=FLAT_GENERATIONS)
        self._peak = -np.inf  # the best check of this distribution
        self._candidate: Policy | None = None  # the best one since the last check

    def _is_delicate(self, begun: Sequence[SearchDistribution]) -> bool:
        """Whether the best candidates of the first distribution are far below those of the last.

        Far means by more than the start's returns vary: larger steps soon make good what is less.
        """
        seeds = self._search_seeds(FEWEST_EPISODES[self.config.objective])

        def leaders(distribution: SearchDistribution) -> float:
            played = [(one, seeds) for one in distribution.ask() if self._accept(one)]
            scores = np.sort(self._score(self._game.returns(played))) if played else [-np.inf]
            return float(np.mean(scores[-max(1, round(LEADERS * len(scores))) :]))

        return leaders(begun[-1]) > leaders(begun[0]) + float(np.std(self.start.returns))

    def _generation(self) -> None:
        """Take one generation, all candidates on the same episodes: their luck is shared."""
        candidates = self._distribution.ask()
        allowed = [self._accept(policy) for policy in candidates]
        scores = np.full(len(candidates), -np.inf)
        if any(allowed):
            hard = self._hard.again() if self.config.objective == "mean" else []
            seeds = self._search_seeds(self._effort.episodes) + hard
            played = [(policy, seeds) for policy in compress(candidates, allowed)]
            table = np.array(self._game.returns(played))
            fresh, again = np.split(table, [len(seeds) - len(hard)], axis=1)
            scores[allowed] = with_hard(self._score(fresh), again)
            self._highest = max(self._highest, float(table.max()))
            self._candidate = candidates[int(scores.argmax())]
            self._effort.adapt(fresh)
            self._hard.note(seeds, table)
        self._distribution.tell(scores.tolist())
        self._distribution.resize(self._effort.population)
        self._bests.append(float(scores.max()))
        self._note()

    def _note(self) -> None:
        """Tell how the run stands."""
        status, game = self.status, self._game
        status.generation += 1
        status.best = self._bests[-1]
        status.episodes, status.elapsed_s = game.episodes, game.elapsed_s
        status.fraction = min(1.0, self._share(0))
        if self._report is not None:
            self._report(status)

    @property
    def _is_flat(self) -> bool:
        """Whether the last generations found the same, next to what was gained."""
        bests = self._bests
        gained = max(0.0, bests[-1] - self.status.start)
        full = len(bests) == FLAT_GENERATIONS
        return full and max(bests) - min(bests) <= FLATNESS * gained

    def _restart(self) -> None:
        """Begin anew, at the start and at the incumbent in turn.

        Around an incumbent on a plateau, such as a steering lock, there is nothing better.
        """
        if self.status.best > self.status.incumbent:  # else its mean is no better either
            self._check()
        self.status.restarts += 1
        self._begin((self.start if self.status.restarts % 2 else self.incumbent).policy)

    # -- checks ---------------------------------------------------------------------------------

    @property
    def _check_is_due(self) -> bool:
        """Whether it is time for a check; they take a fifth of the budget at most."""
        cost = self._share(self.config.validation_episodes) - self._share(0)
        return self._spent() >= self._checked + max(1 / CHECKS, 5 * cost)

    def _check(self) -> None:
        """Validate the mean, or the last generation's best candidate where that may not be.

        A distribution that has not got higher needs a larger population to see the way.
        """
        self._checked = self._spent()
        mean, candidate = self._distribution.mean, self._candidate
        self._candidate = None
        policy = mean if self._accept(mean) else candidate
        if policy is None:
            return
        tried = Validated(policy, self._validated(policy))
        self._tried.append(tried)
        reached = float(self._score(tried.returns))
        if reached > self.status.incumbent:
            self.incumbent, self.status.incumbent = tried, reached
        if reached <= self._peak:
            self._effort.enlarge_population()
        self._peak = max(self._peak, reached)

    def _validated(self, policy: Policy) -> list[float]:
        numbers = range(self.config.validation_episodes)
        seeds = seeds_above(Purpose.VALIDATE, self.config.seed, numbers)
        return self._game.returns([(policy, seeds)])[0]

    def _search_seeds(self, count: int) -> list[int]:
        self._played += count
        numbers = range(self._played - count, self._played)
        return seeds_above(Purpose.SEARCH, self.config.seed, numbers)

    def _score(self, returns: ArrayLike) -> NDArray[np.float64]:
        return score(returns, self.config.objective)
