"""`--reenact-races`: tests that pass in every schedule, and race."""

from __future__ import annotations

import pytest

from tests.plugin.harness import Bench

# Two threads count, and nobody looks at the sum.
TESTS = """
    def test_racy():
        counter = Counter()
        together(counter.add, counter.add)

    def test_locked():
        counter, lock = Counter(), threading.Lock()

        def add():
            with lock:
                counter.add()

        together(add, add)
        assert counter.value == 2

    def test_alone():
        counter = Counter()
        counter.add()
        assert counter.value == 1
"""
RACE = "race on Counter.value: test_it.py:11 and test_it.py:10, and 1 more"


@pytest.fixture(autouse=True)
def written(bench: Bench) -> None:
    bench.write(TESTS)


def test_a_test_that_races_fails_with_the_report_and_does_so_again(bench: Bench) -> None:
    session = bench.reenact("--reenact-races")
    assert session.counted == {"failed": 1, "passed": 2}, session.out
    assert session.code == 1
    assert session.single() == 1
    assert f"FAILED test_it.py::test_racy: {RACE}" in session.out
    assert "error: race on Counter.value of <Counter at 0x" in session.out
    assert session.out.count("nothing orders it with this: thread 2") == 2, "told twice"
    assert "reachable with the GIL\nreenact schedule 1" in session.out
    again = bench.replay(session.replay_path())
    assert again.counted == {"failed": 1, "deselected": 2}
    assert "It failed as it had been saved" in again.out
    assert RACE in again.out


def test_nobody_looks_unless_told_to(bench: Bench) -> None:
    assert bench.reenact().counted == {"passed": 3}


def test_the_option_alone_explores(bench: Bench) -> None:
    session = bench.plain("--reenact-races", "--reenact-runs", "20", "-k", "racy")
    assert session.counted == {"failed": 1, "deselected": 2}
    assert session.searched() == (1, 1)


def test_the_marker_says_otherwise(bench: Bench) -> None:
    mark = "    @pytest.mark.reenact(races={})\n    def test_racy"
    bench.write(TESTS.replace("    def test_racy", mark.format(True)))
    assert bench.reenact("-k", "racy").counted == {"failed": 1, "deselected": 2}
    bench.write(TESTS.replace("    def test_racy", mark.format(False)))
    assert bench.reenact("--reenact-races").counted == {"passed": 3}


def test_what_is_let_be(bench: Bench) -> None:
    (bench.path / "pyproject.toml").write_text('[tool.reenact.races]\nignore = ["Counter.*"]\n')
    session = bench.reenact("--reenact-races")
    assert session.counted == {"passed": 3}, session.out
    assert session.code == 0


def test_an_error_of_a_thread_that_the_test_is_used_to_hides_no_race(bench: Bench) -> None:
    body = """
        def test_racy():
            counter = Counter()

            def work():
                counter.add()
                raise ValueError("as ever")

            together(work, work)
    """
    bench.write(body)
    session = bench.reenact(
        "--reenact-races", "-W", "ignore::pytest.PytestUnhandledThreadExceptionWarning"
    )
    assert session.counted == {"failed": 1}, session.out
    assert RACE in session.out


def test_points_that_see_no_races(bench: Bench) -> None:
    session = bench.reenact("--reenact-races", "--reenact-points", "sync")
    assert session.code == pytest.ExitCode.USAGE_ERROR
    assert "--reenact-races: races are found at accesses" in session.out
