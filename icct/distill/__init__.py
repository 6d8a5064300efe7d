"""A teacher that acts → a readable tree that acts like it: CART, model trees, DAgger. No torch."""

from icct.distill.model_tree import fit_model_tree
from icct.distill.pairs import Pairs, collect
from icct.distill.rounds import Distillation, Request, distill

__all__ = ["Distillation", "Pairs", "Request", "collect", "distill", "fit_model_tree"]
