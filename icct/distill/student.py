"""Pairs → the student that a request asks for: CART, a model tree, or the teacher's own splits."""

from dataclasses import replace
from typing import Any

from icct import __version__
from icct.distill.given_splits import fit_given_splits
from icct.distill.model_tree import fit_model_tree
from icct.distill.pairs import Pairs
from icct.distill.request import Request
from icct.envs.actor import Actor
from icct.envs.find import remembered
from icct.envs.task import Task
from icct.errors import MissingExtraError
from icct.policy import Policy, Provenance
from icct.policy.sklearn import from_sklearn


def fit_student(pairs: Pairs, teacher: Actor, task: Task, request: Request) -> Policy:
    """Return the tree that these pairs give."""
    name, features = f"{request.method}-seed-{request.seed}", request.features or 0
    leaves = request.leaves
    if request.splits == "teacher" and isinstance(teacher, Policy):
        leaves = len(teacher.leaves)
        shape = replace(teacher, features=task.features, actions=task.actions)
        tree = fit_given_splits(pairs, shape, leaf_features=features, name=name)
    elif leaves is None:
        raise AssertionError("a request to grow says how many leaves")
    elif request.cart:
        tree = _cart(pairs, task, leaves, request.seed, name)
    else:
        tree = fit_model_tree(
            pairs,
            task.features,
            task.actions,
            leaves=leaves,
            leaf_features=features,
            balanced=request.balanced,
            name=name,
        )
    provenance = Provenance(
        task=task.name,
        task_card=remembered(task),
        method=request.method,
        seed=request.seed,
        versions=(("icct", __version__),),
        config=(
            ("teacher", request.teacher),
            ("leaves", leaves),
            ("splits", request.splits),
            ("balanced", request.balanced),
        ),
        history=(f"distilled from {request.teacher}: {len(pairs)} pairs",),
    )
    return replace(tree, provenance=provenance)


def import_cart() -> Any:
    """Return scikit-learn's CART, or say how to get it; called before anything is played."""
    try:
        from sklearn.tree import DecisionTreeRegressor
    except ImportError:
        raise MissingExtraError(
            'CART needs scikit-learn. Install it with: pip install "icct[distill]"'
        ) from None
    return DecisionTreeRegressor


def _cart(pairs: Pairs, task: Task, leaves: int, seed: int, name: str) -> Policy:
    cart = import_cart()(max_leaf_nodes=leaves, random_state=seed)
    cart.fit(pairs.observations, pairs.actions)
    return from_sklearn(cart, task.features, task.actions, name=name)
