"""Which commit of the source this is, where it is a git checkout."""

import subprocess
from functools import cache
from pathlib import Path


@cache
def source_commit() -> str | None:
    """Return the first 12 digits of the commit, or None."""
    try:
        result = subprocess.run(
            ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short=12", "HEAD"],
            capture_output=True,
            text=True,
            check=False,
            start_new_session=True,  # a Ctrl-C is not for git
        )
    except OSError:  # no git here
        return None
    return result.stdout.strip() or None
