"""`--reenact-replay PATH --pdb`: a saved failure is looked into backwards."""

from __future__ import annotations

import re
from typing import Any

import pytest

from reenact.strategies.searching import AMONG, FORCED, PREEMPTS, Switch
from reenact_pytest.recorded import moved
from tests.plugin.harness import Bench

RACE = """
    def test_race():
        counter = Counter()
        together(counter.add, counter.add)
        total = counter.value
        assert total == 2
"""


class Terminal:
    """pytest at a terminal, and somebody who types."""

    def __init__(self, bench: Bench, *args: str) -> None:
        pytest.importorskip("pexpect")
        self.child: Any = bench.spawn("-p", "no:cacheprovider", *args)

    def sees(self, pattern: str) -> str:
        self.child.expect(pattern)
        return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", self.child.before.decode())

    def types(self, line: str) -> str:
        """What comes before the next prompt."""
        self.child.sendline(line)
        self.sees(re.escape(line))
        return self.sees(r"\(reenact [^)]*\)")

    def ends(self) -> int:
        self.child.wait()
        status: int = self.child.exitstatus
        return status


def test_the_debugger_opens_at_the_failure(bench: Bench) -> None:
    bench.write(RACE)
    path = bench.reenact().replay_path()
    terminal = Terminal(bench, "--reenact-replay", path, "--pdb")
    opened = terminal.sees(r"\(reenact [^)]*\)")
    assert "it failed here" in opened
    assert "test_it.py(25)test_race()" in opened and "-> assert total == 2" in opened
    where = terminal.types("where")
    assert "pytest_pyfunc_call" in where and "reenact_pytest" not in where
    assert where.rstrip().endswith("-> assert total == 2")
    assert "(24)test_race()" in terminal.types("reverse-step")
    wrote = terminal.types("last-write counter.value")
    assert "[thread 1 Thread-1 (add)]" in wrote and "self.value = value + 1" in wrote
    threads = terminal.types("threads")
    assert "MainThread: waits" in threads or "MainThread: runs" in threads
    assert "*  1 0.1     Thread-1 (add)" in threads
    terminal.child.sendline("q")
    terminal.sees(r"= FAILURES =")
    rest = terminal.sees(r"\d failed")
    assert "It failed as it had been saved" in rest
    assert terminal.ends() == 1


DEADLOCK = """
    def test_locks():
        locks = [threading.Lock(), threading.Lock()]

        def take(first, second):
            with locks[first]:
                with locks[second]:
                    pass

        together(lambda: take(0, 1), lambda: take(1, 0))
"""


def test_commands_come_from_standard_input_as_well(bench: Bench) -> None:
    """And a deadlock, of which pytest knows no frames, can be looked into."""
    bench.write(DEADLOCK)
    path = bench.reenact().replay_path()
    session = bench.typing("threads\n", "--reenact-replay", path, "--pdb")
    assert "deadlock: all threads wait for ever" in session.out, session.out
    assert re.search(r"0\.1 .*waits .*which thread 2 has", session.out)
    assert "entering PDB" not in session.out
    assert session.code == 1


# Modules count how often they were loaded: by the search, by the replay, and to be recorded.
FICKLE = """
    from contextlib import nullcontext
    from pathlib import Path

    loads = Path(__file__).with_name("loads")
    count = len(loads.read_text()) if loads.exists() else 0
    loads.write_text("x" * (count + 1))
    lock = nullcontext() if count < 2 else threading.Lock()

    def test_race():
        counter = Counter()

        def add():
            with lock:
                counter.add()

        together(add, add)
        assert counter.value == 2
"""


def test_a_failure_that_is_not_recorded_is_left_to_pdb(bench: Bench) -> None:
    bench.write(FICKLE)
    path = bench.reenact().replay_path()
    session = bench.typing("p 'it is', counter.value\n", "--reenact-replay", path, "--pdb")
    assert "no time travel, but pdb: the run did not fail again" in session.out, session.out
    assert "entering PDB" in session.out and "('it is', 1)" in session.out
    assert "it failed here" not in session.out
    assert not list(bench.path.glob(".reenact/*.reenact"))


def test_a_debugger_that_is_named_is_opened(bench: Bench) -> None:
    bench.write(RACE)
    path = bench.reenact().replay_path()
    args = ("--reenact-replay", path, "--pdb", "--pdbcls=pdb:Pdb")
    session = bench.typing("p 'it is', total\n", *args)
    assert "entering reenact debug" not in session.out
    assert "('it is', 1)" in session.out


def test_a_session_that_is_recorded_does_not_explore(bench: Bench) -> None:
    bench.write(RACE)
    command = ("-m", "reenact", "record", "-o", "r.reenact", "-m", "pytest", "--reenact")
    result = bench.pytester.runpython_c(
        f"import runpy, sys; sys.argv = {list(command[1:])!r}; runpy.run_module('reenact')"
    )
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*this session is recorded, and cannot explore*"])


def test_choices_are_moved_to_threads_of_a_later_run() -> None:
    """Two threads were there, of which main had started one; now there are two more."""
    before, now = [(-1, 0), (0, 1)], [(-1, 0), (0, 1), (0, 2), (2, 1)]
    given = (
        Switch(2, 7, 0, PREEMPTS),
        Switch(0, 9, 3, FORCED),
        Switch(0, 9, 2, AMONG),
        Switch(1, 4, ~(0 << 16 | 2), PREEMPTS),
        Switch(-1, 0, ~(2 << 16 | 1), PREEMPTS),
    )
    assert moved(given, before, before) == given
    assert moved(given, before, now) == (
        Switch(4, 7, 0, PREEMPTS),
        Switch(0, 9, 5, FORCED),
        Switch(0, 9, 2, AMONG),
        Switch(1, 4, ~(0 << 16 | 3), PREEMPTS),
        Switch(-1, 0, ~(4 << 16 | 1), PREEMPTS),
    )
