"""Improve the very controller that will be deployed: search on its return, no gradient, no torch.

start ─► CMA-ES on its numbers, with restarts ─► best validated ─► choice ─► report
search seeds                              validation seeds                report seeds
"""

from importlib.util import find_spec

from icct.errors import MissingExtraError

if find_spec("gymnasium") is None:
    raise MissingExtraError(
        'Polishing needs the simulators and cma. Install them with: pip install "icct[polish]"'
    )

from icct.polish.config import PolishConfig
from icct.polish.extend import ExtendConfig, Extended, extend
from icct.polish.polish import polish
from icct.polish.prune import Pruned, prune
from icct.polish.result import Polished
from icct.polish.search import Status
from icct.polish.to_file import extend_to, polish_to

__all__ = [
    "ExtendConfig",
    "Extended",
    "PolishConfig",
    "Polished",
    "Pruned",
    "Status",
    "extend",
    "extend_to",
    "polish",
    "polish_to",
    "prune",
]
