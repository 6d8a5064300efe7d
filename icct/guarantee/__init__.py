"""Guarantees in closed loop: what a plant under a policy does from every start, proved.

`guarantee(plant, policy, asked)` answers `Proved`, `Refuted` or `Unknown`. Sets of states go
through the tree and the plant together, every rounding outward. Needs the extra `guarantee`.
"""

from icct.guarantee.answer import Answer, Proved, Refuted, Unknown
from icct.guarantee.ask import guarantee
from icct.guarantee.loop import Asked
from icct.guarantee.tube import Tube

__all__ = ["Answer", "Asked", "Proved", "Refuted", "Tube", "Unknown", "guarantee"]
