"""What a polishing run found, for people and as plain values."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from icct.envs.episodes import mean_and_error
from icct.policy import Policy
from icct.polish.config import PolishConfig
from icct.polish.objective import Objective, score


@dataclass(frozen=True)
class Scores:
    """Returns of the start and of the result on the same episodes."""

    start: tuple[float, ...]
    result: tuple[float, ...]

    def as_dict(self, objective: Objective) -> dict[str, Any]:
        """Return the statistics of both as plain values, ready for JSON."""
        return {
            who: {
                "episodes": len(returns),
                "mean": math.fsum(returns) / len(returns),
                "standard_error": mean_and_error(returns)[1],
                "objective": float(score(returns, objective)),
                "returns": list(returns),
            }
            for who, returns in (("start", self.start), ("result", self.result))
        }


@dataclass(frozen=True)
class Polished:
    """What a polishing run found; `policy` is the start itself when nothing was better."""

    policy: Policy
    improved: bool
    stopped: bool  # by Ctrl-C or SIGTERM
    nothing_to_gain: bool  # one return in all episodes, and no policy ever had a higher one
    task: str
    config: PolishConfig
    validation: Scores  # of the final choice: of the start and of what came closest to it
    report: Scores | None  # None when stopped or not asked for
    generations: int
    episodes: int
    elapsed_s: float

    def as_dict(self) -> dict[str, Any]:
        """Return everything but the policy as plain values, ready for JSON."""
        objective = self.config.objective
        return {
            "task": self.task,
            "improved": self.improved,
            "stopped": self.stopped,
            "nothing_to_gain": self.nothing_to_gain,
            "config": asdict(self.config),
            "validation": self.validation.as_dict(objective),
            "report": None if self.report is None else self.report.as_dict(objective),
            "generations": self.generations,
            "episodes": self.episodes,
            "elapsed_s": round(self.elapsed_s, 1),
        }

    def as_text(self) -> str:
        """Return a short answer for people."""
        if self.improved:
            verdict = "better than the start beyond noise, on validation episodes"
        elif self.nothing_to_gain:
            highest = f"{self.validation.start[0]:.2f}"
            verdict = f"nothing to gain over {highest} in every episode: the original is kept"
        else:
            verdict = "nothing beat the start beyond noise: the original is kept"
        lines = [f"{self.policy.name} on {self.task}: {verdict}"]
        for name, scores in (("validation", self.validation), ("report", self.report)):
            if scores is not None:
                before, after = (_with_error(r) for r in (scores.start, scores.result))
                count = len(scores.start)
                lines.append(f"  {name:<11} {before} before, {after} after ({count} episodes each)")
                if self.config.objective != "mean":
                    before, after = (
                        f"{float(score(r, self.config.objective)):.2f}"
                        for r in (scores.start, scores.result)
                    )
                    lines.append(f"  {'':<11} {before} and {after}: {self.config.objective}")
        lines.append(
            f"  search      {self.generations:,} generations, {self.episodes:,} episodes, "
            f"{self.elapsed_s / 60:.1f} min{', stopped' if self.stopped else ''}"
        )
        return "\n".join(lines)


def _with_error(returns: Sequence[float]) -> str:
    return "{:.2f} ± {:.2f}".format(*mean_and_error(returns))
