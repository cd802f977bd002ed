"""The plugin beside pytest's options and other plugins."""

from __future__ import annotations

import textwrap

import pytest

from reenact_pytest import describe
from tests.plugin.harness import HAS_ENTRY_POINT, Bench

TESTS = """
    def test_alone():
        pass

    def test_race():
        counter = Counter()
        together(counter.add, counter.add)
        assert counter.value == 2

    def test_locked():
        counter = Counter()
        lock = threading.Lock()

        def add():
            with lock:
                counter.add()

        together(add, add)
        assert counter.value == 2

    def test_open():
        event = threading.Event()
        threading.Thread(target=event.wait, args=[1e9]).start()
"""


def test_without_the_option_nothing_of_reenact_is_imported(beside: Bench) -> None:
    beside.write(
        """
        import sys

        def test_it():
            assert "reenact" not in sys.modules
            assert "reenact_pytest.explorer" not in sys.modules
        """,
        head="",
    )
    session = beside.plain()
    assert session.counted == {"passed": 1}
    assert "reenact ===" not in session.out


@pytest.mark.skipif(not HAS_ENTRY_POINT, reason="the plugin is not installed")
def test_it_can_be_disabled(beside: Bench) -> None:
    beside.write("def test_it(): pass", head="")
    assert beside.plain("-p", "no:reenact").counted == {"passed": 1}
    session = beside.plain("-p", "no:reenact", "--reenact")
    assert session.code == 4
    assert "unrecognized arguments: --reenact" in session.out


def test_a_plain_run_afterwards_finds_no_points(bench: Bench) -> None:
    bench.write(TESTS + "\n    def test_constants():\n        assert 'reenact' not in codes()\n")
    (bench.path / "conftest.py").write_text(
        textwrap.dedent(
            """
            import builtins, sys

            def codes():
                module = sys.modules["test_it"]
                return repr(module.Counter.add.__code__.co_consts)

            builtins.codes = codes
            """
        )
    )
    bench.reenact("-k", "test_race")
    assert bench.plain("-k", "test_constants").counted["passed"] == 1


def test_first_failure_ends_the_session(bench: Bench) -> None:
    bench.write(TESTS)
    session = bench.reenact("-x")
    assert session.counted == {"passed": 1, "failed": 1}


def test_last_failed(bench: Bench) -> None:
    bench.write(TESTS)
    assert bench.reenact("-p", "cacheprovider").code == 1
    session = bench.reenact("-p", "cacheprovider", "--lf")
    assert session.counted == {"failed": 1}


def test_selection(bench: Bench) -> None:
    bench.write(TESTS)
    assert bench.reenact("-k", "locked").counted == {"passed": 1, "deselected": 3}


def test_xdist(beside: Bench) -> None:
    pytest.importorskip("xdist")
    beside.write(
        TESTS
        + """
    def test_race_for_locks():
        first, second = threading.Lock(), threading.Lock()

        def take(a, b):
            with a, b:
                pass

        together(lambda: take(first, second), lambda: take(second, first))
    """
    )
    session = beside.reenact("-n", "2")
    assert session.counted == {"passed": 2, "failed": 2, "inconclusive": 1}, session.out
    assert session.code == 1
    assert session.searched()[0] == 4
    assert session.single() == 1
    assert "assert 1 == 2" in session.out
    assert "INCONCLUSIVE test_it.py::test_open" in session.out
    assert beside.replay(session.replay_path()).counted["failed"] == 1
    session = beside.reenact("-n", "2", "-k", "not race")
    assert session.code == 7


def test_coverage(beside: Bench) -> None:
    pytest.importorskip("pytest_cov")
    beside.write(TESTS)
    plain = beside.plain("--cov=.", "--cov-report=term-missing", "-k", "race or locked")
    session = beside.reenact("--cov=.", "--cov-report=term-missing", "-k", "race or locked")
    assert session.counted == {"passed": 1, "failed": 1, "deselected": 2}, session.out

    def row(text: str) -> list[str]:
        rows = [line.split() for line in text.splitlines() if line.startswith("test_it.py ")]
        return next(row for row in rows if row[-1] != "[100%]")

    assert row(session.out) == row(plain.out)


def test_a_time_limit(beside: Bench) -> None:
    pytest.importorskip("pytest_timeout")
    beside.write(
        """
        def test_it():
            while True:
                together(int, int)
        """
    )
    session = beside.reenact("--timeout", "2")
    assert session.code == 1, session.out
    assert session.counted == {"failed": 1}


BETWEEN = """
    import pytest
    from reenact.explore.{module} import {owner}

    def strike(*args):
        pytest.fail("Timeout (>1.0s) from pytest-timeout.")

    {owner}.{name} = strike
"""


@pytest.mark.parametrize(
    ("module", "owner", "name", "said"),
    [
        ("search", "Search", "_next_plan", "the time limit struck"),
        ("explain", "Explanation", "text", "assert 1 == 2"),
    ],
)
def test_a_time_limit_that_strikes_between_schedules(
    bench: Bench, module: str, owner: str, name: str, said: str
) -> None:
    """A failure that was found by then is told."""
    head = BETWEEN.format(module=module, owner=owner, name=name)
    bench.write("", "conftest.py", head=head)
    bench.write(TESTS)
    session = bench.reenact("-k", "alone or race")
    assert session.counted == {"failed": 1, "passed": 1, "deselected": 2}, session.out
    assert said in session.out
    assert "it is for all of them together" in session.out


def test_a_time_limit_that_is_not_reached(beside: Bench) -> None:
    pytest.importorskip("pytest_timeout")
    beside.write(TESTS)
    for method in ("signal", "thread"):
        session = beside.reenact("--timeout", "60", "--timeout-method", method, "-k", "locked")
        assert session.counted == {"passed": 1, "deselected": 3}, session.out


DEADLOCK = """
    import signal

    def deadlock():
        first, second = threading.Lock(), threading.Lock()

        def one():
            with first, second:
                pass

        def other():
            with second, first:
                pass

        together(one, other)
"""


def test_with_a_time_limit_a_deadlock_is_still_one(beside: Bench) -> None:
    """Its handler is not the program's, which can hope for no signal."""
    pytest.importorskip("pytest_timeout")
    beside.write(DEADLOCK + "\n    def test_it():\n        deadlock()\n")
    session = beside.reenact("--timeout", "50")
    assert session.counted == {"failed": 1}, session.out
    assert "deadlock: thread 0.1 -> thread 0.2" in session.out, session.out


def test_a_handler_that_was_taken_back_wakes_nobody(beside: Bench) -> None:
    pytest.importorskip("pytest_timeout")
    beside.write(
        DEADLOCK
        + """
    def test_it():
        signal.signal(signal.SIGUSR1, lambda *args: None)
        signal.signal(signal.SIGUSR1, signal.SIG_DFL)
        deadlock()
"""
    )
    session = beside.reenact("--timeout", "50")
    assert "deadlock: thread 0.1 -> thread 0.2" in session.out, session.out


def test_an_alarm_that_the_test_has_set_wakes_it(bench: Bench) -> None:
    bench.write(
        """
        import signal

        class Enough(Exception):
            pass

        def stop(*args):
            raise Enough

        signal.signal(signal.SIGALRM, stop)

        def test_it():
            lock = threading.Lock()
            together(int, int)
            lock.acquire()
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            with pytest.raises(Enough):
                lock.acquire()
        """
    )
    assert bench.reenact("--reenact-runs", "3").counted == {"passed": 1}


def test_asyncio(beside: Bench) -> None:
    pytest.importorskip("pytest_asyncio")
    beside.write(
        """
        import asyncio
        import pytest_asyncio

        @pytest_asyncio.fixture
        async def items():
            await asyncio.sleep(0)
            yield []

        @pytest_asyncio.fixture(loop_scope="session", scope="session")
        async def shared():
            await asyncio.sleep(0)
            yield []

        @pytest.mark.asyncio
        async def test_tasks(items):
            async def add(number):
                await asyncio.sleep(0)
                items.append(number)

            await asyncio.gather(*(add(number) for number in range(3)))
            assert sorted(items) == [0, 1, 2]

        @pytest.mark.asyncio(loop_scope="session")
        async def test_shared(shared):
            await asyncio.gather(asyncio.sleep(0.01), asyncio.sleep(0.02))
            shared.append(1)

        @pytest.mark.asyncio
        async def test_in_a_thread():
            counter = Counter()
            await asyncio.gather(
                asyncio.to_thread(counter.add), asyncio.to_thread(counter.add)
            )
            assert counter.value == 2

        @pytest.mark.asyncio
        async def test_order():
            order = []

            async def note(number):
                order.append(number)

            await asyncio.gather(note(1), note(2))
            assert order == [1, 2]
        """
    )
    assert beside.plain().counted == {"passed": 4}
    session = beside.reenact("-v")
    assert "test_tasks PASSED" in session.out
    assert "test_shared PASSED" in session.out
    assert "test_in_a_thread FAILED" in session.out
    assert "test_order FAILED" in session.out
    assert session.counted == {"passed": 2, "failed": 2}


def test_anyio(beside: Bench) -> None:
    pytest.importorskip("anyio")
    beside.write(
        """
        import anyio

        pytestmark = pytest.mark.anyio

        @pytest.fixture
        def anyio_backend():
            return "asyncio"

        @pytest.fixture
        async def items():
            await anyio.sleep(0)
            return []

        async def test_tasks(items):
            async def add(number):
                await anyio.sleep(0.01)
                items.append(number)

            async with anyio.create_task_group() as group:
                for number in range(3):
                    group.start_soon(add, number)
            assert sorted(items) == [0, 1, 2]

        async def test_in_a_thread():
            counter = Counter()
            async with anyio.create_task_group() as group:
                for _ in range(2):
                    group.start_soon(anyio.to_thread.run_sync, counter.add)
            assert counter.value == 2
        """
    )
    assert beside.plain().counted == {"passed": 2}
    session = beside.reenact("-v", "--reenact-runs", "400")
    assert "test_tasks PASSED" in session.out, session.out
    assert "test_in_a_thread FAILED" in session.out, session.out


def test_the_options_are_in_the_help(bench: Bench) -> None:
    session = bench.plain("--help")
    names = "runs seconds strategy seed patience points instrument replay"
    for name in names.split():
        assert f"--reenact-{name}" in session.out
    assert "@pytest.mark.reenact(" in bench.plain("--markers").out


def test_shrinking_takes_no_longer_than_the_search_may() -> None:
    assert describe.budget(0.01, 30) == describe.SHRINKING_RUNS
    assert describe.budget(2.0, 30) == 15
    assert describe.budget(40.0, 30) == 0
    assert describe.budget(40.0, None) == describe.SHRINKING_RUNS
