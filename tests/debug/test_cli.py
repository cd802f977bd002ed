"""`reenact debug` as a command."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from .sessions import record, reenact


def test_commands_from_standard_input(recordings: dict[str, Path]) -> None:
    path = recordings["lost"]
    done = reenact(path.parent, "debug", path.name, typed="p shelf.loaves\nquit\nwhere\n")
    lines = done.stdout.splitlines()
    assert (done.returncode, done.stderr) == (0, "")
    assert lines[0].startswith("lost.reenact: ")
    assert lines[0].endswith("3 threads; exited with code 1; `help` shows all commands")
    assert lines[1:4] == [
        "it failed here: ValueError: a sale was lost",
        "> lost.py(31)main()",
        '-> raise ValueError("a sale was lost")',
    ]
    assert lines[4].endswith(" thread 0) p shelf.loaves")
    assert lines[5] == "8"
    assert lines[6].endswith(" thread 0) quit")
    assert len(lines) == 7
    assert "\x1b" not in done.stdout


def test_commands_from_the_command_line(recordings: dict[str, Path], tmp_path: Path) -> None:
    words = ("-c", "last-write shelf.loaves", "--command", "p before")
    done = reenact(tmp_path, "debug", str(recordings["lost"]), *words)
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == "10"


def test_a_command_that_fails_is_no_failure_of_the_session(recordings: dict[str, Path]) -> None:
    done = reenact(recordings["calls"].parent, "debug", "calls.reenact", "-c", "up")
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == "*** this is the oldest frame"


@pytest.mark.parametrize("what", ["missing", "foreign", "cut"])
def test_a_recording_that_cannot_be_used(
    recordings: dict[str, Path], tmp_path: Path, what: str
) -> None:
    path = tmp_path / "bad.reenact"
    if what == "foreign":
        path.write_text("something else")
    elif what == "cut":
        path.write_bytes(recordings["calls"].read_bytes()[:500])
    done = reenact(tmp_path, "debug", path.name, "-c", "where")
    replayed = reenact(tmp_path, "replay", path.name)
    assert (done.returncode, done.stdout) == (121, "")
    assert done.stderr == replayed.stderr
    assert done.stderr.startswith("reenact: bad.reenact: ")


def test_a_program_that_is_gone(tmp_path: Path) -> None:
    path = record(tmp_path, "gone", "print(1)\n")
    (tmp_path / "gone.py").unlink()
    done = reenact(tmp_path, "debug", path.name, "-c", "where")
    assert done.returncode == 121
    assert "recording-unfit" in done.stderr


def test_a_program_that_has_changed_is_said(tmp_path: Path) -> None:
    path = record(tmp_path, "changed", "print(1)\n")
    (tmp_path / "changed.py").write_text("print(1) \n")
    done = reenact(tmp_path, "debug", path.name, "-c", "output")
    assert "changed.py has changed since it was recorded" in done.stderr


def test_what_the_program_prints_cannot_command_the_terminal(tmp_path: Path) -> None:
    path = record(tmp_path, "evil", "name = '\\x1b[2J'\nprint(name)\n")
    done = reenact(tmp_path, "debug", path.name, typed="output\nb 2\nrc\np [name]\nname\n")
    assert "\x1b" not in done.stdout
    assert "\\x1b[2J" in done.stdout


def test_a_deadlock(tmp_path: Path) -> None:
    source = Path(__file__).parents[1] / "programs/deadlock_two_locks.py"
    path = record(tmp_path, "deadlock", source.read_text("utf-8"))
    done = reenact(tmp_path, "debug", path.name, "-c", "threads", "-c", "where")
    lines = done.stdout.splitlines()
    assert "deadlock: all threads wait for ever (`threads` says for what)" in lines
    assert sum("waits (acquire lock" in line and ", which thread " in line for line in lines) >= 2


def test_an_exception_that_ends_a_thread(tmp_path: Path) -> None:
    source = (
        "import threading\n\n\ndef work():\n    raise OSError('broken')\n\n\n"
        "thread = threading.Thread(target=work)\nthread.start()\nthread.join()\nprint('done')\n"
    )
    path = record(tmp_path, "thread", source)
    done = reenact(tmp_path, "debug", path.name, "-c", "where")
    assert done.stdout.splitlines()[1:3] == [
        "it failed here: OSError: broken",
        "> thread.py(5)work()",
    ]
    assert " thread 1) where" in done.stdout


def test_others_that_are_caught_on_the_way_of_the_exception_that_is_not(tmp_path: Path) -> None:
    source = (
        "def work():\n    raise OSError('broken')\n\n\ndef tidy_up():\n    try:\n"
        "        {}['nothing']\n    except KeyError:\n        pass\n\n\n"
        "try:\n    work()\nexcept OSError as error:\n    tidy_up()\n    raise error\n"
    )
    path = record(tmp_path, "caught", source)
    done = reenact(tmp_path, "debug", path.name, "-c", "where")
    assert done.stdout.splitlines()[2:4] == [
        "> caught.py(2)work()",
        "-> raise OSError('broken')",
    ]


def test_a_program_that_was_killed(tmp_path: Path) -> None:
    source = "import os\nx = 1\nprint(x, flush=True)\nos.kill(os.getpid(), 9)\n"
    path = record(tmp_path, "killed", source)
    done = reenact(tmp_path, "debug", path.name, typed="output\nb 3\nrc\np x\n")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "1"


def test_nothing_is_left_behind(recordings: dict[str, Path], tmp_path: Path) -> None:
    place = tmp_path / "tmp"
    place.mkdir()
    copy = shutil.copy(recordings["calls"], tmp_path)
    shutil.copy(recordings["calls"].with_suffix(".py"), tmp_path)
    done = reenact(tmp_path, "debug", str(copy), "-c", "rc")
    assert done.returncode == 0
    assert sorted(each.name for each in tmp_path.iterdir()) == ["calls.py", "calls.reenact", "tmp"]


def test_breakpoint_in_the_program_opens_it(tmp_path: Path) -> None:
    """It is passed by while the program is recorded and replayed; a session stops there."""
    source = (
        "import threading\n\n\ndef work(number):\n    doubled = 2 * number\n    breakpoint()\n"
        "    print(doubled)\n\n\nfor number in range(3):\n"
        "    thread = threading.Thread(target=work, args=(number,))\n"
        "    thread.start()\n    thread.join()\n"
    )
    path = record(tmp_path, "marked", source)
    assert reenact(tmp_path, "replay", path.name).stdout == "0\n2\n4\n"
    words = "p doubled\nc\np doubled\nc\np doubled\nc\nrc\nrc\np doubled\nbreak\n"
    done = reenact(tmp_path, "debug", path.name, typed=words)
    lines = done.stdout.splitlines()
    assert lines[1:4] == ["breakpoint 1", "> marked.py(6)work()", "-> breakpoint()"]
    assert [each for each in lines if each.isdecimal()] == ["0", "2", "4", "2"]
    assert lines[-1] == "breakpoint 1 at marked.py:6"


def test_at_a_failure_it_opens_there_rather_than_at_breakpoint(tmp_path: Path) -> None:
    path = record(tmp_path, "both", "breakpoint()\nx = 1\nassert not x\n")
    done = reenact(tmp_path, "debug", path.name, "-c", "rc")
    lines = done.stdout.splitlines()
    assert lines[1].startswith("it failed here: AssertionError")
    assert lines[-3:] == ["breakpoint 1", "> both.py(1)<module>()", "-> breakpoint()"]
