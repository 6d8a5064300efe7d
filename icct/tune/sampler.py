"""Which settings to try next: Optuna's tree-structured Parzen estimator, for two objectives.

Everything it draws comes from the seed of the search and the scores it is told, in their order.
"""

from collections.abc import Sequence
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
        """Return a trial and its setting, one that was not tried before if there is one."""
        for _ in range(OTHERS):
            trial = self._study.ask()
            setting = _setting(trial, self._tuning)
            if setting not in self._tried:
                break
            self._study.tell(trial, state=self._optuna.trial.TrialState.FAIL)
        else:
            trial = self._study.ask()
            setting = _setting(trial, self._tuning)
        self._tried.add(setting)
        return trial, setting


def _corners(tuning: Tuning) -> list[dict[str, int]]:
    """Return what is tried first: the smallest and the largest trees, rules of most features."""
    most = {"features": len(tuning.features) - 1, "polish": len(tuning.polish_episodes) - 1}
    usual = {"teacher": 0, "rate": _middle(tuning.learning_rates)}
    return [{"leaves": place, **most, **usual} for place in (0, len(tuning.leaves) - 1)]


def _middle(rates: Sequence[float]) -> int:
    return min(range(len(rates)), key=lambda place: abs(rates[place] - 1.0))


def _setting(trial: Any, tuning: Tuning) -> Setting:
    """Return the setting that a trial chooses; every choice is a place in a list, in its order."""

    def choose(name: str, values: Sequence[Any]) -> Any:
        return values[trial.suggest_int(name, 0, len(values) - 1)]

    files = bool(tuning.teacher_files)
    teacher = choose("teacher", tuning.teacher_leaves)
    rate = choose("rate", tuning.learning_rates)
    return Setting(
        leaves=choose("leaves", tuning.leaves),
        features=choose("features", tuning.features),
        teacher_leaves=None if files else teacher,
        learning_rate=None if files else rate,
        polish_episodes=choose("polish", tuning.polish_episodes),
    )


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
