"""`icct adapt POLICY --task T`: train a deployed policy on, where conditions have changed."""

import argparse
from pathlib import Path

from icct.cli.flags import STOPPED, whole
from icct.cli.inputs import keep_inputs
from icct.cli.task import add_task_arguments, task_for

EXAMPLES = """examples:
  icct adapt tree.json --task inverted-pendulum --option pole_length=1.2 -o adapted.json
  icct adapt tree.json --task inverted-pendulum --option pole_length=1.2 --steps 20000 \\
      --config examples/inverted-pendulum-quick.toml --out runs/adapt -o adapted.json

The tree starts as it is and grows where that pays, up to --max-leaves. Its return under the changed
conditions is printed before and after, over fresh episodes. POLICY itself is not touched.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of this verb."""
    parser.add_argument("policy", help="a policy file or zoo:NAME")
    add_task_arguments(parser, "what it drives")
    parser.add_argument("--steps", type=whole, default=50_000, help="of training (default 50,000)")
    parser.add_argument("--max-leaves", type=int, help="the most leaves (default: twice as many)")
    parser.add_argument("--config", type=Path, help="a TOML or JSON file of training options")
    parser.add_argument("--seed", type=int, default=0, help="of the training")
    parser.add_argument("--episodes", type=int, default=20, help="to score with (default 20)")
    parser.add_argument("--device", default="auto", help="auto, cpu or cuda (default: auto)")
    parser.add_argument("--out", type=Path, help="the run folder (default: runs/adapt-TASK)")
    parser.add_argument("-o", "--output", type=Path, required=True, help="the new policy file")


def run(options: argparse.Namespace) -> int:
    """Train on, write the new policy and print both returns."""
    from icct.cli.how_long import say_how_long
    from icct.evaluate import evaluate
    from icct.learn.adapt import adaptation
    from icct.learn.display import display
    from icct.learn.train import train
    from icct.policy import Policy
    from icct.policy.file import write_policy
    from icct.seeds import FRESH
    from icct.zoo import load_policy

    keep_inputs(options.output, options.policy, options.config, force=None)
    policy = load_policy(options.policy)
    task = task_for(options, policy)
    task.check_fits(policy)
    config = adaptation(
        policy,
        options.policy,
        task,
        steps=options.steps,
        max_leaves=options.max_leaves,
        file=options.config,
        seed=options.seed,
    )
    out = options.out or Path("runs") / f"adapt-{task.name}"
    say_how_long([config], options.device)
    with display() as report:
        result = train(config, out, device=options.device, report=report)
    if not result.finished:
        print(f"stopped; go on with: icct train --resume {out}, which leaves {out}/policies")
        return STOPPED
    adapted = result.policy()
    assert isinstance(adapted, Policy)  # only trees are adapted
    write_policy(adapted, options.output)
    for name, one in (("before", policy), ("after", adapted)):
        scored = evaluate(one, task, episodes=options.episodes, seed=FRESH)
        print(
            f"{name}: {len(one.leaves)} leaves, return {scored.mean:.2f} "
            f"± {scored.standard_error:.2f} over {options.episodes} fresh episodes"
        )
    print(f"written to {options.output}")
    return 0
