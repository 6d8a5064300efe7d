"""Two policies, the same properties: which answers changed. The table that `icct edit` prints."""

from collections.abc import Sequence
from dataclasses import dataclass

from icct.policy.policy import Policy
from icct.policy.text import limit_text
from icct.verify.check import Answer, Proved, Refuted, check
from icct.verify.property import Property


@dataclass(frozen=True)
class AnswerChange:
    """The answers to one property before and after a change."""

    before: Answer
    after: Answer

    @property
    def row(self) -> tuple[str, str, str]:
        """What is asked, and the two answers, in words."""
        asked = self.after.property
        return asked.name or asked.text, _in_words(self.before), _in_words(self.after)


def compare(before: Policy, after: Policy, asked: Sequence[Property]) -> tuple[AnswerChange, ...]:
    """Return the answers of two policies to the same properties.

    >>> from icct.policy.edit import set_bias
    >>> from icct.zoo import zoo_policy
    >>> policy = zoo_policy("ring-cruiser")
    >>> edited, _ = set_bias(policy, 4, "acceleration", 0.5)
    >>> slow_down = Property("when speed_ego > 1/2 then acceleration < 0", name="slow-down")
    >>> [change.row for change in compare(policy, edited, [slow_down])]
    [('slow-down', 'proved, margin 1.00 m/s^2', 'refuted by 0.50 m/s^2')]
    """
    return tuple(AnswerChange(check(before, one), check(after, one)) for one in asked)


def _in_words(answer: Answer) -> str:
    if isinstance(answer, Proved):
        room = answer.margin
        return "proved" if room is None else f"proved, margin {limit_text(room, answer.unit)}"
    if isinstance(answer, Refuted):
        return f"refuted by {limit_text(answer.excess, answer.unit)}"
    return answer.word
