"""Reports of deadlocks and divergences."""

from __future__ import annotations

from reenact.events import Names
from reenact.recordings.outcome import (
    ClockRead,
    Frame,
    RecordedOperation,
    ReplayedOperation,
    ThreadReport,
    Turn,
    parse_outcome,
)

DEADLOCK = b"""\
reason\tdeadlock
at\t17\t1
thread\t1\t3\t6\t2\t4\t2
frame\ta.py\t3\twork
frame\ta.py\t9\tmain
thread\t2\t3\t4\t1\t1\t1
"""


def test_nothing_was_reported(names: Names) -> None:
    assert parse_outcome(b"", names) is None


def test_a_deadlock(names: Names) -> None:
    found = parse_outcome(DEADLOCK, names)
    assert found is not None
    assert (found.reason, found.step, found.thread) == ("deadlock", 17, 1)
    frames = (Frame("a.py", 3, "work"), Frame("a.py", 9, "main"))
    assert found.threads == (
        ThreadReport(1, "waiting", "acquire", "lock", 4, 2, frames),
        ThreadReport(2, "waiting", "join", "thread", 1, 1),
    )


def test_operations_that_differ(names: Names) -> None:
    data = b"expected\toperation\t5\t1\t2\t17\nactual\toperation\t9\t1\t3\t18\ta.py\t4\twork\n"
    found = parse_outcome(data, names)
    assert found is not None
    assert found.expected == RecordedOperation(5, 1, 2, 17)
    assert found.actual == ReplayedOperation("release", 1, 3, 18, "a.py", 4, "work")


def test_schedules_and_clocks_that_differ(names: Names) -> None:
    data = b"expected\tschedule\tyield\t2\t17\nactual\tclock\t3\n"
    found = parse_outcome(data, names)
    assert found is not None
    assert (found.expected, found.actual) == (Turn("yield", 2, 17), ClockRead(3))


def test_what_makes_no_sense_is_passed_over(names: Names) -> None:
    data = b"reason\nat\tx\ty\nframe\ta\t1\tb\nfuture\t1\nthread\t1\nexpected\todd\n\xff\n"
    found = parse_outcome(data + DEADLOCK, names)
    assert found == parse_outcome(DEADLOCK, names)


def test_kinds_from_the_future(names: Names) -> None:
    found = parse_outcome(b"thread\t1\t99\t77\t66\t5\t-1\n", names)
    assert found is not None
    assert found.threads == (
        ThreadReport(1, "status 99", "operation 77", "object kind 66", 5, None),
    )
