"""A recipe → how long each of its stages takes here, and one that fits into the minutes given.

Speeds are measured: a few hundred updates of the teachers' own training, a few seconds of the
simulator. They are of a population that has just begun, so the estimates are rough.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from icct.envs.pace import simulator_pace
from icct.errors import ConfigError
from icct.learn.config import TrainConfig
from icct.polish.extend import ExtendConfig
from icct.polish.prune import most_episodes as pruning
from icct.recipe.config import TEACHER, Recipe

WARM_UP, UPDATES = 128, 256  # steps of the training that is timed
# Shares of the minutes of a run. Polishing gets what the others leave, which is most of it where
# the teacher is a file.
TEACHING, DISTILLING, EXTENDING = 0.5, 0.15, 0.2
FEWEST_UPDATES = 2_000  # of a teacher, however short the time
FEWEST_ROUND_EPISODES, FEWEST_USEFUL_PROBES = 2, 150
VALIDATED_STUDENTS = 2  # grown and kept splits
REPORTS = 3  # policies of a tree scored on fresh episodes, beside the teacher


@dataclass(frozen=True)
class Pace:
    """How fast this machine is at a task."""

    train_steps_per_s: float | None  # of the population of teachers; None: not measured
    env_steps_per_s: float  # of one core
    workers: int

    def episodes_s(self, episodes: float, steps: int) -> float:
        """Return the seconds that episodes take all workers together."""
        return episodes * steps / (self.env_steps_per_s * self.workers)


@dataclass(frozen=True)
class Plan:
    """The stages of a recipe, each with its seconds here; None where that is not known."""

    recipe: Recipe
    stages: tuple[tuple[str, str, float | None], ...]  # name, what it does, seconds

    @property
    def seconds(self) -> float | None:
        """The seconds of all stages, where all are known."""
        known = [seconds for *_, seconds in self.stages if seconds is not None]
        return sum(known) if len(known) == len(self.stages) else None

    def as_text(self, clock: Callable[[float], str]) -> str:
        """Return the stages as a table for people; `clock` writes a duration."""
        width = max(len(what) for _, what, _ in self.stages)
        lines = [
            f"  {name:<8} {what:<{width}}  {'' if seconds is None else f'about {clock(seconds)}'}"
            for name, what, seconds in self.stages
        ]
        return "\n".join(line.rstrip() for line in lines)


def measure_pace(recipe: Recipe, workers: int, device: str = "auto") -> Pace:
    """Return how fast this machine is at a recipe; takes some seconds."""
    train_steps_per_s = None if recipe.teach is None else training_pace(recipe.teach, device)
    return Pace(train_steps_per_s, simulator_pace(recipe.task), workers)


def training_pace(
    config: TrainConfig, device: str = "auto", updates: int = UPDATES
) -> float | None:
    """Return steps per second of a population's training, measured on a CPU alone, if it can be.

    On a GPU the first minute goes to compiling, so nothing short says how fast it will be.
    """
    from icct.learn.device import choose_device
    from icct.learn.train import train

    if choose_device(device).type != "cpu":
        return None
    steps = WARM_UP + updates
    short = config.changed(
        steps=steps,
        learning_starts=WARM_UP,
        evaluate_every=steps,
        evaluate_episodes=1,
    )
    try:
        with TemporaryDirectory() as folder:
            run = train(short, Path(folder) / "pace", device="cpu", compile_update=False)
    except (OSError, ConfigError):  # no room for it; the run itself will say what is wrong
        return None
    if not run.finished:
        raise KeyboardInterrupt
    elapsed_s: float = run.elapsed_s
    return updates / max(1e-3, elapsed_s)


def fitted(recipe: Recipe, pace: Pace) -> Recipe:
    """Return a recipe whose stages before polishing keep to their shares of the minutes."""
    if recipe.minutes is None:
        return recipe
    seconds = 60 * recipe.minutes
    recipe = replace(recipe, passes=1)  # which lasts as long as there is time
    if recipe.teach is not None and pace.train_steps_per_s is not None:
        teach = recipe.teach
        affordable = int(TEACHING * seconds * pace.train_steps_per_s)
        starts = min(teach.learning.learning_starts, max(100, affordable // 10))
        steps = min(teach.steps, max(affordable, starts + FEWEST_UPDATES))
        teach = teach.changed(
            steps=steps,
            learning_starts=starts,
            evaluate_every=min(teach.evaluation.evaluate_every, max(1, steps // 20)),
        )
        recipe = replace(recipe, teach=teach)
    per_round = _rounds(recipe) * pace.episodes_s(1, recipe.episode_steps)
    episodes = int(DISTILLING * seconds / per_round) if per_round else recipe.round_episodes
    episodes = min(recipe.round_episodes, max(FEWEST_ROUND_EPISODES, episodes))
    recipe = replace(recipe, round_episodes=episodes)
    # Probes too few to tell anything are none.
    tree_s = EXTENDING * seconds / len(recipe.trees)
    while (
        recipe.extend_probes and pace.episodes_s(_extending(recipe), recipe.episode_steps) > tree_s
    ):
        fewer = recipe.extend_probes // 2
        recipe = replace(recipe, extend_probes=fewer if fewer >= FEWEST_USEFUL_PROBES else 0)
    return recipe


def _rounds(recipe: Recipe) -> int:
    """Return the rounds of episodes that all distillations play."""
    return sum(
        0 if student.method == TEACHER else VALIDATED_STUDENTS * (recipe.rounds + 2)
        for student, _ in recipe.trees
    )


def episodes_of(recipe: Recipe) -> int:
    """Return about how many episodes a recipe plays, those of the teachers' training left out."""
    checked = (REPORTS * len(recipe.trees) + len(recipe.seeds)) * recipe.fresh_episodes
    validated = VALIDATED_STUDENTS * len(recipe.trees) * recipe.validation_episodes
    searched = len(recipe.trees) * recipe.passes * (recipe.polish_episodes + _extending(recipe))
    return _rounds(recipe) * recipe.round_episodes + searched + checked + validated


def _extending(recipe: Recipe) -> int:
    """Return how many episodes at most extending a tree takes."""
    if not recipe.extend_probes or recipe.balanced:
        return 0
    most = ExtendConfig(leaves=1, probes=recipe.extend_probes).most_episodes
    return most + pruning(2 * recipe.validation_episodes)


def plan(recipe: Recipe, pace: Pace) -> Plan:
    """Return the stages of a recipe and how long they take here."""
    steps, trees = recipe.episode_steps, len(recipe.trees)
    stages: list[tuple[str, str, float | None]] = []
    if recipe.teach is not None:
        teach = recipe.teach
        known = pace.train_steps_per_s
        count = f"{teach.members} teachers" if teach.members > 1 else "1 teacher"
        stages.append(
            (
                "teach",
                f"{TEACHER}, {count}, {teach.steps:,} steps each",
                None if known is None else teach.steps / known,
            )
        )
    played = _rounds(recipe) * recipe.round_episodes
    if played:
        what = f"{recipe.rounds} rounds of DAgger, {recipe.round_episodes} episodes each"
        stages.append(("distil", what, pace.episodes_s(played, steps)))
    each = f"for each of {trees} trees" if trees > 1 else "for the tree"
    each += "" if recipe.passes == 1 else f", {recipe.passes} times at most"
    times = trees * recipe.passes
    if most := _extending(recipe):
        what = f"at most {most:,} episodes {each}"
        stages.append(("extend", what, pace.episodes_s(times * most, steps)))
    spent = [seconds for *_, seconds in stages]
    if recipe.polish_episodes and recipe.minutes is not None:
        left = None if None in spent else 60 * recipe.minutes - sum(s or 0.0 for s in spent)
        stages.append(("polish", "search with the time that is left", left and max(left, 3.0)))
    elif recipe.polish_episodes:
        seconds = pace.episodes_s(times * recipe.polish_episodes, steps)
        stages.append(("polish", f"{recipe.polish_episodes:,} episodes of search {each}", seconds))
    checked = (REPORTS * trees + len(recipe.seeds)) * recipe.fresh_episodes
    stages.append(
        (
            "check",
            f"{recipe.fresh_episodes} fresh episodes of what each stage made",
            pace.episodes_s(checked, steps),
        )
    )
    return Plan(recipe, tuple(stages))
