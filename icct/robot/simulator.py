"""The Robotarium's own simulator: found, opened without a window, and asked for its verdict."""

import contextlib
import importlib
import io
import random
from importlib import metadata
from typing import Any

import numpy as np

from icct.errors import MissingExtraError
from icct.robot.fleet import ROBOTS, Certificate, start_poses

PACKAGE = "robotarium-python-simulator"
HOW_TO_INSTALL = (
    "Version 2 is not on PyPI, which has 0.0.0 of 2020; install it from its repository: "
    'pip install "git+https://github.com/robotarium/robotarium_python_simulator"'
)
# The certificate keeps the points apart that the verifier looks at, by 0.14 m.
CERTIFICATE = {"safety_radius": 0.09, "projection_distance": 0.025}


def testbed() -> Any:
    """Return the simulator's class, or raise an error that says what to install."""
    found = _imported("rps.robotarium").Robotarium
    if not hasattr(found, "debug"):  # which 0.0.0 calls call_at_scripts_end
        raise MissingExtraError(
            f"The robot demo needs version 2 of {PACKAGE}, found {_version()}. {HOW_TO_INSTALL}"
        )
    return found


def open_simulator(seed: int, *, drive_to_start: bool = True) -> Any:
    """Return the simulator with the robots where they begin.

    Args:
        seed: Of where the robots come from on their way to the start.
        drive_to_start: Let them drive there, as the testbed does; otherwise they stand there.
    """
    simulator = testbed()
    random.seed(seed)  # the simulator draws from the global generators
    np.random.seed(seed)  # noqa: NPY002
    with contextlib.redirect_stdout(io.StringIO()):
        return simulator(
            number_of_robots=ROBOTS,
            show_figure=False,
            initial_conditions=start_poses(),
            sim_in_real_time=False,
            skip_initialization=not drive_to_start,
        )


def barrier_certificate() -> Certificate:
    """Return the testbed's certificate that keeps robots apart."""
    module = _imported("rps.utilities.barrier_certificates")
    certificate: Certificate = module.create_uni_barrier_certificate(**CERTIFICATE)
    return certificate


def verdict(simulator: Any) -> str:
    """Return what `debug()` prints, which decides whether the testbed takes a script."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        simulator.debug()
    return "\n".join(line for line in printed.getvalue().splitlines() if line.strip())


def _imported(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError(
            f"The robot demo needs the Robotarium's simulator, {PACKAGE} 2 ({error}). "
            f"{HOW_TO_INSTALL}"
        ) from error


def _version() -> str:
    try:
        return metadata.version(PACKAGE)
    except metadata.PackageNotFoundError:
        return "one without a version"
