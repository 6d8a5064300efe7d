"""polish and extend with their files: the result, and a journal and a lock while the run lasts."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from icct.envs.find import Named
from icct.lock import only_writer
from icct.policy import Policy
from icct.policy.file import write_policy
from icct.polish.config import PolishConfig
from icct.polish.extend import ExtendConfig, Extended, extend
from icct.polish.polish import polish
from icct.polish.result import Polished


def polish_to(
    output: Path,
    policy: Policy,
    task: Named,
    config: PolishConfig,
    *,
    resume: bool = False,
    force: bool = False,
    **options: Any,
) -> Polished:
    """Polish a policy, write the result to a file and return it.

    Args:
        output: The file; `OUTPUT.journal` beside it remembers a run that was stopped.
        policy: Where to start.
        task: As for `polish`.
        config: As for `polish`.
        resume: Go on with the run that was stopped.
        force: Begin anew where one was stopped.
        **options: Further ones of `polish`.
    """
    with _journal(output, begin_anew=force and not resume) as journal:
        result = polish(policy, task, config, journal=journal, resume=resume, **options)
        write_policy(result.policy, output)
        if not result.stopped:
            journal.unlink()
    return result


def extend_to(
    output: Path,
    policy: Policy,
    task: Named,
    config: ExtendConfig,
    *,
    resume: bool = False,
    force: bool = False,
    **options: Any,
) -> Extended:
    """Extend a policy, write the result to a file and return it.

    Args:
        output: The file; `OUTPUT.journal` beside it remembers a run that was stopped.
        policy: What to extend.
        task: As for `extend`.
        config: As for `extend`.
        resume: Go on with the run that was stopped.
        force: Begin anew where one was stopped.
        **options: Further ones of `extend`.
    """
    with _journal(output, begin_anew=force and not resume) as journal:
        result = extend(policy, task, config, journal=journal, resume=resume, **options)
        write_policy(result.policy, output)
        journal.unlink()
    return result


@contextmanager
def _journal(output: Path, *, begin_anew: bool) -> Iterator[Path]:
    """Yield the journal of an output that nobody else writes meanwhile."""
    journal = journal_of(output)
    with only_writer(output, output.with_name(f"{output.name}.lock")):
        if begin_anew:
            journal.unlink(missing_ok=True)
        yield journal


def journal_of(output: Path) -> Path:
    """Return the file that remembers a run that was stopped."""
    return output.with_name(f"{output.name}.journal")
