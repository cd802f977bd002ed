"""A failure is saved, and comes again."""

from __future__ import annotations

import json
import sys

import pytest

from tests.plugin.harness import Bench

TESTS = """
    def test_race():
        counter = Counter()
        together(counter.add, counter.add)
        total = counter.value
        assert total == 2

    @pytest.mark.parametrize("name", ["a/b", "c d"])
    def test_locks(name):
        locks = [threading.Lock(), threading.Lock()]

        def take(first, second):
            with locks[first]:
                with locks[second]:
                    pass

        together(lambda: take(0, 1), lambda: take(1, 0))
"""


def test_it_fails_again_in_the_same_way(bench: Bench) -> None:
    bench.write(TESTS)
    path = bench.reenact("-k", "test_race").replay_path()
    for _ in range(2):
        session = bench.replay(path)
        assert session.counted == {"failed": 1, "deselected": 2}
        assert session.code == 1
        assert "assert 1 == 2" in session.out
        assert "It failed as it had been saved" in session.out


def test_a_deadlock_comes_again(bench: Bench) -> None:
    bench.write(TESTS)
    path = bench.reenact("-k", "test_locks and b").replay_path()
    session = bench.replay(path)
    assert session.counted == {"failed": 1, "deselected": 2}, session.out
    assert "waits for lock, held by thread" in session.out
    assert "It failed as it had been saved" in session.out


def test_the_points_are_those_of_the_search(bench: Bench) -> None:
    bench.write(TESTS)
    path = bench.reenact("-k", "test_locks and b", "--reenact-points", "ticks").replay_path()
    session = bench.replay(path)
    assert "It failed as it had been saved" in session.out, session.out


def test_the_file_has_what_it_takes(bench: Bench) -> None:
    bench.write(TESTS)
    path = bench.reenact("-k", "test_race", "--reenact-points", "accesses").replay_path()
    kept = json.loads((bench.path / path).read_text("utf-8"))
    assert kept["reenact_pytest"] == 1
    assert kept["test"] == "test_it.py::test_race"
    assert kept["points"] == "accesses"
    assert kept["python"] == ".".join(map(str, sys.version_info[:3]))
    assert kept["failure"]["kind"] == "assertion"
    assert kept["failure"]["summary"] == "AssertionError: assert 1 == 2"
    assert all(len(switch) == 4 for switch in kept["switches"])


def test_a_fixed_test_is_said_not_to_fail(bench: Bench) -> None:
    bench.write(TESTS)
    path = bench.reenact("-k", "test_race").replay_path()
    bench.write(TESTS.replace("counter.add, counter.add", "counter.add"))
    bench.write(TESTS.replace("assert total == 2", "assert total >= 1"))
    session = bench.replay(path)
    assert session.counted == {"inconclusive": 1, "deselected": 2}, session.out
    assert session.code == 7
    assert "the saved failure did not come again" in session.out


def test_another_failure_is_said_to_be_another(bench: Bench) -> None:
    bench.write(TESTS)
    path = bench.reenact("-k", "test_race").replay_path()
    bench.write(TESTS.replace("assert total == 2", "raise KeyError(total)"))
    session = bench.replay(path)
    assert session.counted == {"failed": 1, "deselected": 2}
    assert "not as it had been saved: AssertionError: assert 1 == 2" in session.out


@pytest.mark.parametrize("content", ["", "[]", '{"reenact_pytest": 99}', '{"reenact_pytest": 1}'])
def test_a_file_that_is_none(bench: Bench, content: str) -> None:
    bench.write(TESTS)
    (bench.path / "bad.json").write_text(content, "utf-8")
    session = bench.replay("bad.json")
    assert session.code == 4
    assert "--reenact-replay: bad.json" in session.out


def test_a_test_that_is_gone(bench: Bench) -> None:
    bench.write(TESTS)
    path = bench.reenact("-k", "test_race").replay_path()
    bench.write("def test_other(): pass")
    session = bench.replay(path)
    assert session.code == 4
    assert "there is no test test_it.py::test_race" in session.out
