"""The paper's tree methods as data: one `TreeConfig` each, no subclasses."""

from dataclasses import dataclass, fields, replace
from typing import Any, Literal, get_args

from icct.errors import ConfigError, did_you_mean

Routing = Literal["crisp", "fuzzy"]
LeafKind = Literal["static", "sparse", "complete"]
Selector = Literal["argmax", "gumbel"]
Sharpness = Literal["shared", "per_node"]


@dataclass(frozen=True)
class TreeConfig:
    """The shape of a trainable tree."""

    leaves: int = 8  # a power of two
    routing: Routing = "crisp"  # crisp: one branch per node; fuzzy: both, weighted (CDDT)
    leaf: LeafKind = "sparse"  # static: a constant; sparse: leaf_features weights; complete: all
    leaf_features: int = 2  # e of the paper; sparse leaves only
    selector: Selector = "argmax"  # gumbel: noise in every choice while training (an ablation)
    sharpness: Sharpness = "shared"  # one alpha per tree, or one per node
    temperature: float = 1.0  # tau of the softmax behind the hard choices
    l1: float = 0.0  # coefficient of the L1 penalty on leaf weights

    def __post_init__(self) -> None:
        if self.leaves < 2 or self.leaves & (self.leaves - 1):
            raise ConfigError(
                f"leaves is {self.leaves}, expected a power of two (2, 4, 8, 16, ...)."
            )
        for name, kind in (
            ("routing", Routing),
            ("leaf", LeafKind),
            ("selector", Selector),
            ("sharpness", Sharpness),
        ):
            value = getattr(self, name)
            if value not in get_args(kind):
                raise ConfigError(
                    f"{name} is {value!r}, expected one of {', '.join(get_args(kind))}."
                    f"{did_you_mean(value, get_args(kind))}"
                )
        if self.leaf == "sparse" and self.leaf_features < 1:
            raise ConfigError(
                f"leaf_features is {self.leaf_features}, expected at least 1; "
                "leaf='static' is the tree without features in its leaves."
            )
        if not self.temperature > 0:
            raise ConfigError(f"temperature is {self.temperature}, expected more than 0.")
        if self.l1 < 0:
            raise ConfigError(f"l1 is {self.l1}, expected 0 or more.")
        if self.routing == "fuzzy" and (self.leaf == "sparse" or self.selector == "gumbel"):
            raise ConfigError(
                "A fuzzy tree chooses nothing: it takes leaf 'static' or 'complete' and "
                f"selector 'argmax', found {self.leaf!r} and {self.selector!r}."
            )


METHODS: dict[str, TreeConfig] = {
    "icct-static": TreeConfig(leaf="static"),
    "icct-1-feature": TreeConfig(leaf_features=1),
    "icct-2-feature": TreeConfig(leaf_features=2),
    "icct-3-feature": TreeConfig(leaf_features=3),
    # Of the trade-off figures alone: LunarLander's eight features are icct-complete.
    "icct-4-feature": TreeConfig(leaf_features=4),
    "icct-5-feature": TreeConfig(leaf_features=5),
    "icct-6-feature": TreeConfig(leaf_features=6),
    "icct-7-feature": TreeConfig(leaf_features=7),
    "icct-l1-sparse": TreeConfig(leaf="complete", l1=5e-3),
    "icct-complete": TreeConfig(leaf="complete"),
    "cddt": TreeConfig(routing="fuzzy", leaf="static"),
    "cddt-controllers": TreeConfig(routing="fuzzy", leaf="complete"),
    "icct-1-feature-gumbel": TreeConfig(leaf_features=1, selector="gumbel"),
    "icct-2-feature-gumbel": TreeConfig(leaf_features=2, selector="gumbel"),
    "icct-3-feature-gumbel": TreeConfig(leaf_features=3, selector="gumbel"),
    "icct-complete-gumbel": TreeConfig(leaf="complete", selector="gumbel"),
}


PERCEPTRONS = ("mlp-max", "mlp-upper", "mlp-lower")
TRAINABLE = (*METHODS, *PERCEPTRONS)


def tree_config(method: str, **changes: Any) -> TreeConfig:
    """Return the configuration of a named method, with some values changed.

    >>> tree_config("icct-1-feature", leaves=4).leaf_features
    1
    """
    if method not in METHODS:
        raise ConfigError(
            f"There is no tree method {method!r}; known are {', '.join(METHODS)}."
            f"{did_you_mean(method, METHODS)}"
        )
    known = [field.name for field in fields(TreeConfig)]
    for name in changes:
        if name not in known:
            raise ConfigError(
                f"A tree has no option {name!r}; known are {', '.join(known)}."
                f"{did_you_mean(name, known)}"
            )
    return replace(METHODS[method], **changes)
