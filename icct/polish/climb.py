"""CMA-ES on the numbers of one tree: the continuous half of polishing.

A climb asks for policies around its favourite and is told their scores. When the tree's structure
changes, `moved_to` carries over what it has learned about the parameters that stay.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from icct.policy import Policy
from icct.polish.engine import Engine, Evolution, begin
from icct.polish.game import Table
from icct.polish.parameters import (
    Bias,
    Parameter,
    Threshold,
    Weight,
    free_parameters,
    moved,
    rows_by_node,
)

SMALLEST_STEP = 0.3  # of the usual one, for a parameter whose scale has changed
CONVERGED = 0.01  # when all standard deviations are below
FORGETTING = 0.1  # how much of the favourite each generation replaces


class Climb:
    """A search distribution over the free parameters of a policy.

    Args:
        policy: Where it starts.
        seen: What the policy sees; it says which parameters matter, and how much.
        rng: Draws the candidates.
        step: The standard deviation of each parameter at the start, in its scale.
        crowd: The candidates of a generation, as a multiple of what is usual without noise.
        engine: The evolution strategy.
    """

    def __init__(
        self,
        policy: Policy,
        seen: Table,
        rng: np.random.Generator,
        step: float = 0.15,
        crowd: float = 1.0,
        engine: Engine = "cma",
    ) -> None:
        self.base = self.leader = policy  # the leader: the best candidate of the last generation
        self._rng, self._step, self._crowd = rng, step, crowd
        self._engine: Engine = engine
        self._parameters = free_parameters(policy, rows_by_node(policy, seen))
        self._begin(step * np.eye(len(self._parameters)))

    def _begin(self, basis: NDArray[np.float64], like: Evolution | None = None) -> None:
        self._basis = basis  # candidates are base + basis @ point, with points around N(0, 1)
        population = round(self._crowd * (4 + 3 * math.log(len(basis))))
        self._evolution = begin(self._engine, len(basis), population, self._rng, like)
        self._points: list[NDArray[np.float64]] = []
        self._middle: NDArray[np.float64] = np.zeros(len(basis))
        self._told = 0

    @property
    def dimension(self) -> int:
        """The number of free parameters."""
        return len(self._parameters)

    @property
    def converged(self) -> bool:
        """Whether the distribution has become so narrow that a new start is worth more."""
        return bool(np.sqrt(np.diag(self._covariance())).max() < CONVERGED)

    @property
    def favourite(self) -> Policy:
        """The middle of the last generations: less noise than any of them, or any candidate."""
        return self._policy(self._middle)

    def resize(self, crowd: float) -> None:
        """Ask for another number of candidates from now on; the distribution stays as it is."""
        if crowd == self._crowd:
            return
        mean, off = self._evolution.mean, self._middle - self._evolution.mean
        off, told, covariance = self._basis @ off, self._told, self._covariance()
        self.base, self._crowd = self._policy(mean), crowd
        self._begin(_root(covariance), self._evolution)
        self._middle[:], self._told = np.linalg.solve(self._basis, off), told

    def ask(self) -> list[Policy]:
        """Return the candidates of one generation."""
        self._points = self._evolution.ask()
        return [self._policy(point) for point in self._points]

    def tell(self, scores: Sequence[float]) -> None:
        """Learn from the candidates' scores, the larger the better; -inf: not allowed at all."""
        allowed = [value for value in scores if value > -math.inf]
        if not allowed or (len(allowed) == len(scores) and min(scores) == max(scores)):
            # A plateau asks for larger steps; candidates that are all forbidden, for smaller ones.
            self._evolution.widen(1.5 if allowed else 0.5)
            return
        self.leader = self._policy(self._points[int(np.argmax(scores))])
        worst = min(allowed) - 1.0
        self._evolution.tell(self._points, [-max(value, worst) for value in scores])
        self._told += 1
        self._middle += max(FORGETTING, 1 / self._told) * (self._evolution.mean - self._middle)

    def moved_to(self, policy: Policy, seen: Table) -> "Climb":
        """Return a climb on another policy that keeps the spread of parameters both have."""
        other = Climb(policy, seen, self._rng, self._step, self._crowd, self._engine)
        places = {_place(parameter): i for i, parameter in enumerate(self._parameters)}
        kept = [(new, places.get(_place(p))) for new, p in enumerate(other._parameters)]
        pairs = [(new, old) for new, old in kept if old is not None]
        if not pairs:
            return other
        news, olds = (list(side) for side in zip(*pairs, strict=True))
        # From steps in our scales to steps in theirs.
        ratio = [self._parameters[o].scale / other._parameters[n].scale for n, o in pairs]
        ours = self._covariance()
        usual = float(np.median(np.diag(ours)))
        covariance: NDArray[np.float64] = usual * np.eye(other.dimension)
        covariance[np.ix_(news, news)] = ours[np.ix_(olds, olds)] * np.outer(ratio, ratio)
        # Where a parameter's scale has changed a lot, the old steps are wild or nothing in the new.
        steps = np.sqrt(np.diag(covariance))
        tame = np.clip(steps, SMALLEST_STEP * math.sqrt(usual), self._step) / steps
        covariance *= np.outer(tame, tame)
        other._begin(_root(covariance), self._evolution)
        return other

    def _policy(self, point: NDArray[np.float64]) -> Policy:
        return moved(self.base, self._parameters, (self._basis @ point).tolist())

    def _covariance(self) -> NDArray[np.float64]:
        evolution, basis = self._evolution, self._basis
        covariance: NDArray[np.float64] = evolution.sigma**2 * basis @ evolution.shape @ basis.T
        return covariance


def _root(covariance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a matrix that turns standard normal points into points with a covariance."""
    root = np.linalg.cholesky(covariance + 1e-12 * np.eye(len(covariance)))
    return root.astype(np.float64)


def _place(parameter: Parameter) -> tuple[int, ...]:
    """Return where a parameter stands in the tree."""
    if isinstance(parameter, Threshold):
        return (parameter.node, parameter.feature)
    if isinstance(parameter, Weight):
        return (parameter.node, parameter.action, parameter.feature, 1)
    assert isinstance(parameter, Bias)
    return (parameter.node, parameter.action, 0, 0)
