"""Which settings to try next: Optuna's tree-structured Parzen estimator, for two objectives.

Everything it draws comes from the seed of the search and the scores it is told, in their order.
"""

from collections.abc import Sequence
from itertools import product
from random import Random
from typing import Any

from icct.errors import MissingExtraError
from icct.tune.config import Setting, Tuning
from icct.tune.folder import Scored

ROUND = 6  # trees that are asked for at a time
STARTING = 2 * ROUND  # trees before what was learned decides
OTHERS = 5  # settings that are asked for instead of one that was tried


class Sampler:
    """Asks for settings, and is told how their trees scored."""

    def __init__(self, tuning: Tuning) -> None:
        self._optuna, self._tuning = import_optuna(), tuning
        sampler = self._optuna.samplers.TPESampler(seed=tuning.seed, n_startup_trials=STARTING)
        self._study = self._optuna.create_study(
            directions=("maximize", "minimize"), sampler=sampler
        )
        for values in _corners(tuning):
            self._study.enqueue_trial(values)
        self._tried: set[Setting] = set()
        self._trials: list[Any] = []  # that were asked for last

    def ask(self, count: int) -> list[Setting]:
        """Return the settings of the next round."""
        asked = [self._next() for _ in range(count)]
        self._trials = [trial for trial, _ in asked]
        return [setting for _, setting in asked]

    def tell(self, scores: Sequence[Scored]) -> None:
        """Take note of how the trees of the last round scored, in their order."""
        for trial, scored in zip(self._trials, scores, strict=True):
            self._study.tell(trial, (scored.mean, scored.parameters))

    def _next(self) -> tuple[Any, Setting]:
        """Return a trial and its setting, one that was not tried before while there is one."""
        for _ in range(OTHERS):
            trial = self._study.ask()
            setting = _setting(trial, self._tuning)
            if setting not in self._tried:
                break
            self._study.tell(trial, state=self._optuna.trial.TrialState.FAIL)
        else:
            self._study.enqueue_trial(self._untried())
            trial = self._study.ask()
            setting = _setting(trial, self._tuning)
        self._tried.add(setting)
        return trial, setting

    def _untried(self) -> dict[str, int]:
        """Return the places of a setting that was not tried, drawn at random; or of any."""
        choices = _choices(self._tuning)
        every = [dict(zip(choices, p, strict=True)) for p in product(*_places(choices))]
        left = [one for one in every if _at(one, self._tuning) not in self._tried]
        return Random(f"{self._tuning.seed} {len(self._tried)}").choice(left or every)


def _choices(tuning: Tuning) -> dict[str, Sequence[Any]]:
    """Return what may be chosen; a search with teachers from files has no choice of them."""
    files = bool(tuning.teacher_files)
    return {
        "leaves": tuning.leaves,
        "features": tuning.features,
        "teacher_leaves": (None,) if files else tuning.teacher_leaves,
        "learning_rate": (None,) if files else tuning.learning_rates,
        "polish_episodes": tuning.polish_episodes,
    }


def _places(choices: dict[str, Sequence[Any]]) -> list[range]:
    return [range(len(values)) for values in choices.values()]


def _at(places: dict[str, int], tuning: Tuning) -> Setting:
    """Return the setting at some places of the lists of choices."""
    return Setting(**{name: v[places[name]] for name, v in _choices(tuning).items()})


def _setting(trial: Any, tuning: Tuning) -> Setting:
    """Return the setting that a trial chooses; every choice is a place in a list, in its order."""
    sizes = {name: len(values) for name, values in _choices(tuning).items()}
    return _at({name: trial.suggest_int(name, 0, n - 1) for name, n in sizes.items()}, tuning)


def _corners(tuning: Tuning) -> list[dict[str, int]]:
    """Return what is tried first: the smallest and the largest trees, rules of most features."""
    most = {name: len(values) - 1 for name, values in _choices(tuning).items()}
    usual = {"teacher_leaves": 0, "learning_rate": 0}
    if not tuning.teacher_files:
        rates = tuning.learning_rates
        usual["learning_rate"] = min(range(len(rates)), key=lambda p: abs(rates[p] - 1.0))
    return [{**most, **usual, "leaves": place} for place in (0, len(tuning.leaves) - 1)]


def import_optuna() -> Any:
    """Return the module `optuna`, silent, or say what to install."""
    try:
        import optuna
    except ImportError as error:
        raise MissingExtraError(
            f'Tuning needs optuna ({error}). Install it with: pip install "icct[cluster]"'
        ) from error
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna
