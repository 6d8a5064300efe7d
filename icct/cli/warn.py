"""What a command warns of: on the standard error, so that results stay clean."""

import sys


def warn(text: str) -> None:
    """Print one warning."""
    print(f"warning: {text}", file=sys.stderr)
