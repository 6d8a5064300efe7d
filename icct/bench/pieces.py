"""Missing cells → pieces of work: a run folder each, and the commands that make its records.

A piece is done by the same commands that a person would give, so what is stopped goes on by asking
for the same cells again: a run that was begun is resumed, a finished one is recorded.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from icct.bench.cells import Cell, record_file, results_root
from icct.bench.missing import SEEDS, to_train
from icct.bench.oracles import oracle_file
from icct.bench.recipes import tree_file
from icct.work.piece import Piece

TEACHERS = Path("recipe/teachers")  # in the results: complete trees trained to teach
PLAIN = (Path("earlier-preset/policies"), Path("policies"))  # trees by the paper's recipe
TEACHERS_PER_SEED = 2
# Which of these teach a seed: the method, and how many seeds on from its own.
TEACH = (("icct-complete", 0), ("icct-complete", 1))
TEACH_ON = {  # there sparse trees came out better: 1260 against 1219 over fresh episodes
    "multi-lane-ring": (("icct-2-feature", 0), ("icct-2-feature", 1), ("icct-complete", 0)),
}
# Sparser trees that the recipe's own trees of a method teach: better on three roads, level on
# lane keeping (docs/recipe.md, Teachers).
TREES_TEACH = {
    (task, method): "icct-2-feature"
    for task in ("lane-keeping", "single-lane-ring", "multi-lane-ring", "figure-eight")
    for method in ("icct-static", "icct-1-feature")
}
KINDS = ("best", "final")
# Methods that those teachers are trees of already: they begin with the same tree, and one run makes
# them all, which searches once.
TOGETHER = {"multi-lane-ring": ("icct-2-feature", "icct-3-feature", "icct-complete")}


@dataclass(frozen=True)
class Settings:
    """How and where the work is to be done."""

    out: Path
    results: Path
    device: str = "auto"
    workers: int | None = 1  # of one run; None: as many as `icct train` takes by itself
    episodes: int = 100  # fresh ones, to record a run of plain training
    more: tuple[str, ...] = ()  # options of `icct train`
    checkpoint_minutes: float | None = None  # None: as often as `icct train` saves by itself


def pieces(missing: Sequence[Cell], settings: Settings) -> list[Piece]:
    """Return the work that makes the records of some cells; what others wait for comes first."""
    recipe = [_recipe_piece(own, settings) for own in _recipe_groups(missing)]
    plain = [cell for cell in missing if cell.recipe == "paper"]
    trained = [
        _plain_piece(*group, seeds, settings)
        for group, seeds in to_train(plain, settings.results).items()
    ]
    return [*recipe, *trained, *(_tree_piece(cell, settings) for cell in plain if cell.is_dt)]


def _recipe_groups(missing: Sequence[Cell]) -> list[list[Cell]]:
    """Return the cells of the recipe icct, those together that one run makes."""
    groups: dict[tuple[object, ...], list[Cell]] = {}
    for cell in (cell for cell in missing if cell.recipe == "icct"):
        together = TOGETHER.get(cell.task, ())
        shape = together if cell.method in together else (cell.method,)
        groups.setdefault((cell.task, shape, cell.leaves, cell.seed), []).append(cell)
    return list(groups.values())


def _recipe_piece(made: Sequence[Cell], settings: Settings) -> Piece:
    """Return trees by the recipe icct, from teachers in the repository where there are some.

    They are of one task, seed and size.
    """
    methods = [one.method for one in made]
    cell = made[0]
    size = "" if cell.leaves is None else f".{cell.leaves}-leaves"
    name = f"{cell.task}.{'+'.join(methods)}{size}.seed-{cell.seed}"
    words = ["train", cell.task, "--method", *methods, "--seeds", f"{cell.seed},"]
    words += ["--leaves", str(cell.leaves)] if cell.leaves is not None else []
    teachers = teacher_files(settings.results, cell)
    words += ["--teacher", *map(str, teachers)] if teachers else []
    piece = _run(name, words, made, settings, trains=not teachers)
    return replace(piece, needs=tuple(teachers))


def _plain_piece(
    task: str, method: str, leaves: int | None, seeds: Sequence[int], settings: Settings
) -> Piece:
    """Return one population by the paper's recipe."""
    name = f"{task}.{method}" + ("" if leaves is None else f".{leaves}-leaves")
    chosen = ",".join(map(str, seeds)) + ","
    words = ["train", task, "--recipe", "paper", "--method", method, "--seeds", chosen]
    words += ["--leaves", str(leaves)] if leaves is not None else []
    return _run(
        name, words, [Cell(task, method, seed, "paper", leaves) for seed in seeds], settings
    )


def _run(
    name: str, words: list[str], made: Sequence[Cell], settings: Settings, trains: bool = True
) -> Piece:
    """Return the piece of a run folder that makes some cells."""
    folder = settings.out / name
    workers = () if settings.workers is None else ("--workers", str(settings.workers))
    saved = settings.checkpoint_minutes
    often = () if saved is None else ("--checkpoint-minutes", str(saved))
    machine = ("--device", settings.device, *workers, *often)
    return Piece(
        name,
        made[0].task,
        (*words, "--out", str(folder), *settings.more),
        machine,
        _record(folder, results_root(settings.results, made[0]), settings),
        folder,
        tuple(record_file(settings.results, cell) for cell in made),
        trains=trains,
    )


def _tree_piece(cell: Cell, settings: Settings) -> Piece:
    """Return one tree of the task's oracle by the paper's protocol."""
    tree = ("bench", "oracle-tree", cell.task, cell.method, "--seed", str(cell.seed))
    words = (*tree, "--results", str(settings.results))
    machine = ("--workers", str(settings.workers or 1))
    needs = (oracle_file(settings.results, cell.task),)
    name = f"{cell.task}.{cell.method}.seed-{cell.seed}"
    return Piece(name, cell.task, words, machine, needs=needs, trains=False)


def _record(folder: Path, results: Path, settings: Settings) -> tuple[str, ...]:
    words = ("bench", "record", str(folder), "--results", str(results))
    workers = () if settings.workers is None else ("--workers", str(settings.workers))
    return (*words, "--episodes", str(settings.episodes), *workers)


def teacher_files(results: Path, cell: Cell) -> list[Path]:
    """Return the teachers of a tree by the recipe, to choose from on validation episodes.

    Where the recipe's own trees of another method teach, those of its seed and of the next, made
    already or not. Else those of the seed that were trained to teach, else trees by the paper's
    recipe, as a rule the complete ones of its seed and of the next, so that neighbouring seeds may
    share one; none where there are none.
    """
    task, seed = cell.task, cell.seed
    if teach := TREES_TEACH.get((task, cell.method)):
        seeds = [(seed + on) % len(SEEDS) for on in range(TEACHERS_PER_SEED)]
        return [tree_file(results, task, teach, one) for one in seeds]
    own = [
        results / TEACHERS / f"{task}.seed-{number}.{kind}.json"
        for number in range(TEACHERS_PER_SEED * seed, TEACHERS_PER_SEED * (seed + 1))
        for kind in KINDS
    ]
    if all(path.exists() for path in own):
        return own
    for folder in PLAIN:
        found = [
            results / folder / f"{task}.{method}.paper.seed-{(seed + on) % len(SEEDS)}.{kind}.json"
            for method, on in TEACH_ON.get(task, TEACH)
            for kind in KINDS
        ]
        if all(path.exists() for path in found):
            return found
    return []
