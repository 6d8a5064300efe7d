"""What a question about a plant under control ends in: proved, refuted or unknown, as values."""

from dataclasses import dataclass
from typing import Any

from icct.guarantee.loop import Asked
from icct.guarantee.prove import Piece, Search
from icct.plant import Plant
from icct.plant.falsify import Falsification
from icct.policy.text import number

MOST_SHOWN = 3  # boxes or states in the text

HELP = {
    "guard": "The plant may leave where its model holds: widen its guard, or ask for less time.",
    "condition": "More boxes may show it (--boxes); if boxes near one place fail, look there.",
    "bound": "A shorter period, a guard in the plant, or smaller boxes (--boxes) would help.",
    "parts": "Fewer leaves, thresholds away from where it goes, or more boxes would help.",
    "reached": "More time (--time), a larger goal, or more boxes (--boxes) would help.",
    "back": "More time to come back (--time), or a larger box to come back to, would help.",
}


@dataclass(frozen=True)
class Proved:
    """It holds for every start and all that disturbances can do; the tube shows where all goes."""

    asked: Asked
    plant: Plant
    search: Search
    seconds: float

    word = "proved"

    def as_text(self) -> str:
        """Return a few lines for people."""
        search = self.search
        return _lines(
            self,
            f"from every start in {_box_text(self.plant, self.asked)}",
            f"start boxes: {len(search.proved):,} proved, {search.tried:,} tried; "
            f"{len(search.tube):,} boxes of tube, {self.seconds:.1f} s",
        )

    def as_json(self) -> dict[str, Any]:
        """Return everything but the tube as plain values."""
        search = self.search
        return _json(self, boxes=len(search.proved), tried=search.tried, seconds=self.seconds)


@dataclass(frozen=True)
class Refuted:
    """One start, with disturbances, from which the integrator shows that it does not hold."""

    asked: Asked
    plant: Plant
    found: Falsification
    seconds: float

    word = "refuted"

    def as_text(self) -> str:
        """Return a few lines for people."""
        worst = self.found.worst
        start = " ".join(
            f"{state.name}={value!r}"
            for state, value in zip(self.plant.states, worst.start, strict=True)
        )
        how = "misses it by" if self.asked.question.kind == "reach" else "breaks it by"
        noise = ", with disturbances that --json lists" if self.plant.disturbances else ""
        return _lines(
            self,
            f"from {start}{noise}",
            f"{how} {number(-worst.margin)} at {number(worst.time)} s, after "
            f"{self.found.trajectories:,} trajectories, {self.seconds:.1f} s",
        )

    def as_json(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON."""
        return _json(self, seconds=self.seconds, **self.found.as_json(self.plant))


@dataclass(frozen=True)
class Unknown:
    """Neither a proof nor a trajectory: some starts are proved, others are open."""

    asked: Asked
    plant: Plant
    search: Search
    found: Falsification | None
    seconds: float

    word = "unknown"

    @property
    def why(self) -> str:
        """What kept most of the open boxes from being proved."""
        reasons = [piece.fate.why for piece in self.search.open]
        return max(sorted(set(reasons)), key=reasons.count)

    @property
    def help(self) -> str:
        """What may lead to an answer."""
        return next((text for word, text in HELP.items() if word in self.why), HELP["condition"])

    def as_text(self) -> str:
        """Return a few lines for people."""
        search = self.search
        open_first = sorted(search.open, key=lambda piece: piece.fate.time)
        lines = [
            f"proved for {search.share:.1%} of the starts, {len(search.proved):,} boxes; "
            f"open are {len(search.open):,} of {search.tried:,} tried, {self.seconds:.1f} s"
        ]
        for piece in open_first[:MOST_SHOWN]:
            lines.append(
                f"open: {_piece_text(self.plant, piece)}: up to {number(piece.fate.time)} s, then "
                f"{piece.fate.why}"
            )
        if self.found is not None:
            lines.append(
                f"of {self.found.trajectories:,} trajectories the nearest miss keeps it by "
                f"{number(self.found.worst.margin)} at {number(self.found.worst.time)} s"
            )
        return _lines(self, *lines, self.help)

    def as_json(self) -> dict[str, Any]:
        """Return everything but the tube as plain values."""
        names = [state.name for state in self.plant.states]
        boxes = [
            {
                "low": dict(zip(names, piece.low, strict=True)),
                "high": dict(zip(names, piece.high, strict=True)),
                "until": piece.fate.time,
                "why": piece.fate.why,
            }
            for piece in self.search.open
        ]
        return _json(
            self,
            share=self.search.share,
            boxes=len(self.search.proved),
            tried=self.search.tried,
            seconds=self.seconds,
            open=boxes,
            help=self.help,
        )


Answer = Proved | Refuted | Unknown


def _lines(answer: Answer, *lines: str) -> str:
    question = answer.asked.question
    text = (
        f"{question.kind} {question.condition.text}, for all time"
        if answer.asked.forever
        else question.text
    )
    return "\n         ".join([f"{answer.word:<8} {text}", *lines])


def _json(answer: Answer, **more: Any) -> dict[str, Any]:
    question = answer.asked.question
    start = {
        state.name: [float(low), float(high)]
        for state, (low, high) in zip(answer.plant.states, answer.asked.start, strict=True)
    }
    return {
        "answer": answer.word,
        "kind": question.kind,
        "condition": question.condition.text,
        "time": None if answer.asked.forever else float(question.time),
        "start": start,
        **more,
    }


def _box_text(plant: Plant, asked: Asked) -> str:
    return " ".join(
        f"{state.name}={_span(float(low), float(high))}"
        for state, (low, high) in zip(plant.states, asked.start, strict=True)
    )


def _piece_text(plant: Plant, piece: Piece) -> str:
    return " ".join(
        f"{state.name}={_span(low, high)}"
        for state, low, high in zip(plant.states, piece.low, piece.high, strict=True)
    )


def _span(low: float, high: float) -> str:
    return f"{low:.6g}" if low == high else f"{low:.6g}..{high:.6g}"
