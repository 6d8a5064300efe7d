"""How seeds are given on a command line."""

from icct.errors import ConfigError

MOST = 10_000


def parse_seeds(text: str) -> tuple[int, ...]:
    """Return the seeds of a flag: 0 to N - 1 for a number N, or those listed.

    >>> parse_seeds("3"), parse_seeds("7,9"), parse_seeds("4,")
    ((0, 1, 2), (7, 9), (4,))
    """
    try:
        if "," in text:
            return tuple(int(part) for part in text.split(",") if part.strip())
        count = int(text)
    except ValueError:
        raise ConfigError(f"--seeds {text!r}: expected a number, or seeds such as 3,4,5.") from None
    if not 1 <= count <= MOST:
        raise ConfigError(f"--seeds {text!r}: expected 1 to {MOST:,} of them, or such as 3,4,5.")
    return tuple(range(count))
