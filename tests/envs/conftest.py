import importlib.util

import pytest

from icct.envs.catalog import TASKS

if importlib.util.find_spec("gymnasium") is None:
    collect_ignore_glob = ["*"]


def pytest_generate_tests(metafunc):
    """A test with an argument `any_task` runs for all six, one with `traffic_task` for three."""
    for argument, names in (
        ("any_task", list(TASKS)),
        ("traffic_task", [name for name in TASKS if TASKS[name].road]),
    ):
        if argument in metafunc.fixturenames:
            marked = [
                pytest.param(name, marks=[pytest.mark.sumo] if TASKS[name].road else [])
                for name in names
            ]
            metafunc.parametrize(argument, marked)


@pytest.fixture
def open_env():
    """`icct.envs.make` whose environments are closed after the test."""
    import icct.envs

    opened = []

    def make(task, **options):
        opened.append(icct.envs.make(task, **options))
        return opened[-1]

    yield make
    for env in opened:
        env.close()
