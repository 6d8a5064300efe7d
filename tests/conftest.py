"""Skips what this machine cannot run, and says what is missing."""

import pytest


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
