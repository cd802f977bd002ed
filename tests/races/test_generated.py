"""The race detector against the oracle: generated programs, one execution, two verdicts.

How many programs there are is a matter of patience: `python -m tests.races.agreeing` does 10,000.
"""

from __future__ import annotations

import subprocess
import sys
from random import Random

import pytest

from reenact import strategies
from tests.races import agreeing
from tests.races.generated import (
    Await,
    Join,
    Plan,
    Signal,
    Start,
    Target,
    make_plan,
    program,
    program_of,
    without_endless_waits,
)
from tests.races.oracle import Mode
from tests.versions import IS_DEFAULT


def test_a_seed_means_one_program() -> None:
    assert program(5) == program(5)
    assert len({program(seed).source for seed in range(50)}) == 50


def test_steps_that_would_wait_for_ever_are_left_out() -> None:
    crossed: Plan = [
        [Start(1), Await("queue0"), Signal("queue1"), Join(1)],
        [Await("queue1"), Signal("queue0")],
    ]
    kept = without_endless_waits(crossed)
    assert kept == [[Start(1), Signal("queue1"), Join(1)], [Await("queue1"), Signal("queue0")]]
    alone: Plan = [[Start(1), Await("barrier0")], [Await("barrier0"), Await("event1")]]
    assert without_endless_waits(alone) == [[Start(1), Await("barrier0")], [Await("barrier0")]]


def test_a_plan_that_goes_well_is_left_alone() -> None:
    plan: Plan = [[Start(1), Signal("event0"), Join(1)], [Await("event0")]]
    assert without_endless_waits([list(steps) for steps in plan]) == plan


def test_lines_are_told_from_each_other_by_what_they_touch() -> None:
    made = program(3)
    lines = made.source.splitlines()
    assert made.targets
    assert all(target.object.rstrip("01") in lines[number - 1] for number, target in
               made.targets.items() if target.object[-1].isdigit())  # fmt: skip


def test_two_items_are_one_variable_and_an_item_and_the_whole_are_another() -> None:
    made = program(0)
    keyed = next(number for number, target in made.targets.items() if target.what is not None)
    target = made.targets[keyed]
    items = (keyed, Mode.ITEM_WRITE), (keyed, Mode.ITEM_READ)
    assert made.variable(*items) == target
    whole = (keyed, Mode.ITEM_WRITE), (keyed, Mode.WHOLE_READ)
    assert made.variable(*whole) == Target(target.object, None)


def test_programs_end_by_themselves_without_a_word() -> None:
    """All in one process, with as many switches as Python can make."""
    sources = [program_of(make_plan(Random(seed))).source for seed in range(150)]
    text = "import sys\nsys.setswitchinterval(1e-6)\n"
    text += f"for each in {sources!r}:\n    exec(each, {{}})\n"
    command = [sys.executable, "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


@pytest.mark.parametrize("strategy", strategies.BUILTIN)
def test_detector_and_oracle_agree(strategy: str) -> None:
    seeds = range(0, 120) if strategy == "random" else range(120, 200)
    seeds = seeds if IS_DEFAULT else seeds[::2]
    agreed = agreeing.compare(seeds, strategy)
    assert agreed.differences == []
    assert agreed.racy > len(seeds) // 4, "hardly any program raced: nothing was compared"
    assert agreed.racy < len(seeds) * 9 // 10, "nearly all programs raced"


def test_who_takes_from_a_deque_comes_after_all_that_came_before_the_put() -> None:
    """Also after changes of the deque itself; the schedule of this seed has such a pair."""
    assert agreeing.compare([8156]).differences == []
