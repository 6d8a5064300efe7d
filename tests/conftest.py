"""Settings shared by all tests; skips what this machine cannot run, and says what is missing."""

import signal

import pytest
from hypothesis import settings

from icct.errors import MissingExtraError

collect_ignore = ["clean_installs.py"]  # a script, which takes an hour and the network

# No deadline: how long an example takes says more about the machine than about the code. The same
# examples in every run: a failure belongs to the change that shows it.
settings.register_profile("icct", deadline=None, derandomize=True)
settings.load_profile("icct")

# A shell without job control starts `make check &` with Ctrl-C ignored, and all processes of the
# tests inherit that: those that interrupt a run would wait for it until their time is up.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items):
    from icct.envs.simulators import import_simulator
    from icct.robot.simulator import testbed

    skip_without(items, "sumo", lambda: import_simulator("libsumo", "single-lane-ring", "sumo"))
    skip_without(items, "robot", testbed)


def skip_without(items, marker, need):
    marked = [item for item in items if item.get_closest_marker(marker)]
    try:
        if marked:
            need()
    except MissingExtraError as error:
        for item in marked:
            item.add_marker(pytest.mark.skip(reason=str(error)))
