"""Words that reports and texts of a policy share."""


def counted(count: int, one: str, many: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "leaf", "leaves"), counted(2, "leaf", "leaves")
    ('1 leaf', '2 leaves')
    """
    return f"{count} {one if count == 1 else many}"
