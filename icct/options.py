"""Every option of training: its owner, name, type, default and meaning. The only list of them.

Inside the package an option is a field of the record that owns it (`config.sac.entropy`); in files,
flags and records of results it stands under its own name, which no two records share. A value that
may differ between members is a number for all of them or one number for each.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any, Literal, NamedTuple, get_type_hints

from icct.methods import TRAINABLE, Sharpness

Algorithm = Literal["sac", "td3"]
Recipe = Literal["paper", "generic", "icct"]
TimeLimit = Literal["bootstrap", "terminal"]
Precision = Literal["float32", "bfloat16"]
PerMember = float | tuple[float, ...]


def option(default: Any, text: str) -> Any:
    """Return a dataclass field with the sentence that `icct train --help` prints."""
    return field(default=default, metadata={"help": text})


def record(kind: type) -> Any:
    """Return a dataclass field that holds a record of options."""
    return field(default_factory=kind)


class Options:
    """A record of options; files and callers give lists where tuples are kept."""

    def __post_init__(self) -> None:
        for item in fields(self):  # type: ignore[arg-type]  # every subclass is a dataclass
            if isinstance(value := getattr(self, item.name), list):
                object.__setattr__(self, item.name, tuple(value))


@dataclass(frozen=True)
class LearningOptions(Options):
    """What every update rule has."""

    actor_lr: PerMember = option(3e-4, "learning rate of the actor")
    critic_lr: PerMember = option(3e-4, "learning rate of the critics")
    final_lr: float = option(
        1.0, "share of the learning rates left at the end, to which they fall linearly"
    )
    batch_size: int = option(256, "transitions in an update")
    buffer_size: int = option(1_000_000, "transitions the replay keeps")
    learning_starts: int = option(10_000, "steps of random action before the first update")
    random_hold: int = option(1, "steps for which each of these random actions is held")
    gamma: PerMember = option(0.99, "discount factor")
    tau: PerMember = option(0.01, "how far the target critics move at each update")
    time_limit: TimeLimit = option(
        "bootstrap", "what the horizon is to the critic: bootstrap (look beyond) or terminal"
    )


@dataclass(frozen=True)
class SacOptions(Options):
    """What Soft Actor-Critic has beside them."""

    entropy: float | None = option(None, "sac: fixed entropy coefficient; learned when not given")
    target_entropy: PerMember | None = option(
        None, "sac: minus the number of actions when not given"
    )
    entropy_lr: PerMember = option(3e-4, "sac: learning rate of the entropy coefficient")


@dataclass(frozen=True)
class Td3Options(Options):
    """What Twin Delayed DDPG has beside them."""

    policy_noise: float = option(0.2, "td3: noise on the target action")
    noise_clip: float = option(0.5, "td3: limit of that noise")
    exploration_noise: float = option(0.1, "td3: noise on the action taken")
    policy_delay: int = option(2, "td3: critic updates for each actor update")


@dataclass(frozen=True)
class TreeOptions(Options):
    """What of a tree its method leaves open."""

    leaves: int = option(8, "leaves of a tree, a power of two")
    sharpness: Sharpness = option("shared", "one alpha for the tree (shared) or per_node")
    temperature: PerMember = option(1.0, "temperature of the softmax behind hard choices")
    l1: PerMember | None = option(
        None, "coefficient of the L1 penalty on leaf weights; the method's own when not given"
    )


@dataclass(frozen=True)
class NetworkOptions(Options):
    """Perceptrons: actors that are some, and the critics of every method."""

    hidden: tuple[int, ...] = option((256, 256), "hidden layers of a perceptron")
    critic_hidden: tuple[int, ...] = option((256, 256), "hidden layers of each critic")
    critic_precision: Precision = option(
        "float32", "products between hidden layers of the critics: float32, or bfloat16 (faster)"
    )


@dataclass(frozen=True)
class StartOptions(Options):
    """Where training starts from."""

    normalise: bool = option(
        False,
        "scale observations by what the random steps show; policies take raw ones all the same",
    )
    init: tuple[str, ...] = option(
        (), "start from policies: one file for all members, or one for each"
    )
    critic_first: int = option(
        2000, "with init: updates of the critics alone, before the policy moves"
    )


@dataclass(frozen=True)
class GrowthOptions(Options):
    """Trees that grow while they learn; see deepen.py."""

    grow: bool = option(False, "let trees grow while they learn, from `leaves` to `max_leaves`")
    max_leaves: int = option(16, "grow: the most leaves of a tree")
    grow_every: int = option(2000, "grow: steps between decisions to split")
    grow_epsilon: float = option(
        0.3, "grow: how much lower, in nats, the entropy of two new leaves must be"
    )


@dataclass(frozen=True)
class EvaluationOptions(Options):
    """Evaluation beside training."""

    evaluate_every: int = option(10_000, "steps between evaluations")
    evaluate_episodes: int = option(5, "episodes of an evaluation")
    stop_score: float | None = option(
        None, "end when an evaluation of every member has reached this return"
    )


@dataclass(frozen=True)
class TrainOptions(Options):
    """All options of one group of members; a configuration adds the task."""

    method: str = option("icct-2-feature", f"one of {', '.join(TRAINABLE)}")
    recipe: Recipe = option(
        "generic",
        "how to train: icct (teach, distil, polish), or plainly with the paper's values for the "
        "task (paper) or with values for any task (generic)",
    )
    seeds: tuple[int, ...] = option((0,), "one member for each seed")
    algorithm: Algorithm = option("sac", "the update rule: sac or td3")
    steps: int = option(500_000, "environment steps of each member")
    network: NetworkOptions = record(NetworkOptions)
    learning: LearningOptions = record(LearningOptions)
    sac: SacOptions = record(SacOptions)
    tree: TreeOptions = record(TreeOptions)
    td3: Td3Options = record(Td3Options)
    evaluation: EvaluationOptions = record(EvaluationOptions)
    start: StartOptions = record(StartOptions)
    growth: GrowthOptions = record(GrowthOptions)


class Option(NamedTuple):
    """One option: which record owns it (None: the configuration itself), and what it is."""

    name: str
    owner: str | None
    kind: Any  # its type
    help: str


def _options_in(record: type, owner: str | None = None) -> Iterator[Option]:
    """Yield the options of a record and of those inside it, in their order."""
    kinds = get_type_hints(record)
    for item in fields(record):
        kind = kinds[item.name]
        if isinstance(kind, type) and issubclass(kind, Options):
            yield from _options_in(kind, item.name)
        else:
            yield Option(item.name, owner, kind, str(item.metadata.get("help", "")))


OPTIONS = {item.name: item for item in _options_in(TrainOptions)}
