"""What a run of the recipe does: one record, complete before anything starts.

Order of precedence: the task's preset < a configuration file < what is given. Options of training
are those of the teacher.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal

from icct.envs.find import Named, find_task, given_task_options, task_of_run
from icct.envs.task import Task
from icct.errors import ConfigError, TaskError, did_you_mean, shown
from icct.files import naming
from icct.learn.config import (
    TrainConfig,
    config_from_json,
    make_config,
    read_options,
    task_as_json,
)
from icct.learn.preset import preset, recipe_preset
from icct.methods import METHODS
from icct.polish import PolishConfig
from icct.polish.regions import FEWEST_PROBES
from icct.zoo import lasting_source

TEACHER = "icct-complete"
MOST_LEAVES = 2**14
FEWEST_CHECKED = 10  # episodes that polishing checks its mean on
# Trees that a teacher can be distilled into: those of the paper's table, and its trade-off figures.
METHODS_MADE = ("icct-static", *(f"icct-{count}-feature" for count in range(1, 8)), TEACHER)


def takes(method: str) -> bool:
    """Return whether the recipe makes trees of a method."""
    return method in METHODS_MADE


@dataclass(frozen=True)
class Student:
    """The shape of a tree to make."""

    method: str
    leaves: int

    @property
    def features(self) -> int | None:
        """The weights of a leaf's rule, 0 for constant leaves; None: all features."""
        tree = METHODS[self.method]
        if tree.leaf == "complete":
            return None
        return 0 if tree.leaf == "static" else tree.leaf_features


@dataclass(frozen=True)
class Recipe:
    """A run: one tree for each student's shape and each seed."""

    task: Task
    students: tuple[Student, ...]
    seeds: tuple[int, ...]
    teach: TrainConfig | None  # None where the teachers are files
    teacher_files: tuple[str, ...] = ()
    teachers: int = 1  # trained for each seed; the best on validation episodes teaches
    rounds: int = 10  # of DAgger
    round_episodes: int = 20
    balanced: bool = False
    extend_probes: int = 0  # of each round of extending; 0: no leaves are added
    polish_episodes: int = 20_000  # of the search, for each tree
    passes: int = 1  # of extending and polishing; the first that adds no leaf is the last
    minutes: float | None = None  # for the whole run; polishing gets what the stages before leave
    validation_episodes: int = 50  # to choose a teacher and a student
    fresh_episodes: int = 100  # to report
    episode_steps: int = 1000  # what an episode usually takes, for estimates alone

    def __post_init__(self) -> None:
        lowest = {
            "teachers": 1,
            "rounds": 0,
            "round_episodes": 1,
            "extend_probes": 0,
            "polish_episodes": 0,
            "passes": 1,
            "validation_episodes": 2,
            "fresh_episodes": 2,
            "episode_steps": 1,
        }
        for name, least in lowest.items():
            value = getattr(self, name)
            if type(value) is not int or value < least:
                raise ConfigError(
                    f"{name} is {shown(value)}, expected a whole number from {least} on."
                )
        if 0 < self.extend_probes < FEWEST_PROBES:
            raise ConfigError(
                f"extend_probes is {self.extend_probes}, expected 0 or at least {FEWEST_PROBES}."
            )
        if self.minutes is not None and not 0 < self.minutes < 1e6:
            raise ConfigError(f"minutes is {self.minutes}, expected more than 0.")
        if not self.students or len(set(self.students)) < len(self.students):
            raise ConfigError("The methods must be some, and each of them once.")
        if not self.seeds or any(type(s) is not int or not 0 <= s < 2**32 for s in self.seeds):
            raise ConfigError(
                f"seeds is {shown(self.seeds)}, expected one or more, of 0 to {2**32 - 1:,}."
            )
        if len(set(self.seeds)) < len(self.seeds):
            raise ConfigError(f"seeds is {shown(self.seeds)}, expected each of them once.")
        for student in self.students:
            if type(student.leaves) is not int:
                raise ConfigError(f"leaves is {shown(student.leaves)}, expected a whole number.")
            if not 2 <= student.leaves <= MOST_LEAVES:
                raise ConfigError(f"leaves is {student.leaves}, expected 2 to {MOST_LEAVES}.")
            if self.balanced and student.leaves & (student.leaves - 1):
                raise ConfigError(
                    f"leaves is {student.leaves}: a balanced tree has a power of two of them."
                )

    @property
    def trees(self) -> tuple[tuple[Student, int], ...]:
        """The trees to make: a shape and a seed each."""
        return tuple((student, seed) for student in self.students for seed in self.seeds)

    def teacher_seeds(self, seed: int) -> tuple[int, ...]:
        """Return the seeds of the teachers that one of them is chosen from for a tree's seed."""
        return tuple(range(seed * self.teachers, (seed + 1) * self.teachers))

    def polishing(self, seed: int) -> PolishConfig:
        """Return how to polish a tree, by episodes.

        Its mean is checked on twice as many as students are, or fewer where there are few in all.
        """
        checked = min(2 * self.validation_episodes, self.polish_episodes // 40)
        return PolishConfig(
            evaluations=self.polish_episodes,
            seed=seed,
            validation_episodes=max(FEWEST_CHECKED, checked),
            report_episodes=0,  # the recipe scores every stage itself
        )

    def as_json(self) -> dict[str, Any]:
        """Return the recipe as plain values."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        values |= task_as_json(self.task) | {
            "students": [asdict(student) for student in self.students],
            "teach": None if self.teach is None else self.teach.as_json(),
        }
        return {key: list(v) if isinstance(v, tuple) else v for key, v in values.items()}


NAMES = tuple(item.name for item in fields(Recipe))
OWN = (  # options that a preset, a file or a flag may give; the others follow from them
    "teachers",
    "rounds",
    "round_episodes",
    "balanced",
    "extend_probes",
    "polish_episodes",
    "passes",
    "minutes",
    "validation_episodes",
    "fresh_episodes",
)


def make_recipe(
    task: Named | None = None,
    methods: Sequence[str] = ("icct-2-feature",),
    *,
    seeds: Sequence[int] = (0,),
    teacher: Sequence[str] = (),
    leaves: int | None = None,
    file: str | Path | None = None,
    **changes: Any,
) -> Recipe:
    """Return the recipe for some methods on a task: preset, then a file, then what is given here.

    Args:
        task: A task, or what `find_task` takes.
        methods: Shapes of trees, of `METHODS_MADE`.
        seeds: One tree of each method for each seed.
        teacher: Files of actors to learn from; without any, teachers are trained.
        leaves: Of the trees to make, instead of the preset's for the method.
        file: A TOML or JSON file of options.
        **changes: Options of the recipe, of the teachers' training, and of the environment
            (`options`).

    >>> make_recipe("lunar-lander", ("icct-static",)).students
    (Student(method='icct-static', leaves=32),)
    """
    given = {} if file is None else read_options(Path(file), *OWN)
    given |= changes
    given.pop("method", None)
    in_file = given.pop("task", None)
    named = in_file if task is None else task
    if named is None:
        raise ConfigError("no task was given; `icct tasks` lists them.")
    leaves = given.pop("leaves", None) if leaves is None else leaves
    seeds = given.pop("seeds", seeds)
    if not isinstance(seeds, list | tuple):
        raise ConfigError(f"seeds is {shown(seeds)}, expected several.")
    found = find_task(named, given_task_options(given.pop("options", {})))
    own = {"episode_steps": found.horizon} | recipe_preset(found)
    own |= {key: given.pop(key) for key in OWN if key in given}
    own.pop("teach", None)
    students = _students(found, methods, leaves)
    files = tuple(lasting_source(path) for path in teacher)
    recipe = Recipe(found, students, tuple(seeds), None, files, **own)
    if not teacher:
        members = [number for seed in seeds for number in recipe.teacher_seeds(seed)]
        teach = make_config(found, TEACHER, recipe="icct", seeds=tuple(members), **given)
        return replace(recipe, teach=teach)
    if given:
        raise ConfigError(
            f"{', '.join(sorted(given))}: an option of training, and with --teacher nothing is "
            "trained. Leave it out."
        )
    return recipe


def _students(task: Task, methods: Sequence[str], leaves: int | None) -> tuple[Student, ...]:
    """Return the shapes of trees of these methods, with the preset's leaves by default."""
    for method in methods:
        if not takes(method):
            raise ConfigError(
                f"The recipe makes trees ({', '.join(METHODS_MADE)}), not {method!r}."
                f"{did_you_mean(method, METHODS_MADE)} Train it plainly with --recipe "
                f"{_plain(task)}."
            )
    return tuple(
        Student(
            method, int(preset(task, method, _plain(task))["leaves"]) if leaves is None else leaves
        )
        for method in methods
    )


def _plain(task: Task) -> Literal["paper", "generic"]:
    """Return the recipe of plain training on a task."""
    return "paper" if task.built_in else "generic"


def recipe_from_json(values: Mapping[str, Any], where: str, named: Task | None = None) -> Recipe:
    """Return a recipe that `as_json` wrote; the task as for `config_from_json`."""
    known = dict(values)
    with naming(where, ConfigError):
        for key in known:
            if key not in (*NAMES, "options"):
                raise ConfigError(f"there is no option {key!r}.{did_you_mean(key, NAMES)}")
        chosen = given_task_options(known.pop("options", {}))
        try:
            task = task_of_run(known.pop("task", None), chosen, named)
        except TaskError as error:
            raise ConfigError(str(error)) from None
        teach = known.pop("teach")
        return Recipe(
            task=task,
            students=tuple(Student(**one) for one in known.pop("students")),
            seeds=tuple(known.pop("seeds")),
            teach=None if teach is None else config_from_json(teach, where, task),
            teacher_files=tuple(known.pop("teacher_files")),
            **known,
        )
