"""Settings shared by all tests; skips what this machine cannot run, and says what is missing."""

import pytest
from hypothesis import settings

# No deadline: how long an example takes says more about the machine than about the code. The same
# examples in every run: a failure belongs to the change that shows it.
settings.register_profile("icct", deadline=None, derandomize=True)
settings.load_profile("icct")


def pytest_collection_modifyitems(items):
    if not any(item.get_closest_marker("sumo") for item in items):
        return
    from icct.envs.simulators import import_simulator
    from icct.errors import MissingExtraError

    try:
        import_simulator("libsumo", "single-lane-ring", "sumo")
    except MissingExtraError as error:
        for item in items:
            if item.get_closest_marker("sumo"):
                item.add_marker(pytest.mark.skip(reason=str(error)))
