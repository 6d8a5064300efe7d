"""When the next step is due: speed 1 is real time."""

import time

USUAL_STEP_S = 0.04  # where a task does not say how long a step lasts
FASTEST = 1000.0  # this speed and above: as fast as the simulator goes


class Clock:
    """Paces the steps of an episode; one that falls behind does not rush to catch up."""

    def __init__(self, step_s: float | None) -> None:
        self._step_s = step_s or USUAL_STEP_S
        self.speed = 1.0
        self._due = 0.0

    def wait_s(self) -> float:
        """Return how long it is until the next step."""
        return max(0.0, self._due - time.monotonic())

    def tick(self) -> None:
        """Note that a step begins now."""
        pause = 0.0 if self.speed >= FASTEST else self._step_s / self.speed
        now = time.monotonic()
        self._due = max(self._due + pause, now)
