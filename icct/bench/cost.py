"""Records → what the evaluation took, and what the same work takes in Stable-Baselines3."""

import textwrap
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from icct.bench.by_task import seconds_after_teaching
from icct.bench.evidence import Record

# Updates per second of Stable-Baselines3's SAC on two cores by batch size, as measured beside ours
# by `icct bench speed --threads 2`; see docs/training.md.
SB3_UPDATES_PER_S = {256: 108.0, 1024: 43.0}
SB3_CORES = 2
CORES = 16  # of the machine with the GPU
WORDS = """\
**With the GPU it takes one part in {together:.0f} of the time that Stable-Baselines3 would need
on the same machine's {cores} cores, one in {alone:.0f} of that on {two}.** The latter are
estimated: the recorded steps, one update each, at the updates per second that `icct bench speed
--threads 2` measured for Stable-Baselines3's SAC ({rates}), as if its simulators and evaluations
cost nothing.
"""
UNKNOWN_STARTS = """\
Programs whose start was not recorded count with their whole time, though several shared the GPU:
the true number of our minutes is smaller.
"""


class Training(NamedTuple):
    """One program that trained one or more agents."""

    task: str
    agents: int
    steps: int
    batch_size: int
    elapsed_s: float
    started: str | None
    gpu: str | None

    @property
    def rows(self) -> int:
        """The rows of batches that its agents learned from, one batch a step."""
        return self.agents * self.steps * self.batch_size


def trainings(records: Sequence[Record]) -> list[Training]:
    """Return the programs that some records of plain training come from.

    Records of one task that took the same time to a tenth of a second are of one program; agents
    of it that have no record are not counted.
    """
    groups: dict[tuple[object, ...], list[Record]] = {}
    for record in records:
        key = record["task"], record["elapsed_s"], record["commit"], record.get("started")
        groups.setdefault(key, []).append(record)
    return [
        Training(
            one[0]["task"],
            len(one),
            one[0]["config"]["steps"],
            one[0]["config"]["batch_size"],
            float(one[0]["elapsed_s"] or 0.0),
            one[0].get("started"),
            one[0]["machine"]["gpu"],
        )
        for one in groups.values()
    ]


def gpu_seconds(records: Sequence[Record], rows: float) -> float | None:
    """Return how long a GPU needs to learn from so many rows of batches; None where none is known.

    At the rate of the recorded programs, over the time in which at least one of them ran: several
    share a GPU well, and it takes as many rows a second however they are divided among them. Only
    where no program says when it began, each counts as if it had been alone.
    """
    programs = [one for one in trainings(records) if one.gpu is not None and one.elapsed_s]
    known = [one for one in programs if one.started is not None] or programs
    if not known:
        return None
    return rows * held_seconds(known) / sum(one.rows for one in known)


def held_seconds(programs: Sequence[Training]) -> float:
    """Return for how long a GPU was held: times that overlap count once, where starts are known."""
    spans = sorted(
        (datetime.fromisoformat(one.started).timestamp(), one.elapsed_s)
        for one in programs
        if one.started is not None
    )
    total, end = 0.0, -float("inf")
    for start, length in spans:
        total += max(0.0, start + length - max(start, end))
        end = max(end, start + length)
    return total + sum(one.elapsed_s for one in programs if one.started is None)


def sb3_seconds(programs: Sequence[Training]) -> float:
    """Return what the updates of these agents take Stable-Baselines3 on two cores, one by one."""
    return sum(
        one.agents
        * one.steps
        / SB3_UPDATES_PER_S.get(one.batch_size, min(SB3_UPDATES_PER_S.values()))
        for one in programs
    )


def cost_section(plain: Sequence[Record], recipes: Sequence[Record]) -> str:
    """Return what it took, in a table and in words."""
    programs = [one for one in trainings(plain) if one.gpu is not None]
    if not programs:
        return ""
    ours, theirs = held_seconds(programs), sb3_seconds(programs)
    together = theirs / (CORES // SB3_CORES)
    agents = sum(one.agents for one in programs)
    work = f"{agents} | {sum(one.agents * one.steps for one in programs) / 1e6:.0f} million"
    gpus = ", ".join(sorted({str(one.gpu) for one in programs}))
    lines = [
        "| what | agents | steps | minutes |",
        "|---|---|---|---|",
        f"| ours, the paper's recipe, {gpus} and {CORES} cores | {work} | {ours / 60:,.0f} |",
        f"| Stable-Baselines3, {CORES} cores, {CORES // SB3_CORES} agents at a time | {work} "
        f"| {together / 60:,.0f} |",
        f"| Stable-Baselines3, {SB3_CORES} cores, one agent at a time | {work} "
        f"| {theirs / 60:,.0f} |",
    ]
    if recipes:
        own = [record for record in recipes if "same_as" not in record]  # the others cost nothing
        minutes = sum(map(seconds_after_teaching, own)) / 60
        after = "ours, recipe icct, one core, after the teachers"
        lines.append(f"| {after} | {len(recipes)} | | {minutes:,.0f} |")
    rates = " and ".join(f"{rate:.0f} at batch {b}" for b, rate in SB3_UPDATES_PER_S.items())
    words = WORDS.format(
        together=together / ours, alone=theirs / ours, cores=CORES, two=SB3_CORES, rates=rates
    )
    if not all(one.started for one in programs):
        words += UNKNOWN_STARTS
    return "\n".join([*lines, "", textwrap.fill(words, 100, break_on_hyphens=False)]) + "\n"
