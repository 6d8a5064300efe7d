"""How many spoilt controllers the falsifier breaks, and whether each refutation replays.

python benchmarks/falsify_sabotaged.py
"""

from collections.abc import Callable
from dataclasses import replace

from icct.plant import read_plant, shipped_plants
from icct.plant.falsify import SURE, Effort, falsify, replay
from icct.policy import Policy
from icct.policy.parts import Controller, Leaf
from icct.zoo import zoo_policy

Change = Callable[[Controller], Controller]
EFFORT = Effort(samples=64, generations=6, size=32)


def scaled(weights: float, bias: float, more: float = 0.0) -> Change:
    """Return what multiplies a rule's weights and bias, and adds to the bias."""
    return lambda rule: Controller(
        tuple((feature, weight * weights) for feature, weight in rule.weights),
        rule.bias * bias + more,
    )


SABOTAGE: dict[str, Change] = {
    "turned round": scaled(-1, -1),
    "weights turned round": scaled(-1, 1),
    "stuck at the upper limit": scaled(0, 0, 9.0),
    "stuck at the lower limit": scaled(0, 0, -9.0),
    "stuck in the middle": scaled(0, 0),
    "a tenth": scaled(0.1, 0.1),
    "tenfold": scaled(10, 10),
    "1 too high": scaled(1, 1, 1.0),
    "1 too low": scaled(1, 1, -1.0),
}


def spoilt(policy: Policy, change: Change) -> Policy:
    """Return a policy with every rule changed."""
    nodes = [
        Leaf(tuple(map(change, node.controllers))) if isinstance(node, Leaf) else node
        for node in policy.nodes
    ]
    return replace(policy, nodes=tuple(nodes))


def main() -> None:
    """Spoil the tree of every plant in every way, and print what survives."""
    tried = refuted = replayed = 0
    for name in shipped_plants():
        plant, policy = read_plant(f"plant:{name}"), zoo_policy(f"plant/{name}")
        question = plant.questions[-1]
        for what, change in SABOTAGE.items():
            bad = spoilt(policy, change)
            found = falsify(plant, bad, question, effort=EFFORT)
            tried += 1
            if found.refuted:
                refuted += 1
                replayed += replay(plant, bad, question, found.worst) < -SURE
                continue
            left = f", {found.left_model} left the model" if found.left_model else ""
            print(f"{name}, {what}: kept by {found.worst.margin:.3g}{left}")
    print(f"{tried} spoilt controllers, {refuted} refuted, of which {replayed} replay")


if __name__ == "__main__":
    main()
