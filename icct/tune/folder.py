"""The folder of a search: what it holds, and what its files say.

tune.json                     what was asked
teachers/4-leaves/            a population of teachers, in the form of every training run
trials/tree-003/              the recipe run of one tree
trials/tree-003.asked.json    its setting
trials/tree-003.json          how it scored on validation episodes; written when it is done
trials/tree-003.fresh.json    how it scored on fresh episodes, if it is on the front
front.md, front.png           return against active parameters
front/13-parameters.json      the policies on the front
"""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from icct.envs.task import Task
from icct.errors import ConfigError, shown
from icct.files import read_json, write_json
from icct.tune.config import FILE, Setting, Tuning, read_tuning


@dataclass(frozen=True)
class Scored:
    """A tree that was tried."""

    name: str
    setting: Setting
    parameters: int
    leaves: int
    mean: float  # return on validation episodes
    standard_error: float


@dataclass(frozen=True)
class TuneFolder:
    """Where a search keeps its files."""

    path: Path

    def claim(self, tuning: Tuning, task: Task) -> None:
        """Make the folder, or go on with the same search in it; another one is refused."""
        asked = tuning.as_json(task)
        if (self.path / FILE).exists():
            found = read_tuning(self.path)
            for key, value in asked["tuning"].items():
                told = dict(found["tuning"]).get(key)
                if told != value:
                    raise ConfigError(
                        f"{self.path} holds another search: its {key} is {shown(told)}, and now "
                        f"it is {shown(value)}. Give the same options, or another --out."
                    )
            if found.get("task") != asked["task"] or found.get("options") != asked.get("options"):
                raise ConfigError(f"{self.path} holds a search for another task; choose another.")
            return
        for name in ("teachers", "trials", "front"):
            (self.path / name).mkdir(parents=True, exist_ok=True)
        write_json(self.path / FILE, asked, ConfigError)

    def teachers(self, leaves: int) -> Path:
        """Return the run folder of the teachers of one size."""
        return self.path / "teachers" / f"{leaves}-leaves"

    def trial(self, name: str, kind: str = "") -> Path:
        """Return the run folder of a tree, or a file about it: .asked.json, .json, .fresh.json."""
        return self.path / "trials" / f"{name}{kind}"

    def ask(self, name: str, setting: Setting) -> None:
        """Note which setting a tree has; what a search before it noted must be the same."""
        path, values = self.trial(name, ".asked.json"), asdict(setting)
        if path.exists() and read_json(path, "a setting", error=ConfigError) != values:
            raise ConfigError(
                f"{path}: the search asks for another tree now: it was begun with another version "
                "of optuna or icct. Go on with that one, or begin anew in another folder."
            )
        if not path.exists():
            write_json(path, values, ConfigError)

    def asked(self, name: str) -> Setting:
        """Return the setting of a tree."""
        path = self.trial(name, ".asked.json")
        try:
            return Setting(**read_json(path, "a setting", error=ConfigError))
        except TypeError as error:
            raise ConfigError(f"{path}: damaged ({error}); begin the search anew.") from None

    def score(self, name: str) -> Scored | None:
        """Return how a tree scored on validation episodes; None where it is not done."""
        path = self.trial(name, ".json")
        if not path.exists():
            return None
        found: dict[str, Any] = read_json(path, "the score of a tree", error=ConfigError)
        scores = found["validation"]
        return Scored(
            name,
            self.asked(name),
            int(found["parameters"]),
            int(found["leaves"]),
            float(scores["mean"]),
            float(scores["standard_error"]),
        )

    def policy(self, name: str) -> Path:
        """Return the file of a tree's policy."""
        (found,) = sorted((self.trial(name) / "policies").glob("seed-*.json"))
        return found
