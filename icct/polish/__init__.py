"""Improve the very controller that will be deployed: search on its return, no gradient, no torch.

start ─► Climb (CMA-ES) ⇄ rewiring, races of moves ─► champion ─► choice ─► report
search seeds                                 validation seeds      report seeds
"""

from icct.polish.polish import Polished, polish
from icct.polish.search import PolishConfig, Status

__all__ = ["PolishConfig", "Polished", "Status", "polish"]
