"""Break the learning core in one place after the other: does a test notice?

    python tests/mutations.py                 all of them; some minutes
    python tests/mutations.py discount tanh   those whose names contain one of these words

Each mutation is made in a copy of the source, so nothing has to be put back. Ends with status 1
where a mutation survives. Takes long: not part of `make check`.
"""

import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
LEARNING = tuple(
    f"tests/learn/test_{name}.py"
    for name in ("transitions", "sac", "fast", "learning", "falling_rates", "crisp", "scaling")
)


@dataclass(frozen=True)
class Mutation:
    """One place of `icct/learn`, and what is wrong there."""

    name: str
    file: str
    right: str
    wrong: str


MUTATIONS = (
    Mutation(
        "stored observations swapped",
        "group.py",
        "torch.cat((self.observations, following,",
        "torch.cat((following, self.observations,",
    ),
    Mutation("stored action negated", "group.py", "following, self.actions, ending",
             "following, -self.actions, ending"),
    Mutation("rows of another member", "group.py", "self.rows[self.members, chosen]",
             "self.rows[self.members.flip(0), chosen]"),
    Mutation("discount left out", "sac.py", "self.gamma * following", "following"),
    Mutation("end of an episode ignored", "sac.py", "(1 - batch.dones) * self.gamma",
             "self.gamma"),
    Mutation("larger critic in the target", "sac.py",
             "self.targets(batch.next_observations, action).amin(1)",
             "self.targets(batch.next_observations, action).amax(1)"),
    Mutation("sign of entropy in the target", "sac.py", "following - entropy.unsqueeze(-1)",
             "following + entropy.unsqueeze(-1)"),
    Mutation("sign of entropy for the actor", "sac.py",
             "(entropy.unsqueeze(-1) * log_prob - value)",
             "(-entropy.unsqueeze(-1) * log_prob - value)"),
    Mutation("coefficient moves the other way", "sac.py",
             "self.actor_adam.gradients(loss), -missing",
             "self.actor_adam.gradients(loss), missing"),
    Mutation("tanh not corrected for", "sac.py",
             "(gaussian - torch.log(1 - action.square() + LOG_PROB_EPSILON))", "gaussian"),
    Mutation("targets jump", "optimiser.py", "list(sources), tau[0])", "list(sources), 1.0)"),
    Mutation("Adam's second constant", "optimiser.py", "beta2=0.999", "beta2=0.9"),
    Mutation("actor stands still", "sac.py", "self.actor_adam.step(gradients)",
             "self.actor_adam.step([0 * part for part in gradients])"),
    Mutation("critics' gradient halved", "fast.py", "slopes = 2 * share * distances",
             "slopes = share * distances"),
    Mutation("critics' gradient reversed", "fast.py", "slopes = 2 * share * distances",
             "slopes = -2 * share * distances"),
    Mutation("action's slope of the observation's columns", "fast.py", "[:, -actions:]",
             "[:, :actions]"),
    Mutation("gradient of a hard choice lost", "crisp.py", "hard + (soft - soft.detach())",
             "hard + 0 * soft"),
    Mutation("rates that do not fall", "group.py", "optimiser.set_share(share)",
             "optimiser.set_share(1 + 0 * share)"),
    Mutation("next observation not scaled", "group.py",
             "for part in self.outcome[:, : 2 * features].split(features, dim=1):",
             "for part in self.outcome[:, :features].split(features, dim=1):"),
    Mutation("larger critic in TD3's target", "td3.py",
             "self.target_critics(batch.next_observations, action).amin(1)",
             "self.target_critics(batch.next_observations, action).amax(1)"),
)  # fmt: skip


def survives(mutation: Mutation, copy: Path) -> bool:
    """Return whether all tests pass although something is wrong."""
    file = copy / "icct" / "learn" / mutation.file
    text = file.read_text(encoding="utf-8")
    if text.count(mutation.right) != 1:
        raise SystemExit(f"{mutation.name}: {mutation.file} has {mutation.right!r} not just once")
    file.write_text(text.replace(mutation.right, mutation.wrong), encoding="utf-8")
    try:
        tests = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *LEARNING]
        return subprocess.run(tests, cwd=copy, capture_output=True, check=False).returncode == 0
    finally:
        file.write_text(text, encoding="utf-8")


def main(words: list[str]) -> int:
    """Try the mutations and say which tests missed."""
    asked = [one for one in MUTATIONS if not words or any(word in one.name for word in words)]
    alive = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for part in ("icct", "tests"):
            shutil.copytree(ROOT / part, copy / part, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", copy)
        for mutation in asked:
            alive += (found := survives(mutation, copy))
            print(f"{'SURVIVES' if found else 'noticed':8}  {mutation.name}", flush=True)
    print(f"{len(asked) - alive} of {len(asked)} noticed")
    return 1 if alive else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
