"""The paper's tables as data: mean return and standard error over five seeds, by task and method.

Probably the best checkpoint of each training run on five episodes (see docs/results.md), so ours
stand beside it both that way and re-evaluated on fresh episodes.
"""

from collections.abc import Iterable

TASK_ORDER = (
    "inverted-pendulum",
    "lunar-lander",
    "lane-keeping",
    "single-lane-ring",
    "multi-lane-ring",
    "figure-eight",
)
Cell = tuple[float, float]  # mean, standard error
_ROWS: dict[str, tuple[Cell, Cell, Cell, Cell, Cell, Cell]] = {
    "dt": (
        (155.0, 0.9),
        (-285.5, 15.6),
        (-359.0, 11.0),
        (123.2, 0.03),
        (503.2, 24.8),
        (831.1, 1.1),
    ),
    "dt-dagger": (
        (776.6, 54.2),
        (184.7, 17.3),
        (395.2, 13.8),
        (121.5, 0.01),
        (1249.4, 3.4),
        (1113.8, 9.5),
    ),
    "cddt-crisp": (
        (5.0, 0.0),
        (-451.6, 97.3),
        (-43526.0, 15905.0),
        (68.1, 18.7),
        (664.5, 192.6),
        (322.9, 47.1),
    ),
    "icct-static": (
        (984.0, 10.4),
        (192.4, 10.7),
        (374.2, 55.8),
        (120.5, 0.5),
        (1271.7, 4.1),
        (1003.8, 27.2),
    ),
    "icct-1-feature": (
        (1000.0, 0.0),
        (190.1, 13.7),
        (437.6, 7.0),
        (121.6, 0.5),
        (1269.6, 10.7),
        (1072.4, 37.1),
    ),
    "icct-2-feature": (
        (1000.0, 0.0),
        (258.4, 7.0),
        (458.5, 6.3),
        (121.9, 0.5),
        (1280.4, 7.3),
        (1088.6, 21.6),
    ),
    "icct-3-feature": (
        (1000.0, 0.0),
        (275.8, 1.5),
        (448.8, 3.0),
        (120.8, 0.5),
        (1280.8, 7.7),
        (1048.7, 46.7),
    ),
    "icct-l1-sparse": (
        (1000.0, 0.0),
        (265.2, 4.3),
        (465.5, 4.3),
        (121.5, 0.3),
        (1275.3, 6.7),
        (993.2, 14.6),
    ),
    "icct-complete": (
        (1000.0, 0.0),
        (300.5, 1.2),
        (476.6, 3.1),
        (120.7, 0.5),
        (1248.6, 3.6),
        (994.1, 29.1),
    ),
    "cddt-controllers-crisp": (
        (84.0, 10.4),
        (-126.6, 53.5),
        (-39826.4, 21230.0),
        (97.9, 12.0),
        (639.62, 160.4),
        (245.5, 48.5),
    ),
    "mlp-lower": (
        (1000.0, 0.0),
        (231.6, 49.8),
        (474.7, 5.8),
        (121.8, 0.6),
        (646.4, 151.2),
        (868.4, 100.9),
    ),
    "mlp-upper": (
        (1000.0, 0.0),
        (288.7, 2.8),
        (467.9, 8.5),
        (121.8, 0.3),
        (1239.5, 4.2),
        (1077.7, 31.1),
    ),
    "mlp-max": (
        (1000.0, 0.0),
        (298.5, 0.7),
        (478.2, 6.7),
        (121.7, 0.4),
        (1011.9, 141.3),
        (1104.3, 9.4),
    ),
    "cddt": (
        (1000.0, 0.0),
        (226.4, 44.5),
        (464.7, 5.4),
        (120.9, 0.5),
        (1248.0, 6.4),
        (1033.2, 24.1),
    ),
    "cddt-controllers": (
        (1000.0, 0.0),
        (289.0, 2.4),
        (469.7, 11.1),
        (120.1, 0.3),
        (1243.8, 3.6),
        (1010.9, 25.7),
    ),
}


def tasks_in_order(tasks: Iterable[str]) -> list[str]:
    """Return the paper's tasks among some in its order, then the others by name.

    >>> tasks_in_order(["Pendulum-v1", "figure-eight", "lunar-lander", "figure-eight"])
    ['lunar-lander', 'figure-eight', 'Pendulum-v1']
    """
    found = set(tasks)
    return [task for task in TASK_ORDER if task in found] + sorted(found - set(TASK_ORDER))


PAPER_RESULTS: dict[tuple[str, str], Cell] = {
    (task, method): cell
    for method, cells in _ROWS.items()
    for task, cell in zip(TASK_ORDER, cells, strict=True)
}
TABLE1 = tuple(_ROWS)  # its methods, in its order
ICCT_ROWS = tuple(method for method in TABLE1 if method.startswith("icct-"))
GUMBEL_TASKS = ("lunar-lander", "lane-keeping")
# The ablation of Gumbel noise on `GUMBEL_TASKS`: as trained, and made crisp.
PAPER_GUMBEL: dict[str, tuple[Cell, Cell]] = {
    "icct-complete-gumbel": ((276.7, 7.0), (412.6, 31.3)),
    "icct-complete-gumbel-crisp": ((239.0, 18.9), (309.1, 94.6)),
    "icct-1-feature-gumbel": ((113.2, 43.1), (-853.4, 333.2)),
    "icct-1-feature-gumbel-crisp": ((-20.1, 50.0), (-658.114, 345.3)),
    "icct-2-feature-gumbel": ((161.7, 54.8), (-560.6, 251.6)),
    "icct-2-feature-gumbel-crisp": ((62.3, 82.2), (-945.0, 331.0)),
}
PAPER_RESULTS |= {
    (task, method): cell
    for method, cells in PAPER_GUMBEL.items()
    for task, cell in zip(GUMBEL_TASKS, cells, strict=True)
}


def published(task: str, method: str) -> str:
    """Return the paper's mean and standard error, or nothing where it has none.

    >>> published("lunar-lander", "icct-complete")
    '300.5 ± 1.2'
    """
    cell = PAPER_RESULTS.get((task, method))
    return "" if cell is None else f"{cell[0]:g} ± {cell[1]:g}"
