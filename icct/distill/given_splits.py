"""Pairs and the splits of a tree → the same splits with sparse rules in the leaves.

The student of a teacher that is a tree itself: regions stay where they are, and in each the best
subset of features stands for the teacher's rule.
"""

import numpy as np

from icct.distill.model_tree import check_leaf_features
from icct.distill.moving import fit_rules
from icct.distill.pairs import Pairs
from icct.distill.table import Table
from icct.policy import Policy, Provenance


def fit_given_splits(
    pairs: Pairs,
    shape: Policy,
    *,
    leaf_features: int,
    name: str = "model-tree",
    provenance: Provenance | None = None,
) -> Policy:
    """Return a tree with the splits of another, and at most `leaf_features` weights a rule.

    A leaf that too few pairs reach gets the rule that is best for all that pass the split above.
    """
    check_leaf_features(leaf_features, shape.features)
    table = Table(pairs, shape.actions, leaf_features)
    nodes = fit_rules(table, shape.nodes, 0, np.arange(len(pairs)))
    return Policy(
        name, shape.features, shape.actions, tuple(nodes), "tanh", provenance or Provenance()
    )
