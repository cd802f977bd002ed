"""Running a function under a schedule that was written down: what regression tests call.

Owns the way from text to switches: an observer sees every place that the threads come to, and gives
the core the next switch as its place is reached. A schedule that does not fit the program any more
is *stale*, which is said, with the line at fault and what was met instead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reenact import _core, pyversion
from reenact.errors import Deadlock, Livelock, StaleSchedule
from reenact.explore import deviations
from reenact.explore.function import Function
from reenact.explore.runs import PATIENCE_S, STEP_LIMIT, Observable, Ran, Settings
from reenact.explore.schedule import Schedule, Turn, turns_of
from reenact.explore.trail import Arrivals, Trail, caller, events_of, name_of, place_of
from reenact.findings import Failure
from reenact.strategies.searching import AMONG, Plan, Switch


def describe(
    runner: Observable, switches: tuple[Switch, ...], what: str, points: str
) -> tuple[Schedule, Ran]:
    """The switches as a schedule, from one more run."""
    ran, said = runner.observed(Plan(switches=switches), Trail(with_values=False).begin)
    turns = turns_of(switches, events_of(said), ran.paths)
    return Schedule(what, pyversion.RUNNING, points, turns), ran


class Follower:
    """An observer that gives a run the switches of a schedule, one by one."""

    def __init__(self, schedule: Schedule) -> None:
        self.turns = schedule.turns
        self.next = 0
        self.fed: list[Switch] = []
        self.problem = ""
        self.arrivals = Arrivals()

    def begin(self) -> Callable[[], Any]:
        _core.explore_observe(self)
        return self.finish

    def __call__(
        self,
        does: bool,
        index: int,
        position: int,
        operation: int,
        holder: object,
        name: str | None,
    ) -> None:
        if not does:
            word = _core.OPERATIONS[operation]
            place = place_of(caller(1), word, name_of(holder, name, word))
            self.arrivals.come(index, position, place)
        while self.next < len(self.turns) and not self.problem and self._feed():
            self.next += 1
        _core.explore_expect(self.next < len(self.turns) and not self.problem)

    def _feed(self) -> bool:
        """Give the next switch to the core, if its thread is at its place."""
        turn = self.turns[self.next]
        index = self.arrivals.index(turn.thread)
        if index is None:
            return False
        position, place, occurrence = self.arrivals.last.get(index, (0, None, 0))
        if place != turn.place or occurrence != turn.occurrence:
            if turn.place is not None:
                been = self.arrivals.counts[index, turn.place]
                if been >= turn.occurrence:
                    self.problem = f"thread {turn.thread} had been there before it was its turn"
            elif place is not None:
                self.problem = f"thread {turn.thread} was further than its start by then"
            return False
        to = int(turn.to) if turn.kind == AMONG else self._number(turn.to)
        if to is None:
            self.problem = f"thread {turn.to} could not have been started by then"
            return False
        self.fed.append(Switch(index, position, to, turn.kind))
        _core.explore_add_switch(*self.fed[-1])
        return True

    def _number(self, path: str) -> int | None:
        """Of a thread, as the core knows it; one that is to be started yet has a negative one."""
        index = self.arrivals.index(path)
        if index is not None:
            return index
        parent, _, ordinal = path.rpartition(".")
        index = self.arrivals.index(parent)
        return None if index is None else ~(index << 16 | int(ordinal))

    def finish(self) -> dict[str, Any]:
        last = self.arrivals.last
        return {
            "fed": [list(switch) for switch in self.fed],
            "problem": self.problem,
            "last": {self.arrivals.path(each): str(last[each][1]) for each in sorted(last)},
        }


def run(runner: Observable, schedule: Schedule) -> tuple[Ran, StaleSchedule | None]:
    """One run under the schedule, and in what way that was stale, if it was."""
    ran, said = runner.observed(Plan(switches=()), Follower(schedule).begin)
    fed = [Switch(*switch) for switch in said["fed"]]
    happened = list(deviations.of(ran.seen.steps()))
    for number, switch in enumerate(fed):
        if switch.to < 0 and schedule.turns[number].to in ran.paths:
            switch = switch._replace(to=ran.paths.index(schedule.turns[number].to))
        if switch not in happened:
            reason = f"thread {schedule.turns[number].to} could not go on there"
            return ran, _stale(schedule, number, reason)
        del happened[: happened.index(switch) + 1]
    if len(fed) < len(schedule.turns):
        turn = schedule.turns[len(fed)]
        reason = said["problem"] or _not_reached(turn, said["last"])
        return ran, _stale(schedule, len(fed), reason)
    return ran, None


def _not_reached(turn: Turn, last: dict[str, str]) -> str:
    if turn.thread not in last:
        return f"thread {turn.thread} never came to anything, or was never started"
    return f"thread {turn.thread} did not come there; it was last at {last[turn.thread]}"


def _stale(schedule: Schedule, number: int, reason: str) -> StaleSchedule:
    line = schedule.first_turn_line + number
    return StaleSchedule(line=line, turn=str(schedule.turns[number]), reason=reason)


def follow(
    function: Callable[[], object],
    schedule: str,
    *,
    instrument: tuple[str, ...] | list[str] = (),
    step_limit: int = STEP_LIMIT,
    patience: float = PATIENCE_S,
    real_clock: bool = False,
) -> None:
    """Run `function` once under a schedule, and raise what the program raises.

    Returns if it passes. The options are those of `explore`. Raises `Deadlock` for a deadlock, and
    `StaleSchedule` if the program has changed so much that the schedule says nothing about it any
    more, and it did not fail.
    """
    parsed = Schedule.parse(schedule)
    points: Any = parsed.points
    settings = Settings(points, tuple(instrument), step_limit, patience, real_clock)
    with Function(function, settings) as runner:
        ran, stale = run(runner, parsed)
    if ran.failure is not None:
        raise error_of(ran, ran.failure)
    if stale is not None:
        raise stale


def error_of(ran: Ran, failure: Failure) -> BaseException:
    """What the program would have raised."""
    if ran.error is not None:
        return ran.error
    if failure.kind == "deadlock":
        return Deadlock(failure.summary, _standing(failure))
    if failure.kind == "livelock":
        return Livelock(failure.summary)
    return AssertionError(failure.summary)


def _standing(failure: Failure) -> tuple[str, ...]:
    lines = []
    for each in failure.waiting:
        owner = f", held by thread {each.owner}" if each.owner else ""
        top = each.stack[0] if each.stack else None
        place = f" at {top.file}:{top.line} in {top.function}" if top is not None else ""
        lines.append(f"thread {each.thread} waits for a {each.what}{owner}{place}")
    return tuple(lines)
