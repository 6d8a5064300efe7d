import subprocess
import sys

import pytest

import icct.envs
from icct.envs import simulators
from icct.errors import MissingExtraError


def test_a_missing_package_names_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "libsumo", None)
    with pytest.raises(MissingExtraError, match=r'pip install "icct\[sumo\]"'):
        icct.envs.make("figure-eight")


def test_a_missing_system_library_names_the_packages(monkeypatch):
    def fail(name):
        raise ImportError("libGL.so.1: cannot open shared object file: No such file or directory")

    monkeypatch.setattr(simulators.importlib, "import_module", fail)
    with pytest.raises(MissingExtraError, match=r"libGL\.so\.1.*apt install libgl1 .*libxrender1"):
        simulators.import_simulator("libsumo", "figure-eight", "sumo")


def test_without_gymnasium_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    with pytest.raises(MissingExtraError, match=r"icct\[envs\]"):
        icct.envs.make("lunar-lander")


@pytest.mark.parametrize("task", ["lunar-lander", "inverted-pendulum", "lane-keeping"])
def test_importing_is_safe_where_warnings_are_errors(task):
    """Box2D's module crashes the interpreter when its import warnings are raised."""
    code = f"import icct.envs; icct.envs.make({task!r}).reset(seed=0)"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
