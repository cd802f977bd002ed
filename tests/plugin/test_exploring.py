"""Existing tests, unmodified, run under many schedules."""

from __future__ import annotations

import pytest

from tests.plugin.harness import Bench

RACE = """
    def test_race():
        counter = Counter()
        together(counter.add, counter.add)
        assert counter.value == 2
"""

LOCKED = """
    def test_locked():
        counter = Counter()
        lock = threading.Lock()

        def add():
            with lock:
                counter.add()

        together(add, add)
        assert counter.value == 2
"""


def test_a_race_that_plain_pytest_does_not_see(bench: Bench) -> None:
    bench.write(RACE)
    assert bench.plain().counted == {"passed": 1}
    session = bench.reenact()
    assert session.counted == {"failed": 1}
    assert session.code == 1
    assert "assert 1 == 2" in session.out
    assert "where 1 = <test_it.Counter object" in session.out  # pytest's rewriting is at work
    assert "--reenact-replay .reenact/test_it.py_test_race-" in session.out


def test_correct_code_passes_and_all_of_it_is_seen(bench: Bench) -> None:
    bench.write(LOCKED)
    session = bench.reenact()
    assert session.counted == {"passed": 1}
    assert session.code == 0
    assert session.searched()[0] == 1
    assert session.searched()[1] > 1
    assert "of 1 test every execution was seen" in session.out


def test_the_users_modules_have_points(bench: Bench) -> None:
    bench.write("", name="shared.py")
    bench.write(
        """
        import shared

        def test_race():
            counter = shared.Counter()
            shared.together(counter.add, counter.add)
            assert counter.value == 2
        """,
        head="",
    )
    assert bench.reenact().counted == {"failed": 1}


def test_without_points_at_accesses_the_race_is_not_seen(bench: Bench) -> None:
    bench.write(RACE)
    assert bench.reenact("--reenact-points", "sync").counted == {"passed": 1}


def test_an_installed_package_has_points_if_asked_for(bench: Bench) -> None:
    package = bench.path / "site-packages" / "counting"
    package.mkdir(parents=True)
    bench.write("", name="site-packages/counting/__init__.py")
    bench.write(
        """
        import counting

        def test_race():
            counter = counting.Counter()
            counting.together(counter.add, counter.add)
            assert counter.value == 2
        """,
        head="import sys, os; sys.path.append(os.path.join(os.getcwd(), 'site-packages'))",
    )
    assert bench.reenact().counted == {"passed": 1}
    assert bench.reenact("--reenact-instrument", "counting").counted == {"failed": 1}


def test_a_deadlock_says_who_waits_for_whom(bench: Bench) -> None:
    bench.write(
        """
        def test_locks():
            first, second = threading.Lock(), threading.Lock()

            def one():
                with first, second:
                    pass

            def other():
                with second, first:
                    pass

            together(one, other)
        """
    )
    assert bench.plain().counted == {"passed": 1}
    session = bench.reenact()
    assert session.counted == {"failed": 1}
    assert "deadlock: thread 0.1 -> thread 0.2 -> thread 0.1" in session.out
    assert "thread 0.1 waits for lock, held by thread 0.2" in session.out
    assert "with first, second:" in session.out


def test_function_fixtures_are_fresh_in_each_schedule_and_others_are_set_up_once(
    bench: Bench,
) -> None:
    bench.write(
        """
        @pytest.fixture
        def counter(log):
            log.append("set up")
            yield Counter()
            log.append("torn down")

        @pytest.fixture(scope="session")
        def of_session(log):
            log.append("session")

        @pytest.fixture(scope="module")
        def log():
            lines = []
            yield lines
            runs = lines.count("set up")
            assert runs > 1
            assert lines == ["module"] + ["set up", "torn down"] * runs

        @pytest.fixture(scope="module", autouse=True)
        def of_module(log):
            log.append("module")

        @pytest.fixture(scope="class")
        def of_class():
            return []

        class TestIt:
            def test_locked(self, counter, of_class):
                lock = threading.Lock()

                def add():
                    with lock:
                        counter.add()

                together(add, add)
                assert counter.value == 2
                of_class.append(1)

            def test_class_fixture_was_shared(self, of_class):
                assert len(of_class) > 1
        """
    )
    session = bench.reenact()
    assert session.counted == {"passed": 2}, session.out
    assert session.single() == 1


def test_threads_of_a_session_fixture_take_part(bench: Bench) -> None:
    bench.write(
        """
        import queue

        @pytest.fixture(scope="session")
        def server():
            requests = queue.Queue()

            def serve():
                while (request := requests.get()) is not None:
                    request()

            thread = threading.Thread(target=serve)
            thread.start()
            yield requests
            requests.put(None)
            thread.join()

        def race(server):
            counter = Counter()
            done = threading.Event()
            server.put(counter.add)
            server.put(done.set)
            counter.add()
            done.wait()
            assert counter.value == 2

        def test_race(server):
            race(server)

        def test_dynamic(request):
            race(request.getfixturevalue("server"))
        """
    )
    assert bench.plain().counted == {"passed": 2}
    for name in ("test_race", "test_dynamic"):
        session = bench.reenact("-k", name)
        assert session.counted == {"failed": 1, "deselected": 1}, session.out
        assert "assert 1 == 2" in session.out


def test_parameters_classes_and_built_in_fixtures(bench: Bench) -> None:
    bench.write(
        """
        import logging

        class TestIt:
            @pytest.fixture(params=["a", "b"])
            def letter(self, request):
                return request.param

            @pytest.mark.parametrize("locked", [True, False])
            def test_add(self, letter, locked, tmp_path, monkeypatch, capsys, caplog):
                assert list(tmp_path.iterdir()) == []
                (tmp_path / "file").write_text(letter)
                monkeypatch.setattr(Counter, "extra", 1, raising=False)
                counter = Counter()
                lock = threading.Lock()

                def add():
                    if locked:
                        lock.acquire()
                    counter.add()
                    if locked:
                        lock.release()

                together(add, add)
                print(letter)
                logging.getLogger().warning(letter)
                assert capsys.readouterr().out == letter + chr(10)
                assert caplog.messages == [letter]
                assert counter.value == 2

        def test_the_patch_was_undone():
            assert not hasattr(Counter, "extra")
        """
    )
    session = bench.reenact("-v")
    assert session.counted == {"passed": 3, "failed": 2}, session.out
    assert "test_add[a-True] PASSED" in session.out
    assert "test_add[b-False] FAILED" in session.out


def test_a_monkeypatch_is_undone_after_a_deadlock_in_the_teardown(bench: Bench) -> None:
    bench.write(
        """
        @pytest.fixture
        def stuck(monkeypatch):
            yield
            threading.Lock().acquire()
            lock = threading.Lock()
            lock.acquire()
            lock.acquire()

        def test_stuck(monkeypatch, stuck):
            monkeypatch.setattr(Counter, "extra", 1, raising=False)

        def test_the_patch_was_undone():
            assert not hasattr(Counter, "extra")
        """
    )
    session = bench.reenact("-v")
    assert session.counted == {"passed": 1, "failed": 1}, session.out
    assert "test_stuck FAILED" in session.out
    assert "deadlock" in session.out


def test_unittest(bench: Bench) -> None:
    bench.write(
        """
        import unittest

        class TestIt(unittest.TestCase):
            classes = 0

            @classmethod
            def setUpClass(cls):
                cls.classes += 1

            def setUp(self):
                self.counter = Counter()
                self.addCleanup(setattr, self, "counter", None)

            def test_race(self):
                together(self.counter.add, self.counter.add)
                self.assertEqual(self.counter.value, 2)

            def test_locked(self):
                lock = threading.Lock()

                def add():
                    with lock:
                        self.counter.add()

                together(add, add)
                self.assertEqual(self.counter.value, 2)
                self.assertEqual(self.classes, 1)

            @unittest.expectedFailure
            def test_expected(self):
                together(self.counter.add, self.counter.add)
                self.assertEqual(self.counter.value, 3)

            @unittest.skip("not today")
            def test_skipped(self):
                raise AssertionError

            def test_parts(self):
                for i in range(3):
                    with self.subTest(i=i):
                        self.assertLess(i, 3)
        """
    )
    plain = bench.plain().counted
    session = bench.reenact("-v")
    assert session.counted == {**plain, "failed": 1, "passed": plain["passed"] - 1}, session.out
    assert "TestIt::test_race FAILED" in session.out


def test_subtests_are_reported_once(bench: Bench) -> None:
    pytest.importorskip("_pytest.subtests")
    bench.write(
        """
        def test_parts(subtests):
            for i in range(2):
                with subtests.test(i=i):
                    counter = Counter()
                    together(counter.add, counter.add)
                    assert counter.value == 2
        """
    )
    plain = bench.plain("-v")
    assert plain.out.count("SUBPASSED") == 2
    session = bench.reenact("-v")
    assert session.code == 1
    lines = [line for line in session.out.splitlines() if line.startswith("test_it.py::test_parts")]
    assert sum("SUBPASSED" in line or "SUBFAILED" in line for line in lines) == 2, session.out
    assert "a subtest failed: assert 1 == 2" in session.out


def test_plain_failures_skips_and_expected_failures_are_reported_as_ever(bench: Bench) -> None:
    bench.write(
        """
        def test_fails():
            assert [1, 2] == [1, 3]

        def test_error(broken):
            pass

        @pytest.fixture
        def broken():
            raise ValueError("broken")

        @pytest.fixture
        def leaves():
            yield
            raise ValueError("left")

        def test_error_at_the_end(leaves):
            pass

        @pytest.fixture(scope="session")
        def never():
            raise RuntimeError("set up for nothing")

        @pytest.mark.skip
        def test_skipped(never):
            pass

        @pytest.mark.skipif(True, reason="so")
        def test_skipped_if():
            pass

        def test_skips_itself():
            pytest.skip("in the middle")

        @pytest.mark.xfail
        def test_xfail():
            assert False

        @pytest.mark.xfail(run=False)
        def test_not_run(never):
            pass

        @pytest.mark.xfail
        def test_xpass():
            pass

        @pytest.mark.xfail(strict=True)
        def test_strict():
            pass

        def test_exits():
            raise SystemExit(0)
        """
    )
    plain = bench.plain("-v")
    session = bench.reenact("-v")
    assert session.counted == plain.counted
    assert session.code == plain.code
    assert "set up for nothing" not in session.out


def test_a_race_in_a_test_that_is_expected_to_fail(bench: Bench) -> None:
    bench.write("@pytest.mark.xfail\n" + RACE.replace("\n    ", "\n"))
    assert bench.plain().counted == {"xpassed": 1}
    assert bench.reenact().counted == {"xfailed": 1}


def test_tests_without_concurrency_run_once(bench: Bench) -> None:
    bench.write(
        """
        calls = []

        def test_alone():
            calls.append(1)

        def test_it_was_called_once():
            assert calls == [1]
        """
    )
    session = bench.reenact()
    assert session.counted == {"passed": 2}
    assert session.single() == 2
    assert session.searched() == (0, 0)


def test_the_marker_says_how(bench: Bench) -> None:
    bench.write(
        """
        runs = []

        def add_both():
            runs.append(1)
            counter = Counter()
            together(counter.add, counter.add)
            assert counter.value == 2

        @pytest.mark.reenact(runs=3, strategy="queue")
        def test_once():
            add_both()
            assert len(runs) == 1

        @pytest.mark.reenact(skip=True)
        def test_never():
            runs.clear()
            add_both()
            assert len(runs) == 1

        @pytest.mark.reenact(runs=5, strategy="random", seed=3)
        def test_five():
            runs.append(1)
            together(int, int)

        def test_it_was_five():
            assert len(runs) == 2 + 5
        """
    )
    session = bench.reenact("--strict-markers", "--tb=short")
    assert session.counted == {"passed": 4}, session.out


def test_a_marker_that_is_not_understood(bench: Bench) -> None:
    bench.write("@pytest.mark.reenact(rnus=3)\ndef test_it(): pass", head="import pytest")
    session = bench.reenact()
    assert session.code != 0
    assert "the marker reenact takes" in session.out


def test_in_the_schedule_without_preemptions_sleeps_end_in_their_order(bench: Bench) -> None:
    """The thread that was started first sleeps longest, and must not keep the others waiting."""
    bench.write(
        """
        import time

        def test_it():
            def work(seconds):
                for _ in range(10):
                    time.sleep(seconds)

            started = time.time()
            together(lambda: work(0.3), lambda: work(0.4), lambda: work(0.05))
            assert time.time() - started < 4.01
        """
    )
    assert bench.reenact("--reenact-strategy", "queue").counted == {"passed": 1}


SLEEPS = """
    import time

    def test_it():
        done = []
        lock = threading.Lock()

        def work():
            with lock:
                done.append(1)

        thread = threading.Thread(target=work)
        thread.start()
        time.sleep(0.1)
        with lock:
            assert done
        thread.join()
"""


def test_a_test_that_waits_by_sleeping_fails_unless_sleeps_are_taken_at_their_word(
    bench: Bench,
) -> None:
    bench.write(SLEEPS)
    assert bench.plain().counted == {"passed": 1}
    session = bench.reenact()
    assert session.counted == {"failed": 1}
    again = bench.replay(session.replay_path(), "--reenact-patience", "0")
    assert "It failed as it had been saved" in again.out, again.out
    session = bench.reenact("--reenact-patience", "0")
    assert session.counted == {"passed": 1}
    assert session.searched()[1] > 1
    bench.write(SLEEPS.replace("def test_it", "@pytest.mark.reenact(patience=0)\n    def test_it"))
    assert bench.reenact().counted == {"passed": 1}


def test_a_time_out_of_a_second_is_as_long_as_the_patience(bench: Bench) -> None:
    """Though a little of it has passed once somebody has looked at the clock."""
    bench.write(
        """
        import queue

        def test_it():
            shared = queue.Queue()
            thread = threading.Thread(target=lambda: shared.put(1))
            thread.start()
            assert shared.get(timeout=1) == 1
            thread.join()
        """
    )
    session = bench.reenact()
    assert session.counted == {"passed": 1}, session.out
    assert session.searched()[1] > 1


def test_warnings_are_not_multiplied(bench: Bench) -> None:
    bench.write(
        """
        import warnings

        def test_warns():
            together(int, int)
            warnings.warn("once is enough")
        """
    )
    session = bench.reenact()
    assert session.counts == {"passed": 1, "warnings": 1} or session.counts == {
        "passed": 1,
        "warning": 1,
    }
