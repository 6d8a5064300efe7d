"""distill(teacher, request) → the best tree of some rounds: fit, drive, ask the teacher, aggregate.

One round is plain imitation; more are DAgger. The rounds that drove best then play validation
episodes, the same for all, and the best of them is the result. What a round learned is kept in a
file, so that the same request goes on after a stop.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from icct.distill.pairs import Importance, Pairs, collect, drawn
from icct.distill.progress import Progress, read_progress, write_progress
from icct.distill.request import CANDIDATES, Request, Round
from icct.distill.student import fit_student, import_cart
from icct.envs.actor import Actor
from icct.envs.episodes import EpisodePool, Job, mean_and_error, returns
from icct.envs.find import Named, find_task
from icct.envs.task import Task
from icct.policy import Policy
from icct.seeds import DISTILLING, Purpose, seeds_above

OnProgress = Callable[[int, int], None]  # (episodes done, episodes in all)


@dataclass(frozen=True)
class Distillation:
    """The best student, and how all of them did."""

    policy: Policy
    rounds: tuple[Round, ...]
    best: int  # the round of the policy
    teacher_mean: float
    mean: float  # of the policy on the validation episodes that chose it
    standard_error: float


def distill(
    teacher: Actor,
    task: Named,
    request: Request,
    *,
    workers: int = 1,
    progress_file: Path | None = None,
    report: OnProgress | None = None,
    importance: Importance | None = None,
) -> Distillation:
    """Return the best of `dagger + 1` students; each drives the episodes that teach the next one.

    Args:
        teacher: Anything with `act`; picklable, where there are workers.
        task: A task, or what `find_task` takes.
        request: What is asked.
        workers: Processes that share the episodes of a round; the result is the same with any.
        progress_file: Where finished rounds are kept; a call with the same request goes on there.
            Remove it when the result is safe.
        report: Called after each episode.
        importance: What an error costs at each pair, for instance by how much a critic's value of
            the teacher's action is above that of the worst one; students are then fitted to pairs
            drawn in proportion (VIPER). Without it all pairs count alike.
    """
    found = find_task(task)
    request.check_teacher(teacher, found)
    if request.cart:
        import_cart()
    done = read_progress(progress_file, found, request)
    _, driven, everything = _counted(request)
    with EpisodePool(found, min(workers, everything - driven + request.episodes)) as pool:
        rounds = _Rounds(teacher, found, request, pool, progress_file, report or _silent)
        return _chosen(rounds.validated(rounds.driven(done, importance)))


class _Rounds:
    """The rounds of one distillation; what each learned is written before the next begins."""

    def __init__(
        self,
        teacher: Actor,
        task: Task,
        request: Request,
        pool: EpisodePool,
        progress_file: Path | None,
        report: OnProgress,
    ) -> None:
        self._teacher, self._task, self._request = teacher, task, request
        self._pool, self._file, self._report = pool, progress_file, report
        self._validations, self._driven, self._everything = _counted(request)

    def driven(self, done: Progress | None, importance: Importance | None) -> Progress:
        """Let the teacher drive, then each student, whose episodes teach the next one."""
        if done is None:
            pairs, (mean, _) = self._drive(self._teacher, 0)
            done = self._kept(Progress(pairs, (), (), mean))
        for number in range(len(done.rounds), self._request.dagger + 1):
            pairs = done.pairs
            if importance is not None:
                pairs = drawn(pairs, importance(pairs), (self._request.seed, number))
            student = fit_student(pairs, self._teacher, self._task, self._request)
            seen, (mean, error) = self._drive(student, number + 1)
            this = Round(len(done.pairs), len(student.leaves), mean, error)
            done = self._kept(
                Progress(
                    done.pairs.joined(seen),
                    (*done.rounds, this),
                    (*done.students, student),
                    done.teacher_mean,
                )
            )
        return done

    def validated(self, done: Progress) -> Progress:
        """Let the students that drove best play the validation episodes."""
        for place, number in enumerate(_best_driven(done.rounds, self._validations)):
            if done.rounds[number].validation_mean is not None:
                continue
            mean, error = mean_and_error(self._validate(done.students[number], place))
            rounds = list(done.rounds)
            rounds[number] = replace(rounds[number], validation_mean=mean, validation_error=error)
            done = self._kept(replace(done, rounds=tuple(rounds)))
        return done

    def _kept(self, done: Progress) -> Progress:
        write_progress(self._file, self._task, self._request, done)
        return done

    def _drive(self, driver: Actor, number: int) -> tuple[Pairs, tuple[float, float]]:
        """Return what the teacher does where an actor drives, and what the actor returns."""
        before = number * self._request.episodes
        pairs, episodes = collect(
            self._teacher,
            driver,
            self._pool,
            episodes=self._request.episodes,
            seed=DISTILLING + 1000 * self._request.seed + number,
            progress=lambda finished, _: self._report(before + finished, self._everything),
        )
        return pairs, mean_and_error([episode.total_reward for episode in episodes])

    def _validate(self, student: Policy, place: int) -> list[float]:
        """Return what a student returns in the validation episodes, in order."""
        count = self._request.validation_episodes
        before = self._driven + place * count
        seeds = seeds_above(Purpose.CHOOSE, self._request.seed, range(count))
        scores = [0.0] * count
        jobs = [Job(returns, student, [seed]) for seed in seeds]
        for finished, (where, answer) in enumerate(self._pool.finished(jobs), start=1):
            (scores[where],) = answer
            self._report(before + finished, self._everything)
        return scores


def _silent(done: int, everything: int) -> None:
    """Report to nobody."""


def episodes_in_all(request: Request) -> int:
    """Return how many episodes a distillation plays."""
    return _counted(request)[-1]


def _counted(request: Request) -> tuple[int, int, int]:
    """Return how many students are validated, the episodes driven before, and those in all."""
    candidates = min(CANDIDATES, request.dagger + 1)
    driven = (request.dagger + 2) * request.episodes
    return candidates, driven, driven + candidates * request.validation_episodes


def _best_driven(rounds: tuple[Round, ...], count: int) -> list[int]:
    """Return the rounds with the largest returns, the best first; of equal ones the later."""
    return sorted(range(len(rounds)), key=lambda i: (rounds[i].mean, i), reverse=True)[:count]


def _chosen(done: Progress) -> Distillation:
    """Return the student with the best validation score; of equal ones the latest."""
    scored = [
        (this.validation_mean, number, this.validation_error)
        for number, this in enumerate(done.rounds)
        if this.validation_mean is not None and this.validation_error is not None
    ]
    mean, best, error = max(scored, key=lambda score: score[:2])
    return Distillation(done.students[best], done.rounds, best, done.teacher_mean, mean, error)
