"""What goes wrong, in words: where, what was found, what was expected, what to do next.

Every mistake a user can make ends in an `IcctError`; any other exception is a bug of ours.
"""

import difflib
from collections.abc import Iterable


class IcctError(Exception):
    """The base of every error this package raises on purpose."""


class PolicyError(IcctError):
    """A policy, a policy file or a change to one does not make sense."""


class ObservationError(IcctError):
    """An observation has the wrong length, is not a number, or is not finite."""


class ConfigError(IcctError):
    """An option or a combination of options does not make sense."""


class PropertyError(IcctError):
    """A property, or a file of properties, cannot be read or does not fit the policy."""


class TaskError(IcctError):
    """A task, its simulator or one of its workers cannot do what was asked."""


class ExportError(IcctError):
    """A policy cannot be written in the form that was asked for."""


class MissingExtraError(IcctError, ImportError):
    """A package or system library that this feature needs is not installed."""


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """Return ` Did you mean '…'?` for the known name closest to `name`, or an empty string.

    >>> did_you_mean("speed_leder", ["gap", "speed_leader"])
    " Did you mean 'speed_leader'?"
    >>> did_you_mean("altitude", ["gap", "speed_leader"])
    ''
    """
    close = difflib.get_close_matches(str(name), list(known), n=1)
    return f" Did you mean '{close[0]}'?" if close else ""
