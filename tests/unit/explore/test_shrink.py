"""Shrinking: classic bugs come down to the preemption that they need, and flaky ones do no harm."""

from __future__ import annotations

from pathlib import Path

import pytest

from reenact.explore.runs import Ran
from reenact.explore.shrink import Shrinker, shrink
from reenact.findings import Failure
from reenact.strategies.searching import FORCED, PREEMPTS, Plan, Seen, Step, Switch
from tests.unit.explore.programs import LOCK_ORDER, LOST_UPDATE, LOST_WAKE_UP, tried

SHRINK = """\
from reenact.explore.shrink import Shrinker
with Function(prog.main, Settings()) as runner:
    found = find(seed=%d)
    shrinker = Shrinker(runner, found.switches, found.failure)
    left = shrinker.go()
    ran = runner.run(Plan(switches=left))
    say(
        before=sum(each.kind == PREEMPTS for each in found.switches),
        left=[list(each) for each in left],
        runs=shrinker.runs,
        fails=ran.failure is not None and ran.failure.is_like(found.failure),
        preemptions=ran.seen.preemptions,
    )
"""


@pytest.mark.parametrize("seed", [1, 7])
@pytest.mark.parametrize("program", [LOST_UPDATE, LOCK_ORDER, LOST_WAKE_UP])
def test_one_preemption_is_left_of_a_classic_bug(tmp_path: Path, program: str, seed: int) -> None:
    said = tried(tmp_path, program, SHRINK % seed)
    assert said["fails"]
    assert said["preemptions"] == 1
    assert len(said["left"]) <= 2
    assert said["runs"] <= 203


FAILURE = Failure("assertion", "AssertionError: wrong")
NEEDED = Switch(1, 5, 2, PREEMPTS)
GIVEN = (
    Switch(0, 3, 1, FORCED),
    Switch(1, 2, 0, PREEMPTS),
    NEEDED,
    Switch(2, 4, 1, PREEMPTS),
    Switch(1, 9, 0, FORCED),
)


class Fake:
    """A program that fails if `needed` is among the switches; all of them take effect."""

    def __init__(self, needed: Switch = NEEDED, failure: Failure = FAILURE) -> None:
        self.needed = needed
        self.failure = failure
        self.runs = 0

    def fails(self, switches: tuple[Switch, ...]) -> bool:
        return self.needed in switches

    def run(self, plan: Plan) -> Ran:
        self.runs += 1
        switches = plan.switches or ()
        failure = self.failure if self.fails(switches) else None
        steps = [_step(switch) for switch in switches]
        preemptions = sum(switch.kind == PREEMPTS for switch in switches)
        seen = Seen(plan, 0, 0, 0, preemptions, 0, failure is not None, lambda: steps)
        return Ran(seen, failure, "", 2, 0)


def _step(switch: Switch) -> Step:
    return Step(
        thread=switch.to,
        operation=0,
        writes=False,
        key=0,
        enabled=7,
        site=0,
        position=switch.position,
        previous=switch.thread,
        count=2,
        is_forced=switch.kind == FORCED,
        asleep=0,
        joined=0,
        parent=0,
        waits=False,
    )


def test_what_is_not_needed_is_left_out() -> None:
    assert shrink(Fake(), GIVEN, FAILURE) == (NEEDED,)


def test_it_is_the_same_every_time() -> None:
    first, second = Fake(), Fake()
    assert shrink(first, GIVEN, FAILURE) == shrink(second, GIVEN, FAILURE)
    assert first.runs == second.runs


def test_the_budget_is_kept() -> None:
    fake = Fake()
    shrinker = Shrinker(fake, GIVEN, FAILURE, budget_runs=4)
    assert NEEDED in shrinker.go()
    assert fake.runs <= 4 + 3 + 1


def test_another_failure_is_not_the_same() -> None:
    other = Failure("exception", "KeyError: 1")
    assert shrink(Fake(failure=other), GIVEN, FAILURE) == GIVEN


class Flaky(Fake):
    """Without the switch that is needed it fails once, by chance, and never again."""

    def __init__(self) -> None:
        super().__init__()
        self.chance = 1

    def fails(self, switches: tuple[Switch, ...]) -> bool:
        if super().fails(switches):
            return True
        self.chance -= 1
        return self.chance == 0


def test_a_failure_by_chance_is_not_believed() -> None:
    assert NEEDED in shrink(Flaky(), GIVEN, FAILURE)


def test_what_does_not_fail_again_is_left_as_it_was() -> None:
    fake = Fake(needed=Switch(9, 9, 9, PREEMPTS))
    assert shrink(fake, GIVEN, FAILURE) == GIVEN
