"""No verb writes over what it reads, unless it is told to."""

import os

from icct.errors import ConfigError
from icct.zoo import PREFIX


def keep_inputs(
    output: str | os.PathLike[str], *inputs: str | os.PathLike[str] | None, force: bool | None
) -> None:
    """Refuse an output that is one of the inputs, by whatever name.

    Args:
        output: The file to write.
        inputs: Files that are read; names such as `zoo:NAME` and None are none.
        force: Allow it; None where the verb has no --force, since it never makes sense.
    """
    for source in inputs:
        if source is None or str(source).startswith(PREFIX) or not _same(output, source):
            continue
        way = "" if force is None else ", or give --force"
        if not force:
            raise ConfigError(
                f"-o {output} would write over {source}, which is read. Choose another file{way}."
            )


def _same(one: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    """Return whether two paths lead to the same file, through links too."""
    try:
        return os.path.samefile(one, other)
    except (OSError, ValueError):  # one of them is not there, or no path at all
        return False
