"""Random policies and observations that sit on and around their thresholds."""

import numpy as np

from icct.policy import Action, Controller, Feature, Leaf, Policy, Provenance, Split


def random_policy(
    seed: int,
    *,
    features: int | None = None,
    actions: int | None = None,
    leaves: int | None = None,
    bounded: bool = True,
) -> Policy:
    """Return an uneven tree; small whole-number thresholds make ties and dead branches common."""
    rng = np.random.default_rng(seed)
    features = features or int(rng.integers(1, 7))
    actions = actions or int(rng.integers(1, 4))
    leaves = leaves or int(rng.integers(1, 20))

    def draw() -> float:
        kind = rng.integers(4)
        if kind == 0:
            return float(rng.integers(-2, 3))
        return float(rng.normal() * 10.0 ** rng.integers(-3, 2))

    def rule() -> Controller:
        used = rng.choice(features, size=rng.integers(0, features + 1), replace=False)
        return Controller(tuple((int(f), draw()) for f in used), draw())

    def leaf() -> Leaf:
        rules = tuple(rule() for _ in range(actions))
        return Leaf(rules, tuple(rng.normal(size=actions)) if rng.random() < 0.5 else None)

    nodes: list[Split | Leaf] = [leaf()]
    while sum(isinstance(node, Leaf) for node in nodes) < leaves:
        places = [i for i, node in enumerate(nodes) if isinstance(node, Leaf)]
        place = int(rng.choice(places))
        children = (nodes[place], leaf() if rng.random() < 0.8 else nodes[place])
        nodes[place] = Split(int(rng.integers(features)), draw(), len(nodes), len(nodes) + 1)
        nodes += children
    origins = ("space", "physical", "measured")
    squash = ("tanh", "clip", "none")[rng.integers(3)]
    return Policy(
        name=f"random-{seed}",
        features=tuple(
            Feature(
                f"x{i}",
                ("", "m", "m/s")[rng.integers(3)],
                *((-3.0, 3.0) if bounded else (-np.inf, np.inf)),
                origins[rng.integers(3)],
            )
            for i in range(features)
        ),
        actions=tuple(
            Action(f"a{i}", "N", *sorted(rng.normal(size=2) * 3)) for i in range(actions)
        ),
        nodes=tuple(nodes),
        squash=squash,
        provenance=Provenance(task="random", seed=seed, history=("made for a test",)),
    )


def observations_around(policy: Policy, rng: np.random.Generator, rows: int) -> np.ndarray:
    """Return observations inside the bounds, most of them with some features at a threshold.

    At a threshold means: equal to it, or one float above or below.
    """
    low = np.array([max(f.low, -1e3) for f in policy.features])
    high = np.array([min(f.high, 1e3) for f in policy.features])
    table = rng.uniform(low, high, size=(rows, len(policy.features)))
    for index in policy.splits:
        split = policy.nodes[index]
        assert isinstance(split, Split)
        near = np.array(
            [
                split.threshold,
                np.nextafter(split.threshold, np.inf),
                np.nextafter(split.threshold, -np.inf),
            ]
        )
        near = near[(near >= low[split.feature]) & (near <= high[split.feature])]
        chosen = rng.random(rows) < 0.3
        if len(near):
            table[chosen, split.feature] = rng.choice(near, size=chosen.sum())
    flags = rng.random(table.shape) < 0.1
    table[flags] = rng.choice([0.0, -0.0, 1.0], size=flags.sum())
    return table
