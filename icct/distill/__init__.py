"""A teacher that acts → a readable tree that acts like it: CART, model trees, DAgger. No torch."""

from importlib.util import find_spec

from icct.errors import MissingExtraError

if find_spec("gymnasium") is None:
    raise MissingExtraError(
        'Distilling needs the simulators. Install them with: pip install "icct[distill]"'
    )

from icct.distill.given_splits import fit_given_splits
from icct.distill.model_tree import fit_model_tree
from icct.distill.pairs import Pairs, collect
from icct.distill.request import Request, Round
from icct.distill.rounds import Distillation, distill

__all__ = [
    "Distillation",
    "Pairs",
    "Request",
    "Round",
    "collect",
    "distill",
    "fit_given_splits",
    "fit_model_tree",
]
