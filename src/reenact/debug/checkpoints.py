"""Which steps a stopped copy of the replay is kept at, and how any other step is reached.

Copies lie close to where somebody is and far apart further back: going one step back takes a
moment, going far back takes as long as the distance, at most. Where processes cannot be copied
every step is reached from the program's first one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from reenact.debug.process import ENDS, Process

CLOSEST = 500  # steps between the last two copies before a step that was asked for
MOST_KEPT = 64
MEGABYTE = 1 << 20
MEASURED = 8  # copies between two looks at the memory of all of them
NOT_HELD = "a thread is not where it can be held, or lets no signal through"


def spaced(first: int, last: int, closest: int = CLOSEST) -> Iterator[int]:
    """Steps strictly between two others: each halves what is left to the last."""
    distance = (last - first) // 2
    while distance >= closest:
        yield last - distance
        distance //= 2


class Checkpoints:
    """Copies by step. `start` begins a new replay, stopped at its beginning."""

    def __init__(self, start: Callable[[], Process], limit_mb: int) -> None:
        self._start = start
        self._limit = limit_mb * MEGABYTE
        self._kept: dict[int, Process] = {}
        self._wanted: list[int] = []  # steps that were asked for, the latest last
        self._memory: dict[int, int] = {}  # by step, when it was last looked at
        self.end: Process | None = None
        self.first = 0  # the step that a replay begins with
        self.refusal = ""

    @property
    def steps(self) -> list[int]:
        return sorted(self._kept)

    def before(self, step: int) -> int:
        """The last kept step before this one; the first of all if there is none."""
        return max((each for each in self._kept if each < step), default=self.first)

    def at(self, step: int) -> Process:
        """A copy of the process at this step, the caller's to do with as it likes."""
        if step in self._kept:
            copied = self._kept[step].copy()
            if copied is not None:
                return copied
        with self._running(step) as runner:
            for between in spaced(runner.step, step):
                self._run(runner, between)
                self._keep(runner)
            if runner.step < step:
                self._run(runner, step)
            return self._keep_one_of_two(runner)

    def at_end(self, last_step: int) -> Process:
        """A copy of the process at its end; it may end before the last step, if it dies."""
        if self.end is not None:
            copied = self.end.copy()
            if copied is not None:
                return copied
        with self._running(last_step + 1) as runner:
            for between in spaced(runner.step, last_step):
                self._run(runner, between)
                self._keep(runner)
            if runner.reason not in ENDS:
                self._run(runner, -1)
            copied = runner.copy()
            if copied is not None:
                self.end = runner
                return copied
            return runner

    @contextmanager
    def _running(self, step: int) -> Iterator[Process]:
        """A process that is sent on to this step; it is ended if that fails, or is interrupted."""
        runner = self._nearest(step)
        try:
            yield runner
        except BaseException:
            runner.close()
            raise

    def _run(self, runner: Process, step: int) -> None:
        if runner.reason not in ENDS:
            runner.run(step)

    def _nearest(self, step: int) -> Process:
        """A process that is stopped at this step or before it."""
        if not self._kept:
            first = self._start()
            self.first = first.step
            self._keep(first)
            return first
        nearest = max((each for each in self._kept if each <= step), default=self.first)
        copied = self._kept[nearest].copy() if nearest in self._kept else None
        return copied if copied is not None else self._start()

    def _keep_one_of_two(self, process: Process) -> Process:
        """The process itself is the caller's, a copy is kept."""
        if process.reason not in ENDS:
            self._keep(process)
        return process

    def _keep(self, process: Process) -> None:
        if process.reason in ENDS or process.step in self._kept:
            return
        copied = process.copy()
        self.refusal = "" if copied is not None else process.refusal or NOT_HELD
        if copied is None:
            return
        self._kept[process.step] = copied
        self._wanted.append(process.step)
        self._drop_some()

    def _drop_some(self) -> None:
        while len(self._kept) > MOST_KEPT or (len(self._kept) > 4 and self._is_too_much()):
            step = self._least_useful()
            self._kept.pop(step).close()
            self._memory.pop(step, None)

    def _is_too_much(self) -> bool:
        """To look at them all takes longer than to make a copy; the memory of one grows only as
        others go that share it, so that the old numbers do for a few more."""
        new = [step for step in self._kept if step not in self._memory]
        looked_at = self._kept if len(self._wanted) % MEASURED == 0 else new
        self._memory.update({step: self._kept[step].memory for step in looked_at})
        return sum(self._memory[step] for step in self._kept) > self._limit

    def _least_useful(self) -> int:
        """The one whose neighbours are close to each other for how far away it is from where
        somebody was last; the first step is always kept."""
        steps = self.steps
        now = self._wanted[-1]

        def use(index: int) -> float:
            gap = steps[min(index + 1, len(steps) - 1)] - steps[index - 1]
            return gap / (1 + abs(now - steps[index]))

        candidates = [each for each in range(1, len(steps)) if steps[each] != now]
        return steps[min(candidates, key=use)]

    def close(self) -> None:
        for process in (*self._kept.values(), *([self.end] if self.end else ())):
            process.close()
        self._kept.clear()
        self.end = None
