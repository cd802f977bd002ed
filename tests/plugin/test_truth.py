"""Nothing that was not seen through to the end comes out green."""

from __future__ import annotations

from tests.plugin.harness import Bench, Session


def is_inconclusive(session: Session) -> bool:
    return session.counted == {"inconclusive": 1} and session.code == 7


def test_a_test_that_skips_itself_in_some_schedules(bench: Bench) -> None:
    bench.write(
        """
        def test_it():
            counter = Counter()
            together(counter.add, counter.add)
            if counter.value != 2:
                pytest.skip("odd")
        """
    )
    assert bench.plain().counted == {"passed": 1}
    session = bench.reenact("-v")
    assert is_inconclusive(session), session.out
    assert "test_it INCONCLUSIVE" in session.out
    assert "the test skipped itself in a schedule" in session.out


def test_lenient_keeps_the_exit_code(bench: Bench) -> None:
    bench.write(
        """
        def test_it():
            counter = Counter()
            together(counter.add, counter.add)
            if counter.value != 2:
                pytest.skip("odd")
        """
    )
    session = bench.reenact("--reenact-lenient")
    assert session.counted == {"inconclusive": 1}
    assert session.code == 0


def test_a_failure_weighs_more_than_an_inconclusive_test(bench: Bench) -> None:
    bench.write(
        """
        def test_it():
            thread = threading.Thread(target=spin, daemon=True)
            thread.start()

        def spin():
            while True:
                pass

        def test_fails():
            assert False
        """
    )
    session = bench.reenact()
    assert session.counted == {"inconclusive": 1, "failed": 1}, session.out
    assert session.code == 1


def test_a_daemon_thread_that_runs_on(bench: Bench) -> None:
    bench.write(
        """
        def test_it():
            counter = Counter()

            def work():
                while True:
                    counter.add()

            threading.Thread(target=work, daemon=True).start()
        """
    )
    assert is_inconclusive(bench.reenact())


def test_a_thread_that_outlives_the_test(bench: Bench) -> None:
    bench.write(
        """
        def test_it():
            event = threading.Event()
            threading.Thread(target=event.wait, args=[1e9], name="long-lived").start()
        """
    )
    session = bench.reenact()
    assert is_inconclusive(session), session.out
    assert "a thread was still alive after the test: long-lived" in session.out


def test_what_a_thread_does_after_the_test_counts(bench: Bench) -> None:
    bench.write(
        """
        import time

        def work(counter):
            time.sleep(0.5)
            counter.add()
            if counter.value != 3:
                raise RuntimeError("lost")

        def test_it():
            counter = Counter()
            counter.add()
            threading.Thread(target=work, args=[counter]).start()
            time.sleep(0.1)
            threading.Thread(target=counter.add).start()
        """
    )
    session = bench.reenact()
    assert session.counted == {"failed": 1}, session.out
    assert "RuntimeError: lost (in thread 0.1)" in session.out


def test_a_thread_that_dies_in_some_schedules(bench: Bench) -> None:
    bench.write(
        """
        def test_it():
            counter = Counter()

            def check():
                counter.add()
                if counter.value == 1 and len(threads) == 2:
                    raise ValueError("one is lost")

            threads = [threading.Thread(target=check), threading.Thread(target=counter.add)]
            for thread in threads:
                thread.start()
                thread.join(0.01)
            for thread in threads:
                thread.join()
            """
    )
    session = bench.reenact("-W", "ignore")
    plain = bench.plain("-W", "error::pytest.PytestUnhandledThreadExceptionWarning")
    assert plain.counted == {"failed": 1}, "the plain run has it, too"
    assert session.counted == {"passed": 1}
    assert "threads end with ValueError, which the test passes with" in session.out


def test_a_thread_that_dies_though_it_does_not_in_the_plain_run(bench: Bench) -> None:
    bench.write(
        """
        def test_it():
            counter = Counter()

            def check():
                counter.add()
                if counter.value != 2:
                    raise ValueError("one is lost")

            together(counter.add, check)
        """
    )
    assert bench.plain("-W", "error").counted == {"passed": 1}
    session = bench.reenact()
    assert session.counted == {"failed": 1}, session.out
    assert "ValueError: one is lost (in thread 0.2)" in session.out
    assert 'raise ValueError("one is lost")' in session.out


def test_a_test_that_swallows_what_ends_a_deadlock(bench: Bench) -> None:
    bench.write(
        """
        def test_it():
            first, second = threading.Lock(), threading.Lock()

            def take(a, b):
                try:
                    with a, b:
                        pass
                except BaseException:
                    pass

            try:
                together(lambda: take(first, second), lambda: take(second, first))
            except BaseException:
                pass
        """
    )
    assert bench.plain().counted == {"passed": 1}
    session = bench.reenact()
    assert session.counted == {"failed": 1}, session.out
    assert "deadlock" in session.out


def test_a_deadlock_in_the_plain_run_does_not_hang(bench: Bench) -> None:
    bench.write(
        """
        def test_it():
            lock = threading.Lock()
            lock.acquire()
            lock.acquire()

        def test_after():
            pass
        """
    )
    session = bench.reenact()
    assert session.counted == {"failed": 1, "passed": 1}, session.out
    assert "deadlock" in session.out


def test_a_livelock(bench: Bench) -> None:
    bench.write(
        """
        def test_it():
            counter = Counter()

            def wait():
                while counter.value == 0:
                    pass

            together(wait)
        """
    )
    session = bench.reenact()
    assert session.code != 0, session.out
    assert "passed" not in session.counted


def test_threads_within_threads_and_pools(bench: Bench) -> None:
    bench.write(
        """
        from concurrent.futures import ThreadPoolExecutor
        from multiprocessing.pool import ThreadPool
        import _thread

        def test_nested():
            counter = Counter()
            together(lambda: together(counter.add), counter.add)
            assert counter.value == 2

        def test_executor():
            counter = Counter()
            with ThreadPoolExecutor(2) as pool:
                for _ in range(2):
                    pool.submit(counter.add)
            assert counter.value == 2

        def test_pool():
            counter = Counter()
            with ThreadPool(2) as pool:
                pool.map(lambda _: counter.add(), range(2), chunksize=1)
            assert counter.value == 2

        def test_raw():
            counter = Counter()
            done = [_thread.allocate_lock() for _ in range(2)]

            def add(lock):
                counter.add()
                lock.release()

            for lock in done:
                lock.acquire()
                _thread.start_new_thread(add, (lock,))
            for lock in done:
                lock.acquire()
            assert counter.value == 2
        """
    )
    assert bench.plain().counted == {"passed": 4}
    assert bench.reenact("--reenact-runs", "500").counted == {"failed": 4}


def test_a_pool_that_outlives_tests_still_works(bench: Bench) -> None:
    bench.write(
        """
        from concurrent.futures import ThreadPoolExecutor

        pool = ThreadPoolExecutor(2)

        @pytest.mark.parametrize("number", range(2))
        def test_it(number):
            futures = [pool.submit(int, str(number)) for _ in range(3)]
            assert [future.result() for future in futures] == [number] * 3
        """
    )
    session = bench.reenact()
    assert session.counted == {"passed": 2}, session.out
    assert session.searched()[0] == 2


def test_a_thread_of_c_code(bench: Bench) -> None:
    bench.write(
        """
        import ctypes

        def test_it():
            library = ctypes.CDLL(None)
            callback_type = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
            lock = threading.Lock()

            @callback_type
            def callback(_):
                with lock:
                    pass
                return None

            thread = ctypes.c_ulong()
            assert library.pthread_create(ctypes.byref(thread), None, callback, None) == 0
            assert library.pthread_join(thread, None) == 0
        """
    )
    assert bench.plain().counted == {"passed": 1}
    assert is_inconclusive(bench.reenact())


def test_junit_does_not_call_it_passed(bench: Bench) -> None:
    bench.write(
        """
        def test_it():
            event = threading.Event()
            threading.Thread(target=event.wait, args=[1e9]).start()
        """
    )
    bench.reenact("--junitxml", "out.xml")
    assert "<skipped" in (bench.path / "out.xml").read_text("utf-8")


def test_a_thread_that_is_left_waiting_for_the_outside_is_said(bench: Bench) -> None:
    """As plain pytest leaves it: it can do nothing more, and the summary says that it is there."""
    bench.write(
        """
        import socket

        def test_it():
            server = socket.socket()
            server.bind(("127.0.0.1", 0))
            server.listen()
            threading.Thread(target=server.accept, daemon=True).start()
        """
    )
    session = bench.reenact()
    assert session.code == 0, session.out
    assert "1 test leaves threads running, which wait for the outside" in session.out


def test_a_run_that_comes_to_no_end_is_not_said_to_fail(bench: Bench) -> None:
    """Its threads are ended by us, which the test takes for a failure."""
    bench.write(
        """
        import time

        def test_it(subtests):
            failed = []

            def work():
                try:
                    while True:
                        time.sleep(1e-9)
                except BaseException:
                    failed.append(1)

            with subtests.test("a part of it"):
                together(work, work)
                assert not failed
            assert not failed
        """
    )
    session = bench.reenact("--reenact-runs", "2")
    assert session.counted == {"inconclusive": 1}, session.out
    assert session.code == 7
    assert "no run came to its end within the step limit" in session.out


def test_no_test_is_ended_in_its_middle_since_its_plan_is_of_no_more_use(bench: Bench) -> None:
    """What it would have tidied up is left to other tests."""
    bench.write(
        """
        import queue

        busy = []
        tidied = []

        def test_it():
            busy.append(1)
            shared = queue.Queue()
            together(lambda: shared.put(1), lambda: shared.put(2), shared.get, shared.get)
            busy.pop()
            tidied.append(1)

        def test_after():
            assert not busy
            assert len(tidied) > 1
        """
    )
    session = bench.reenact("--reenact-strategy", "dpor")
    assert session.counted == {"passed": 2}, session.out


def test_each_schedule_finds_the_loggers_as_they_were(bench: Bench) -> None:
    bench.write(
        """
        import logging

        @pytest.fixture
        def handler():
            before = len(logging.root.handlers), logging.root.level
            handler = logging.NullHandler()
            logging.root.addHandler(handler)
            logging.root.setLevel(logging.root.level + 1)
            return before

        seen = set()

        def test_it(handler):
            seen.add(handler)
            assert len(seen) == 1
            together(int, int)
        """
    )
    session = bench.reenact()
    assert session.counted == {"passed": 1}, session.out
    assert session.searched()[1] > 1


LOST = """
    from concurrent.futures import ThreadPoolExecutor

    def test_it():
        counter = Counter()

        def check():
            counter.add()
            if {condition}:
                raise ValueError("one is lost")

        with ThreadPoolExecutor(2) as pool:
            pool.submit(counter.add)
            pool.submit(check)
"""


def test_an_exception_that_stays_in_a_future_in_some_schedules(bench: Bench) -> None:
    bench.write(LOST.format(condition="counter.value != 2"))
    session = bench.reenact()
    assert is_inconclusive(session), session.out
    assert "it stayed in a future: ValueError: one is lost" in session.out


def test_an_exception_that_stays_in_a_future_without_preemptions_as_well(bench: Bench) -> None:
    bench.write(LOST.format(condition="True"))
    session = bench.reenact()
    assert session.counted == {"passed": 1}, session.out
    lost = "it stayed in a future: ValueError: one is lost"
    assert f"nobody looks at an exception ({lost}), and the test passes" in session.out
