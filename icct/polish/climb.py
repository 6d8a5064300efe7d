"""CMA-ES on the numbers of one tree: a normal distribution that moves to where returns are high.

Policies are asked for, played elsewhere, and their scores told. The library is `cma`; every random
number comes from the generator that it is given.
"""

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icct.errors import MissingExtraError
from icct.policy import Policy
from icct.polish.game import Table
from icct.polish.parameters import free_parameters, moved, rows_by_node

CONVERGED = 0.01  # when all standard deviations are below
AVERAGING = 0.1  # how much of the mean each generation replaces
CORRELATED_FROM = 150  # episodes for each parameter: fewer do not teach which ones go together

Vector = NDArray[np.float64]


class SearchDistribution:
    """A normal distribution over the free parameters of a policy.

    Args:
        policy: Its first mean.
        seen: What the policy sees; it says which parameters matter, and how much.
        rng: Draws the candidates.
        step: The standard deviation of each parameter at the start, in its scale.
        budget: The episodes of the whole search.
    """

    def __init__(
        self,
        policy: Policy,
        seen: Table,
        rng: np.random.Generator,
        step: float = 0.15,
        budget: float = math.inf,
    ) -> None:
        self._policy, self._rng = policy, rng
        self._population = 1.0  # in multiples of what is usual without noise
        self._parameters = free_parameters(policy, rows_by_node(policy, seen))
        self._diagonal = budget < CORRELATED_FROM * len(self._parameters)
        self._begin(step * np.eye(len(self._parameters)))

    def _begin(self, basis: Vector) -> None:
        """Begin CMA-ES around the policy; a point z of its space is policy + basis @ z."""
        size = len(basis)
        options = {
            "randn": lambda *shape: self._rng.standard_normal(shape),
            "seed": math.nan,  # leave numpy's global generator alone
            "verbose": -10,
            "CMA_diagonal": self._diagonal,
            "popsize": round(self._population * (4 + 3 * math.log(size))),
        }
        self._basis, self._generations = basis, 0
        self._points: list[Vector] = []
        self._mean: Vector = np.zeros(size)
        self._cma = import_cma().CMAEvolutionStrategy(np.zeros(size), 1.0, options)
        # The library begins with a path of no length, as if steps had cancelled out: each beginning
        # would shrink them to 0.83. A path of the usual length does not.
        self._cma.adapt_sigma.ps = self._rng.standard_normal(size)

    @property
    def mean(self) -> Policy:
        """The mean, averaged over the last generations: each alone wanders with their luck."""
        return self._at(self._mean)

    @property
    def converged(self) -> bool:
        """Whether the distribution has become so narrow that a restart is worth more."""
        return bool(np.sqrt(np.diag(self.covariance)).max() < CONVERGED)

    @property
    def covariance(self) -> Vector:
        """The covariance of the parameters, in their scales."""
        shape: Vector | None = self._cma.sm.covariance_matrix
        if shape is None:  # only the diagonal is learned
            shape = np.diag((self._cma.sigma_vec.scaling * np.ones(len(self._basis))) ** 2)
        covariance: Vector = self._cma.sigma**2 * self._basis @ shape @ self._basis.T
        return covariance

    def ask(self) -> list[Policy]:
        """Return the candidates of one generation."""
        self._points = self._cma.ask()
        return [self._at(point) for point in self._points]

    def tell(self, scores: Sequence[float]) -> None:
        """Learn from the candidates' scores, the larger the better; -inf: not allowed at all."""
        allowed = [value for value in scores if value > -math.inf]
        if not allowed or (len(allowed) == len(scores) and min(scores) == max(scores)):
            # A plateau asks for larger steps; candidates that are all forbidden, for smaller ones.
            self._cma.sigma *= 1.5 if allowed else 0.5
            return
        worst = min(allowed) - 1.0
        with warnings.catch_warnings():  # it wonders where the candidates of a plateau have gone
            warnings.simplefilter("ignore", import_cma().evolution_strategy.InjectionWarning)
            self._cma.tell(self._points, [-max(value, worst) for value in scores])
        self._generations += 1
        self._mean += max(AVERAGING, 1 / self._generations) * (self._cma.mean - self._mean)

    def resize(self, population: float) -> None:
        """Take another population, in multiples of the usual; the distribution stays as it is."""
        if population == self._population:
            return
        off, generations = self._basis @ (self._mean - self._cma.mean), self._generations
        root = np.linalg.cholesky(self.covariance + 1e-12 * np.eye(len(self._basis)))
        self._policy, self._population = self._at(self._cma.mean), population
        self._begin(root.astype(np.float64))
        self._mean, self._generations = np.linalg.solve(self._basis, off), generations

    def _at(self, point: Vector) -> Policy:
        return moved(self._policy, self._parameters, (self._basis @ point).tolist())


def import_cma() -> Any:  # it has no types
    """Return the module `cma`, or say what to install."""
    try:
        import cma
    except ImportError as error:
        raise MissingExtraError(
            f'Polishing needs cma ({error}). Install it with: pip install "icct[polish]"'
        ) from error
    return cma
