"""Small programs that use locks: those in DEADLOCKS may deadlock another time, those in SAFE never.

Each is a function without arguments that starts threads and waits for them. Under the gate's plain
order none of them deadlocks. A line that a test asks for has a comment with its name.
"""

from __future__ import annotations

import logging
import queue
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from threading import Condition, Event, Lock, RLock, Semaphore, Thread

Program = Callable[[], None]


def together(*functions: Program) -> None:
    threads = [Thread(target=function) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def after_each_other(*functions: Program) -> None:
    for function in functions:
        together(function)


def nested(*locks: Lock | RLock | Condition) -> Program:  # type: ignore[valid-type]
    """Takes one after the other, and releases them in reverse."""

    def take() -> None:
        with ExitStack() as stack:
            for lock in locks:
                stack.enter_context(lock)  # type: ignore[arg-type]

    return take


# ---- that may deadlock ----


def opposite() -> None:
    a, b = Lock(), Lock()

    def one() -> None:
        a.acquire()  # opposite: one holds
        with b:  # opposite: one wants
            pass
        a.release()

    def other() -> None:
        b.acquire()  # opposite: other holds
        with a:  # opposite: other wants
            pass
        b.release()

    together(one, other)


def philosophers() -> None:
    forks = [Lock() for _ in range(4)]
    together(*(nested(forks[i], forks[(i + 1) % 4]) for i in range(4)))


def three_locks() -> None:
    a, b, c = Lock(), Lock(), Lock()
    together(nested(a, b), nested(b, c), nested(c, a))


def recursive_locks() -> None:
    a, b = RLock(), RLock()
    together(nested(a, a, b, a), nested(b, a))


def accounts() -> None:
    locks = [Lock() for _ in range(5)]

    def transfer(one: int, other: int) -> None:
        with locks[one], locks[other]:
            pass

    def forth() -> None:
        for i in range(4):
            transfer(i, i + 1)

    def back() -> None:
        for i in range(4):
            transfer(i + 1, i)

    together(forth, back)


def condition_and_lock() -> None:
    condition, lock = Condition(), Lock()
    together(nested(condition, lock), nested(lock, condition))


def waits_with_an_inner_lock() -> None:
    """Condition.wait takes its lock again while the inner one is held."""
    condition, inner = Condition(), Lock()

    def waits() -> None:
        with condition, inner:
            condition.wait(0.01)

    together(nested(condition, inner), waits)


def main_and_thread() -> None:
    a, b = Lock(), Lock()
    thread = Thread(target=nested(a, b))
    thread.start()
    nested(b, a)()
    thread.join()


def held_by_a_trial() -> None:
    """What was taken by a trial is held like any other."""
    a, b = Lock(), Lock()

    def tries() -> None:
        if a.acquire(blocking=False):
            b.acquire()
            b.release()
            a.release()

    together(tries, nested(b, a))


def guarded_once() -> None:
    gate, a, b = Lock(), Lock(), Lock()
    together(nested(gate, a, b), nested(gate, b, a), nested(b, a))


def handler_and_own_lock() -> None:
    """A lock of a library's: logging's handlers have one."""
    lock = Lock()

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            with lock:
                pass

    logger = logging.Logger("mine")
    logger.addHandler(Handler())

    def logs_with_lock() -> None:
        with lock:
            logger.isEnabledFor(10)
            logger.handlers[0].acquire()
            logger.handlers[0].release()

    together(lambda: logger.warning("x"), logs_with_lock)


DEADLOCKS = (
    opposite,
    philosophers,
    three_locks,
    recursive_locks,
    accounts,
    condition_and_lock,
    waits_with_an_inner_lock,
    main_and_thread,
    held_by_a_trial,
    guarded_once,
    handler_and_own_lock,
)


# ---- that never do ----


def ordered_philosophers() -> None:
    forks = [Lock() for _ in range(4)]
    pairs = [sorted((i, (i + 1) % 4)) for i in range(4)]
    together(*(nested(forks[low], forks[high]) for low, high in pairs))


def guarded() -> None:
    gate, a, b = Lock(), Lock(), Lock()
    together(nested(gate, a, b), nested(gate, b, a))


def guarded_in_between() -> None:
    gate, a, b, c = RLock(), Lock(), Lock(), Lock()
    together(nested(gate, a, b), nested(gate, b, c), nested(c, a))


def reentry() -> None:
    a, b = RLock(), Lock()
    together(nested(a, b, a), nested(a, a, b))


def condition_inside_a_lock() -> None:
    lock, condition = Lock(), Condition()
    ready = []

    def waits() -> None:
        with condition:
            while not ready:
                condition.wait()

    def tells() -> None:
        with lock, condition:
            ready.append(1)
            condition.notify()

    together(waits, tells)


def trial() -> None:
    a, b = Lock(), Lock()

    def tries() -> None:
        with b:
            if a.acquire(blocking=False):
                a.release()

    together(nested(a, b), tries)


def trial_with_a_limit() -> None:
    a, b = Lock(), Lock()

    def tries() -> None:
        with b:
            if a.acquire(timeout=0.05):
                a.release()

    together(nested(a, b), tries)


def one_after_the_other() -> None:
    a, b = Lock(), Lock()
    after_each_other(nested(a, b), nested(b, a))


def before_and_after() -> None:
    a, b = Lock(), Lock()
    nested(b, a)()
    together(nested(a, b))
    nested(b, a)()


def joined_by_another() -> None:
    """The second is started by a thread that has joined the first."""
    a, b = Lock(), Lock()
    first = Thread(target=nested(a, b))
    first.start()

    def second() -> None:
        first.join()
        together(nested(b, a))

    together(second)


def both_orders_in_one_thread() -> None:
    a, b = Lock(), Lock()

    def both() -> None:
        nested(a, b)()
        nested(b, a)()

    together(both, nested(a), nested(b))


def handed_over() -> None:
    """A lock that one thread takes and another one releases, whoever has it: it is a signal."""
    signal, lock = Lock(), Lock()
    signal.acquire()

    def gives() -> None:
        for _ in range(3):
            while not signal.locked():
                time.sleep(0.001)
            signal.release()

    def takes_first() -> None:
        with signal_taken(), lock:
            pass

    def takes_last() -> None:
        with lock, signal_taken():
            pass

    @contextmanager
    def signal_taken() -> Iterator[None]:
        signal.acquire()
        yield

    together(gives, takes_first, takes_last)


def hand_over_hand() -> None:
    locks = [Lock() for _ in range(5)]

    def walk() -> None:
        locks[0].acquire()
        for one, following in pairwise(locks):
            following.acquire()
            one.release()
        locks[-1].release()

    together(walk, walk)


def not_nested() -> None:
    a, b = Lock(), Lock()

    def one() -> None:
        nested(a)()
        nested(b)()

    def other() -> None:
        nested(b)()
        nested(a)()

    together(one, other)


def library() -> None:
    """Queues, events, semaphores, pools and loggers, each used as it should be."""
    items: queue.Queue[int] = queue.Queue(2)
    event, semaphore = Event(), Semaphore(2)

    def puts() -> None:
        for i in range(5):
            with semaphore:
                items.put(i)
        event.set()

    def gets() -> None:
        for _ in range(5):
            items.get()
            items.task_done()
        event.wait()

    together(puts, gets)
    items.join()
    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(str, range(6))) == list("012345")
        pool.submit(logging.getLogger("x").debug, "y").result()


SAFE = (
    ordered_philosophers,
    guarded,
    guarded_in_between,
    reentry,
    condition_inside_a_lock,
    trial,
    trial_with_a_limit,
    one_after_the_other,
    before_and_after,
    joined_by_another,
    both_orders_in_one_thread,
    handed_over,
    hand_over_hand,
    not_nested,
    library,
)


# ---- waits with a lock held ----


def waits_for_an_event() -> None:
    lock, event = Lock(), Event()

    def waits() -> None:
        with lock:  # event: held
            event.wait()  # event: waits

    def sets() -> None:
        event.set()
        with lock:
            pass

    together(waits, sets)


def waits_for_a_queue() -> None:
    lock = Lock()
    simple: queue.SimpleQueue[int] = queue.SimpleQueue()

    def waits() -> None:
        with lock:
            simple.get()

    together(waits, lambda: simple.put(1), nested(lock))


def waits_for_a_full_queue() -> None:
    lock = Lock()
    items: queue.Queue[int] = queue.Queue(1)

    def puts() -> None:
        with lock:
            items.put(1)
            items.put(2)

    def gets() -> None:
        items.get()
        items.get()

    together(puts, gets, nested(lock))


def waits_for_a_thread() -> None:
    lock = RLock()

    def waits() -> None:
        with lock, lock:
            thread = Thread(target=time.sleep, args=(0.01,))
            thread.start()
            thread.join()

    together(waits, nested(lock))


def waits_for_a_result() -> None:
    lock = Lock()

    def waits() -> None:
        with lock, ThreadPoolExecutor(1) as pool:
            pool.submit(time.sleep, 0.01).result()

    together(waits, nested(lock))


def waits_for_another_condition() -> None:
    lock, condition = Lock(), Condition()
    ready = []

    def waits() -> None:
        with lock, condition:
            while not ready:
                condition.wait()

    def tells() -> None:
        with condition:
            ready.append(1)
            condition.notify()

    together(waits, tells, nested(lock))


def sleeps() -> None:
    lock = Lock()

    def naps() -> None:
        with lock:
            time.sleep(0.01)

    together(naps, nested(lock))


WAITS = {
    waits_for_an_event: "Event.wait",
    waits_for_a_queue: "SimpleQueue.get",
    waits_for_a_full_queue: "Queue.put",
    waits_for_a_thread: "Thread.join",
    waits_for_a_result: "Future.result",
    waits_for_another_condition: "Condition.wait",
    sleeps: "time.sleep",
}


def waits_with_its_own_lock() -> None:
    ready = []
    conditions = [Condition(), Condition(Lock())]

    def waits() -> None:
        for condition in conditions:
            with condition:
                while not ready:
                    condition.wait()

    def tells() -> None:
        for condition in conditions:
            with condition:
                ready.append(1)
                condition.notify_all()

    together(waits, tells)


def waits_with_a_lock_of_its_own() -> None:
    """Nobody else takes it: nobody is kept waiting."""
    lock, event = Lock(), Event()

    def waits() -> None:
        with lock:
            event.wait()

    together(waits, event.set)


def starts_with_a_lock() -> None:
    lock = Lock()
    threads = []

    def starts() -> None:
        with lock:
            threads.append(Thread(target=nested(lock)))
            threads[0].start()

    together(starts, nested(lock))
    threads[0].join()


def yields_with_a_lock() -> None:
    lock = Lock()

    def gives_way() -> None:
        with lock:
            time.sleep(0)

    together(gives_way, nested(lock))


QUIET = (
    waits_with_its_own_lock,
    waits_with_a_lock_of_its_own,
    starts_with_a_lock,
    yields_with_a_lock,
)


# ---- locks that are not released ----

kept: list[object] = []  # locks that are gone are nobody's


def never_released() -> None:
    lock, again = Lock(), RLock()
    kept.extend((lock, again))

    def takes() -> None:
        lock.acquire()  # never: plain
        again.acquire()
        again.acquire()  # taken twice, released once
        again.release()

    together(takes)


def released_by_another() -> None:
    lock = Lock()
    kept.append(lock)

    def takes() -> None:
        lock.acquire()

    after_each_other(takes, lock.release, takes)


def released_later() -> None:
    lock = Lock()
    kept.append(lock)
    lock.acquire()
    together(lambda: None)
    lock.release()


def gone_while_held() -> None:
    def takes() -> None:
        Lock().acquire()

    together(takes)


PROGRAMS: tuple[Program, ...] = (
    *DEADLOCKS,
    *SAFE,
    *WAITS,
    *QUIET,
    never_released,
    released_by_another,
    released_later,
    gone_while_held,
)
