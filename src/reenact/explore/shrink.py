"""From the switches of a run that failed to the fewest that still make it fail.

Delta debugging on choices: first preemptions are left out, in halves, quarters and so on down to
one (ddmin: Zeller, Hildebrandt, TSE 2002), then all other switches, since the default order mostly
does as well. Then two switches are tried as one, and at last each single preemption of the default
run, after which all others go on before the thread that was preempted: most bugs need no more.
Every candidate is run, and counts only if it fails in the same way; what it left unused is taken
out of it.

Costs at most the runs that it is given, and a few to see at the end that what is left fails again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise

from reenact.explore import deviations
from reenact.explore.runs import Runner
from reenact.findings import Failure
from reenact.strategies.dfs import is_choice, options
from reenact.strategies.searching import FORCED, PREEMPTS, Plan, Step, Switch

BUDGET = 200  # runs
_KEPT_BACK = 6  # times that a preempted thread is kept from coming back
_VERIFIED = 3  # of the best candidates, how many are run again at the end

Switches = tuple[Switch, ...]


def shrink(
    runner: Runner, switches: Switches, failure: Failure, budget_runs: int = BUDGET
) -> Switches:
    """The switches that are left; those given, if nothing less fails reliably."""
    return Shrinker(runner, switches, failure, budget_runs).go()


@dataclass(frozen=True, slots=True)
class _Candidate:
    """Switches that were seen to fail, and what the run was like."""

    switches: Switches
    preemptions: int
    steps: int

    @property
    def score(self) -> tuple[int, int, int]:
        return self.preemptions, len(self.switches), self.steps


class Shrinker:
    """Shrinking under way; `runs` counts what it cost."""

    def __init__(
        self, runner: Runner, switches: Switches, failure: Failure, budget_runs: int = BUDGET
    ) -> None:
        self.runner = runner
        self.given = switches
        self.failure = failure
        self.budget = budget_runs
        self.runs = 0
        self._failed: dict[Switches, bool] = {}  # candidates that were run
        self._others: dict[Switches, Switch | None] = {}  # who else could have gone on in them
        self._bests: list[_Candidate] = []  # each better than the one before

    @property
    def best(self) -> Switches:
        return self._bests[-1].switches if self._bests else self.given

    def go(self) -> Switches:
        if not self._try(self.given):  # it is not even reliable as it is
            return self.given
        for phase in (self._without_forced, self._fewer, self._merged, self._rare):
            phase()
        self._fewer()
        return self._verified()

    # ---- phases ----

    def _without_forced(self) -> None:
        """Left to the default order altogether, which mostly does."""
        self._try(tuple(each for each in self.best if each.kind != FORCED))

    def _fewer(self) -> None:
        """Preemptions first, then the rest, until nothing more can be left out."""
        before: Switches | None = None
        while before != self.best and not self._is_spent():
            before = self.best
            self._ddmin(lambda switch: switch.kind == PREEMPTS)
            self._ddmin(lambda switch: switch.kind != PREEMPTS)

    def _ddmin(self, is_meant: Callable[[Switch], bool]) -> None:
        size = max(1, sum(map(is_meant, self.best)) // 2)
        while not self._is_spent():
            if not self._leave_out(is_meant, size):
                if size == 1:
                    return
                size = max(1, size // 2)

    def _leave_out(self, is_meant: Callable[[Switch], bool], size: int) -> bool:
        """Some run of `size` of them, the last first: what comes late is mostly of no use."""
        meant = [number for number, each in enumerate(self.best) if is_meant(each)]
        for end in range(len(meant), 0, -size):
            left_out = set(meant[max(0, end - size) : end])
            kept = tuple(each for n, each in enumerate(self.best) if n not in left_out)
            if self._try(kept):
                return True
        return False

    def _merged(self) -> None:
        """Two switches as one: to where the second one led, or from where it was."""
        while any(self._try(candidate) for candidate in list(_merges(self.best))):
            if self._is_spent():
                return

    def _rare(self) -> None:
        """One or two preemptions, with the preempted thread kept back as long as others can go on:
        those of the best, then each one that the default run could have."""
        own = [each for each in self.best if each.kind == PREEMPTS]
        seeds: list[Switches] = [(each,) for each in own]
        if self._preemptions() > 2:
            seeds += combinations(own, 2)
        if self._preemptions() > 1 and not self._is_spent():
            self.runs += 1
            ran = self.runner.run(Plan(switches=()))
            seeds[len(own) : len(own)] = [(each,) for each in _preemptions(ran.seen.steps())]
        for seed in seeds:
            if len(seed) < self._preemptions():
                self._keep_back(seed)

    def _keep_back(self, switches: Switches) -> None:
        """Try `switches`, and one more each time that a preempted thread comes back early."""
        for _ in range(_KEPT_BACK):
            if self._try(switches) or self._is_spent() or switches not in self._others:
                return
            other = self._others[switches]
            if other is None:
                return
            switches = (*switches, other)

    def _preemptions(self) -> int:
        return self._bests[-1].preemptions if self._bests else 0

    # ---- runs ----

    def _is_spent(self) -> bool:
        return self.runs >= self.budget

    def _try(self, switches: Switches) -> bool:
        """Run it; is it the best so far?"""
        if switches in self._failed or self._is_spent():
            return False
        candidate = self._run(switches)
        if candidate is None:
            return False
        if len(candidate.switches) < len(switches) and candidate.switches not in self._failed:
            trimmed = self._run(candidate.switches)
            candidate = trimmed or _Candidate(switches, candidate.preemptions, candidate.steps)
        if self._bests and candidate.score >= self._bests[-1].score:
            return False
        self._bests.append(candidate)
        return True

    def _run(self, switches: Switches) -> _Candidate | None:
        """With the switches that were used, if it failed as it should."""
        self.runs += 1
        ran = self.runner.run(Plan(switches=switches))
        has_failed = ran.failure is not None and ran.failure.is_like(self.failure)
        self._failed[switches] = has_failed
        steps = ran.seen.steps()
        if not has_failed:
            self._others[switches] = _instead_of_return(switches, steps)
            return None
        used = _used(switches, deviations.of(steps))
        return _Candidate(used, ran.seen.preemptions, len(steps))

    def _verified(self) -> Switches:
        """The best that fails once more: in a flaky program one may have failed by chance."""
        for best in reversed(self._bests[-_VERIFIED:]):
            if self._run(best.switches) is not None:
                return best.switches
        return self.given


def _used(switches: Switches, happened: Switches) -> Switches:
    """Those that made a difference to what happened; others were passed over."""
    used = []
    start = 0
    for switch in switches:
        if switch in happened[start:]:
            start = happened.index(switch, start) + 1
            used.append(switch)
    return tuple(used)


def _merges(switches: Switches) -> Iterator[Switches]:
    for number, (first, second) in enumerate(pairwise(switches)):
        before, after = switches[:number], switches[number + 2 :]
        if first.thread != second.to and PREEMPTS in (first.kind, second.kind):
            yield (*before, first._replace(to=second.to), *after)
            yield (*before, second, *after)


def _preemptions(steps: list[Step]) -> Iterator[Switch]:
    """Where a thread could have been preempted before something that others touch, too."""
    touching: dict[int, set[int]] = {}
    for step in steps:
        if step.key:
            touching.setdefault(step.key, set()).add(step.thread)
    for step in steps:
        if step.is_forced or is_choice(step) or step.count < 2 or step.thread != step.previous:
            continue
        if len(touching.get(step.key, ())) > 1:
            for other in options(step):
                if other != step.thread:
                    yield Switch(step.thread, step.position, other, PREEMPTS)


def _instead_of_return(switches: Switches, steps: list[Step]) -> Switch | None:
    """Another thread to go on where, after all switches, a preempted one came back by order."""
    preempted = {each.thread for each in switches if each.kind == PREEMPTS}
    start = 0
    for switch in switches:
        start = next((n + 1 for n in range(start, len(steps)) if _is_at(steps[n], switch)), start)
    for step in steps[start:]:
        if step.is_forced and step.count > 1 and step.thread in preempted and not is_choice(step):
            for other in options(step):
                if other not in preempted:
                    return Switch(step.previous, step.position, other, FORCED)
    return None


def _is_at(step: Step, switch: Switch) -> bool:
    return (step.previous, step.position, step.thread) == switch[:3]
