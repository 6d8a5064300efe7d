"""Improve the very controller that will be deployed: search on its return, no gradient, no torch.

start ─► Climb (CMA-ES) ⇄ rewiring, races of moves ─► champion ─► choice ─► report
search seeds                                 validation seeds      report seeds
"""

from importlib.util import find_spec

from icct.errors import MissingExtraError

if find_spec("gymnasium") is None:
    raise MissingExtraError(
        'Polishing needs the simulators and cma. Install them with: pip install "icct[polish]"'
    )

from icct.polish.polish import Polished, polish
from icct.polish.prune import Pruned, prune
from icct.polish.search import PolishConfig, Status
from icct.polish.to_file import polish_to

__all__ = ["PolishConfig", "Polished", "Pruned", "Status", "polish", "polish_to", "prune"]
