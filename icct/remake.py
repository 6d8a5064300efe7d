"""A policy's provenance → the command that makes it again, checked before it is believed."""

import shlex

from icct.errors import PolicyError, did_you_mean, shown
from icct.options import OPTIONS
from icct.policy import Provenance
from icct.policy.parts import Scalar

TASK_OPTION = "option."  # before the options of an environment in what is kept of a task


def command_to_remake(provenance: Provenance) -> str | None:
    """Return the command that trains a policy again; None for one that was not just trained.

    >>> made = Provenance(task="lunar-lander", method="cddt", seed=3,
    ...     config=(("recipe", "paper"), ("algorithm", "sac"), ("steps", 1000)),
    ...     history=("trained: 1000 steps of sac",))
    >>> print(command_to_remake(made))
    icct train lunar-lander --method cddt --seeds 3, --recipe paper --algorithm sac --steps 1000
    """
    trained = provenance.history[-1:] and provenance.history[-1].startswith("trained: ")
    if not (trained and provenance.task and provenance.method and provenance.seed is not None):
        return None
    card = dict(provenance.task_card)
    words = ["icct", "train", str(card.get("environment", provenance.task))]
    words += ["--method", provenance.method, "--seeds", f"{provenance.seed},"]
    for name, value in card.items():
        if name.startswith(TASK_OPTION):
            words += ["--option", f"{name.removeprefix(TASK_OPTION)}={value}"]
    for name, value in provenance.config:
        words += _flag(name, value)
    return shlex.join(words)


def _flag(name: str, value: Scalar) -> list[str]:
    """Return an option as words of a command line, or refuse one that there is not."""
    if name not in OPTIONS:
        raise PolicyError(
            f"provenance: training has no option {shown(name)}.{did_you_mean(name, OPTIONS)} The "
            "policy was made by another version of icct, or its file was changed."
        )
    flag = name.replace("_", "-")
    if isinstance(value, bool):
        return [f"--{flag}" if value else f"--no-{flag}"]
    if OPTIONS[name].kind is bool or not isinstance(value, str | int | float):
        raise PolicyError(f"provenance: {name} is {shown(value)}, which is no value of it.")
    return [f"--{flag}", str(value)]
