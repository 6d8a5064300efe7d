"""Policy × Property → Proved | Refuted | Unknown | Vacuous: answers are values, none is raised.

A proof speaks of every float64 observation inside the declared bounds and of what `act` computes
there. A refutation carries an observation that violates the property when replayed through `act`.
"""

import math
from dataclasses import dataclass
from typing import Any

from icct.policy.parts import Feature
from icct.policy.policy import Policy
from icct.policy.region import looked_at
from icct.policy.text import limit_text, value_text
from icct.verify.outcome import Found, Impossible
from icct.verify.physical import margin_unit, slips
from icct.verify.property import Property
from icct.verify.search import outcomes, search


@dataclass(frozen=True)
class Proved:
    """It holds for every observation of the box, and for every action with `margin` to spare."""

    property: Property
    margin: float | None  # None: no action comes into it
    box: tuple[Feature, ...]  # the features that matter, with bounds and where those come from
    raw: Property | None = None  # what was decided, where the property asked for has units
    unit: str = ""  # of the margin, such as `x 100 N`; empty where it mixes several

    word = "proved"

    def as_text(self) -> str:
        """Return a few lines for people."""
        lines = [_headline(self)]
        if self.margin is not None:
            lines.append(f"margin {limit_text(self.margin, self.unit)}")
        lines.append(f"for all {_box_text(self.box)}")
        return "\n         ".join(lines)

    def as_json(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON."""
        return _json(self, margin=self.margin, unit=self.unit, box=_box_json(self.box))


@dataclass(frozen=True)
class Refuted:
    """`observation` violates it: through `path` it leads to `action`, by `excess` too far."""

    property: Property
    observation: tuple[tuple[str, float], ...]  # every feature by name
    path: tuple[int, ...]
    action: tuple[tuple[str, float], ...]
    excess: float
    shown: tuple[str, ...]  # the features that the path, its leaf or the property look at
    raw: Property | None = None
    unit: str = ""  # of the excess, as of a margin
    units: tuple[tuple[str, str], ...] = ()  # of features and actions, by name

    word = "refuted"

    def as_text(self) -> str:
        """Return a few lines for people."""
        units = dict(self.units)
        seen, acted = (
            [value_text(name, value, units.get(name, "")) for name, value in values]
            for values in ([v for v in self.observation if v[0] in self.shown], self.action)
        )
        path, too_far = " > ".join(map(str, self.path)), limit_text(self.excess, self.unit)
        lines = [
            _headline(self),
            f"at {' '.join(seen) or 'every observation'}",
            f"path {path}, {', '.join(acted)}: {too_far} too far",
        ]
        return "\n         ".join(lines)

    def as_json(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON."""
        return _json(
            self,
            observation=dict(self.observation),
            path=list(self.path),
            action=dict(self.action),
            excess=self.excess,
        )


@dataclass(frozen=True)
class Unknown:
    """Neither a proof nor an observation that replays was found, and why."""

    property: Property
    why: str
    raw: Property | None = None

    word = "unknown"

    def as_text(self) -> str:
        """Return a few lines for people."""
        return f"{_headline(self)}\n         {self.why}"

    def as_json(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON."""
        return _json(self, why=self.why)


@dataclass(frozen=True)
class Vacuous:
    """No observation of the box satisfies the premise, so there was nothing to prove."""

    property: Property
    box: tuple[Feature, ...]
    raw: Property | None = None
    slips: tuple[str, ...] = ()  # what may have been meant

    word = "vacuous"

    def as_text(self) -> str:
        """Return a few lines for people."""
        lines = [
            _headline(self),
            "no observation inside the bounds satisfies the premise: is a unit wrong?",
            *self.slips,
            f"for all {_box_text(self.box)}",
        ]
        return "\n         ".join(lines)

    def as_json(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON."""
        return _json(self, box=_box_json(self.box))


Answer = Proved | Refuted | Unknown | Vacuous


def check(policy: Policy, question: Property) -> Answer:
    """Return whether a property holds for every observation inside the policy's bounds.

    >>> from icct.zoo import zoo_policy
    >>> policy = zoo_policy("ring-cruiser")
    >>> check(policy, Property("when speed_ego > 0.14 then acceleration <= -0.5")).margin
    0.5
    >>> refuted = check(policy, Property("acceleration <= 0.5"))
    >>> policy.act([value for _, value in refuted.observation])
    array([1.])
    """
    question.check_fits(policy)
    decided = question.raw(policy)
    raw = decided if question.has_units else None
    outcome = search(policy, decided.violation)
    if isinstance(outcome, Found):
        return _refuted(policy, question, raw, outcome)
    if not isinstance(outcome, Impossible):
        return Unknown(question, outcome.why, raw)
    used = {policy.features[index].name for index in policy.used_features} | set(question.names)
    box = tuple(feature for feature in policy.features if feature.name in used)
    if decided.premise is not None and all(
        isinstance(other, Impossible) for other in outcomes(policy, decided.premise)
    ):
        return Vacuous(question, box, raw, slips(policy, decided.premise))
    return Proved(question, outcome.margin, box, raw, margin_unit(policy, decided.conclusion))


def _refuted(policy: Policy, question: Property, raw: Property | None, found: Found) -> Refuted:
    path = policy.path(found.observation)
    features = [feature.name for feature in policy.features]
    seen = looked_at(policy, found.observation)
    acted = policy.act(found.observation).tolist()
    return Refuted(
        question,
        tuple(zip(features, found.observation, strict=True)),
        path,
        tuple(zip((action.name for action in policy.actions), acted, strict=True)),
        found.excess,
        tuple(n for i, n in enumerate(features) if i in seen or n in question.names),
        raw,
        margin_unit(policy, (raw or question).conclusion),
        tuple((part.name, part.unit) for part in (*policy.features, *policy.actions)),
    )


def _headline(answer: Answer) -> str:
    asked = answer.property
    line = f"{answer.word:<8} {asked.name + ': ' if asked.name else ''}{asked.text}"
    return line if answer.raw is None else f"{line}\n         raw: {answer.raw.text}"


def _box_text(box: tuple[Feature, ...]) -> str:
    if len(box) > 4:
        origins = sorted({feature.origin for feature in box})
        return f"observations inside the declared bounds ({', '.join(origins)})"
    return ", ".join(map(_bounds_text, box)) or "observations"


def _bounds_text(feature: Feature) -> str:
    low, high = feature.low * feature.scale, feature.high * feature.scale
    unit = f" {feature.physical_unit}" if feature.physical_unit else ""
    return f"{feature.name} from {low:g} to {high:g}{unit} ({feature.origin})"


def _json(answer: Answer, **rest: Any) -> dict[str, Any]:
    asked = answer.property
    raw = (answer.raw or asked).text  # with raw numbers: what the answer speaks of
    named = {"name": asked.name, "property": asked.text, "raw": raw, "why_it_matters": asked.why}
    return {**named, "answer": answer.word, **rest}


def _box_json(box: tuple[Feature, ...]) -> list[dict[str, Any]]:
    return [
        {"feature": f.name, "unit": f.unit, "low": _finite(f.low), "high": _finite(f.high),
         "origin": f.origin}
        for f in box
    ]  # fmt: skip


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
