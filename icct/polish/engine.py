"""The evolution strategies a climb can run on: `cma`, or one of the library `cmaes`.

All search around zero with standard deviation 1: the climb has scaled its parameters. Losses are
made smaller. Random numbers come from the climb's generator alone.
"""

import importlib
import math
import warnings
from collections.abc import Sequence
from typing import Any, Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from icct.errors import ConfigError, MissingExtraError, did_you_mean

Vector = NDArray[np.float64]
# cmaes-lr adapts its learning rates to the noise (Nomura et al. 2023, arXiv:2304.03473);
# cmaes-sep learns a standard deviation for each parameter and no correlations.
Engine = Literal["cma", "cmaes", "cmaes-lr", "cmaes-sep"]

DIAGONAL_FROM = 150  # parameters from which on no correlations are learned


class Evolution(Protocol):
    """A normal distribution that moves to where losses are small."""

    @property
    def mean(self) -> Vector:
        """The mean of the distribution."""
        ...

    @property
    def sigma(self) -> float:
        """The step size; the covariance is its square times `shape`."""
        ...

    @property
    def shape(self) -> Vector:
        """The covariance without the step size, (n, n)."""
        ...

    def ask(self) -> list[Vector]:
        """Return the points of a generation."""
        ...

    def tell(self, points: list[Vector], losses: list[float]) -> None:
        """Move the distribution to where the losses were small."""
        ...

    def widen(self, factor: float) -> None:
        """Multiply the step size."""
        ...


def begin(
    engine: Engine,
    size: int,
    population: int,
    rng: np.random.Generator,
    like: Evolution | None = None,
) -> Evolution:
    """Return an evolution strategy in `size` dimensions.

    Args:
        engine: Which one.
        size: The number of parameters.
        population: The candidates of a generation.
        rng: Draws them.
        like: One whose learning rates it takes over, where they are adapted.
    """
    if engine == "cma":
        return Cma(size, population, rng)
    rates = like.rates if isinstance(like, Cmaes) else None
    return Cmaes(engine, size, population, rng, rates)


def check_engine(engine: str) -> None:
    """Refuse a name that is not an engine."""
    known = get_args(Engine)
    if engine not in known:
        raise ConfigError(
            f"engine is {engine!r}, expected one of {', '.join(known)}."
            f"{did_you_mean(engine, known)}"
        )


class Cma:
    """The library `cma`."""

    def __init__(self, size: int, population: int, rng: np.random.Generator) -> None:
        options = {
            "randn": lambda *shape: rng.standard_normal(shape),
            "seed": math.nan,  # leave numpy's global generator alone
            "verbose": -10,
            "CMA_diagonal": size >= DIAGONAL_FROM,
            "popsize": population,
        }
        self._cma = import_cma()
        self._evolution = self._cma.CMAEvolutionStrategy(np.zeros(size), 1.0, options)
        # The library begins with a path of no length, as if steps had cancelled out: each beginning
        # would shrink them to 0.83. A path of the usual length does not.
        self._evolution.adapt_sigma.ps = rng.standard_normal(size)

    @property
    def mean(self) -> Vector:
        """The mean of the distribution."""
        mean: Vector = self._evolution.mean
        return mean

    @property
    def sigma(self) -> float:
        """The step size."""
        return float(self._evolution.sigma)

    @property
    def shape(self) -> Vector:
        """The covariance without the step size."""
        shape: Vector | None = self._evolution.sm.covariance_matrix
        if shape is None:  # only the diagonal is learned
            scaling = self._evolution.sigma_vec.scaling
            shape = np.diag((scaling * np.ones(len(self.mean))) ** 2)
        return shape

    def ask(self) -> list[Vector]:
        """Return the points of a generation."""
        points: list[Vector] = self._evolution.ask()
        return points

    def tell(self, points: list[Vector], losses: list[float]) -> None:
        """Move the distribution to where the losses were small."""
        with warnings.catch_warnings():  # it wonders where the candidates of a plateau have gone
            warnings.simplefilter("ignore", self._cma.evolution_strategy.InjectionWarning)
            self._evolution.tell(points, losses)

    def widen(self, factor: float) -> None:
        """Multiply the step size."""
        self._evolution.sigma *= factor


class Cmaes:
    """The library `cmaes`: its CMA, with learning-rate adaptation or without, or its SepCMA."""

    def __init__(
        self,
        engine: Engine,
        size: int,
        population: int,
        rng: np.random.Generator,
        rates: tuple[float, float] | None,
    ) -> None:
        library = import_cmaes()
        seed = int(rng.integers(2**31))
        shared = {"mean": np.zeros(size), "sigma": 1.0, "seed": seed, "population_size": population}
        self._separable = size > 1 and (engine == "cmaes-sep" or size >= DIAGONAL_FROM)
        self._evolution = (
            library.SepCMA(**shared)
            if self._separable
            else library.CMA(**shared, lr_adapt=engine == "cmaes-lr")
        )
        self._evolution._p_sigma = rng.standard_normal(size)  # as for cma, above
        if rates is not None and not self._separable:
            self._evolution._eta_mean, self._evolution._eta_Sigma = rates

    @property
    def rates(self) -> tuple[float, float] | None:
        """The learning rates of the mean and of the covariance."""
        evolution = self._evolution
        return None if self._separable else (evolution._eta_mean, evolution._eta_Sigma)

    @property
    def mean(self) -> Vector:
        """The mean of the distribution."""
        return np.array(self._evolution.mean)

    @property
    def sigma(self) -> float:
        """The step size."""
        return float(self._evolution._sigma)

    @property
    def shape(self) -> Vector:
        """The covariance without the step size."""
        inner: Vector = self._evolution._C
        return np.diag(inner) if self._separable else inner

    def ask(self) -> list[Vector]:
        """Return the points of a generation."""
        return [self._evolution.ask() for _ in range(self._evolution.population_size)]

    def tell(self, points: Sequence[Vector], losses: Sequence[float]) -> None:
        """Move the distribution to where the losses were small."""
        self._evolution.tell(list(zip(points, losses, strict=True)))

    def widen(self, factor: float) -> None:
        """Multiply the step size."""
        self._evolution._sigma *= factor


def import_cma() -> Any:  # it has no types
    """Return the module `cma`, or say what to install."""
    try:
        import cma
    except ImportError as error:
        raise MissingExtraError(
            f'Polishing needs cma ({error}). Install it with: pip install "icct[polish]"'
        ) from error
    return cma


def import_cmaes() -> Any:
    """Return the module `cmaes`, or say what to install."""
    try:
        return importlib.import_module("cmaes")
    except ImportError as error:
        raise MissingExtraError(
            f"This engine needs cmaes ({error}). Install it with: pip install cmaes"
        ) from error
