"""Schedules as text: the form both ways, and following them, on every version and after edits."""

from __future__ import annotations

from pathlib import Path

import pytest

from reenact.errors import UsageError
from reenact.explore.schedule import Schedule, Turn
from reenact.explore.trail import Place
from reenact.strategies.searching import AMONG, FORCED, PREEMPTS
from tests.unit.explore.programs import (
    FIXED,
    LOCK_ORDER,
    LOST_UPDATE,
    LOST_WAKE_UP,
    run_pytest,
    tried,
)

# As 3.11 made it; every version must be able to follow it.
WRITTEN = """\
reenact schedule 1
run prog:main
python 3.11
points accesses
0.1 at Account.add+2 before write of balance, first time: 0 goes on
0 waits at main+4 before read of start, second time: 0.2 goes on
"""

FOLLOW = """\
try:
    reenact.follow(prog.main, SCHEDULE)
    say(raised="", text="")
except BaseException as error:
    say(raised=type(error).__name__, text=str(error))
"""


def followed(directory: Path, program: str, schedule: str = WRITTEN) -> dict[str, str]:
    return tried(directory, program, f"SCHEDULE = {schedule!r}\n{FOLLOW}")


PLACE = Place("Account.add", 2, "", "write", "balance")
TURNS = (
    Turn("0.1", PLACE, 1, PREEMPTS, "0.2"),
    Turn("0.2", Place("f.<locals>.<lambda>", 0, "Queue.get", "acquire failed", ""), 3, FORCED, "0"),
    Turn("0", Place("<module>", 31, "", "read", "contents"), 12, FORCED, "0.1.7", has_ended=True),
    Turn("0.11", None, 0, FORCED, "0.1"),
    Turn("0", Place("main", 2, "run", "choice", ""), 22, AMONG, "3"),
)


def test_text_and_back() -> None:
    schedule = Schedule("prog:main", "3.12", "accesses", TURNS)
    assert Schedule.parse(schedule.text()) == schedule


def test_a_turn_reads_like_a_sentence() -> None:
    assert str(TURNS[0]) == (
        "0.1 at Account.add+2 before write of balance, first time: 0.2 goes on"
    )


def test_comments_and_blank_lines_are_passed_over() -> None:
    text = WRITTEN.replace("points accesses\n", "points accesses\n\n# now it goes wrong\n")
    assert Schedule.parse(text) == Schedule.parse(WRITTEN)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "schedule, line 1: is no schedule"),
        ("hello", "schedule, line 1: is no schedule"),
        ("reenact schedule 2\n", "is of version 2"),
        (WRITTEN + "0.1 somewhere: 0 goes on\n", "schedule, line 7: '0.1 somewhere"),
        (WRITTEN.replace("first", "twice"), "schedule, line 5: .* 'twice' where a word"),
        (WRITTEN.replace("accesses", "dots"), "there are no points called 'dots'"),
    ],
)
def test_what_is_no_schedule_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        Schedule.parse(text)


def test_a_schedule_of_another_version_fails_here(tmp_path: Path) -> None:
    assert followed(tmp_path, LOST_UPDATE)["raised"] == "AssertionError"


def test_edits_elsewhere_do_not_matter(tmp_path: Path) -> None:
    moved = LOST_UPDATE.replace(
        "import threading\n", "import threading\n\nLIMIT = 3\n\n\ndef other():\n    return LIMIT\n"
    )
    assert followed(tmp_path, moved)["raised"] == "AssertionError"


def test_without_the_schedule_it_passes(tmp_path: Path) -> None:
    head = "".join(WRITTEN.splitlines(keepends=True)[:4])
    assert followed(tmp_path, LOST_UPDATE, head)["raised"] == ""


def test_a_place_that_is_never_reached_is_stale(tmp_path: Path) -> None:
    said = followed(tmp_path, LOST_UPDATE.replace("balance", "money"))
    assert said["raised"] == "StaleSchedule"
    assert "schedule, line 5" in said["text"]
    assert "it was last at Account.add+2 before write of money" in said["text"]


def test_a_thread_that_is_not_started_is_stale(tmp_path: Path) -> None:
    said = followed(tmp_path, LOST_UPDATE, WRITTEN.replace("0.1 at", "0.3 at"))
    assert said["raised"] == "StaleSchedule"
    assert "thread 0.3 never came to anything" in said["text"]


def test_a_thread_that_cannot_go_on_there_is_stale(tmp_path: Path) -> None:
    """The lock of the fix keeps it out; the places are those of the fixed program."""
    schedule = WRITTEN.replace("Account.add+2", "Account.add+3")
    schedule += "0.2 at Account.add+1 before acquire, first time: 0.3 goes on\n"
    said = followed(tmp_path, FIXED, schedule)
    assert said["raised"] == "StaleSchedule"
    assert "schedule, line 7" in said["text"]
    assert "thread 0.3 could not go on there" in said["text"]


DESCRIBE = """\
from reenact.explore.follow import describe
from reenact.explore.shrink import shrink
with Function(prog.main, Settings()) as runner:
    found = find()
    left = shrink(runner, found.switches, found.failure)
    schedule, ran = describe(runner, left, "prog:main", "accesses")
SCHEDULE = schedule.text()
say(schedule=SCHEDULE)
"""


@pytest.mark.parametrize(
    ("program", "raised"),
    [
        (LOST_UPDATE, "AssertionError"),
        (LOCK_ORDER, "Deadlock"),
        (LOST_WAKE_UP, "Deadlock"),
    ],
)
def test_what_was_found_can_be_followed(tmp_path: Path, program: str, raised: str) -> None:
    said = tried(tmp_path, program, DESCRIBE + FOLLOW)
    assert said["raised"] == raised


def test_a_deadlock_says_who_waits(tmp_path: Path) -> None:
    said = tried(tmp_path, LOCK_ORDER, DESCRIBE + FOLLOW)
    assert "thread 0.1 waits for a lock, held by thread 0.2 at" in said["text"]


def test_it_can_be_followed_under_pytest(tmp_path: Path) -> None:
    (tmp_path / "prog.py").write_text(LOST_UPDATE)
    (tmp_path / "test_it.py").write_text(
        f"import reenact, prog\nSCHEDULE = {WRITTEN!r}\n"
        "def test_it(): reenact.follow(prog.main, SCHEDULE)\n"
        "def test_again(): reenact.follow(prog.main, SCHEDULE)\n"
    )
    text = run_pytest(tmp_path)
    assert "2 failed" in text
    assert "account.balance == 130" in text
