"""The programs that all tools explore: one source for reenact and its peers.

A workload is a state that is made anew for every schedule, workers that get it, each in a thread
of its own, and a check of what they left. frontrun wants these three, and starts the workers
itself; the other tools run the function that has the workload's name, which starts and joins
them. Locks and threads are made by their names in `threading` at run time, because interleave-test
replaces those names while it runs.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

INCREMENTS = 3
ITERATIONS = 10_000


class Counter:
    """A number, and a lock for those who use it."""

    def __init__(self) -> None:
        self.value = 0
        self.lock = threading.Lock()


class Registry:
    """One entry for a key; `made` has all that were ever made."""

    def __init__(self) -> None:
        self.entries: dict[str, object] = {}
        self.made: list[object] = []


def increment_locked(counter: Counter) -> None:
    for _ in range(INCREMENTS):
        with counter.lock:
            counter.value += 1


def increment_bare(counter: Counter) -> None:
    for _ in range(INCREMENTS):
        counter.value += 1


def compute_privately(counter: Counter) -> None:
    """Work on locals only, then one locked update."""
    total = 0
    for number in range(ITERATIONS):
        total += number & 7
    with counter.lock:
        counter.value += total


def register(registry: Registry) -> None:
    """Look, then make: two threads may both find nothing."""
    if "key" not in registry.entries:
        registry.entries["key"] = entry = object()
        registry.made.append(entry)


def increment_by_threads(counter: Counter) -> None:
    """The racing threads are started here, by a worker."""
    start_and_join([increment_bare] * 2, counter)


def increment_by_pool(counter: Counter) -> None:
    """The same race between the threads of a pool."""
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(increment_bare, [counter, counter]))


def increment_locked_by_pool(counter: Counter) -> None:
    """A pool, and no race. Run by two threads, so that two pools are in use at once."""
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(increment_locked, [counter, counter]))


def start_and_join(workers: list[Callable[[Any], None]], state: object) -> None:
    threads = [threading.Thread(target=worker, args=(state,)) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@dataclass(frozen=True)
class Workload:
    """What is run, and what must be so at its end; with `has_bug` some schedule breaks it."""

    setup: Callable[[], Any]
    workers: list[Callable[[Any], None]]
    check: Callable[[Any], bool]
    has_bug: bool

    def run(self) -> None:
        """One schedule: raises AssertionError if the check fails."""
        state = self.setup()
        start_and_join(self.workers, state)
        assert self.check(state), "the check failed"


def is_counted(counter: Counter) -> bool:
    return counter.value == 2 * INCREMENTS


def is_counted_twice(counter: Counter) -> bool:
    return counter.value == 4 * INCREMENTS


def is_computed(counter: Counter) -> bool:
    return counter.value == 2 * TOTAL


def is_made_once(registry: Registry) -> bool:
    return len(registry.made) == 1


TOTAL = sum(number & 7 for number in range(ITERATIONS))

WORKLOADS = {
    "locked": Workload(Counter, [increment_locked] * 2, is_counted, False),
    "compute": Workload(Counter, [compute_privately] * 2, is_computed, False),
    "bare": Workload(Counter, [increment_bare] * 2, is_counted, True),
    "check_then_act": Workload(Registry, [register] * 2, is_made_once, True),
    "inner_threads": Workload(Counter, [increment_by_threads], is_counted, True),
    "pool": Workload(Counter, [increment_by_pool], is_counted, True),
    "two_pools": Workload(Counter, [increment_locked_by_pool] * 2, is_counted_twice, False),
}


def locked() -> None:
    WORKLOADS["locked"].run()


def compute() -> None:
    WORKLOADS["compute"].run()


def bare() -> None:
    WORKLOADS["bare"].run()


def check_then_act() -> None:
    WORKLOADS["check_then_act"].run()


def inner_threads() -> None:
    WORKLOADS["inner_threads"].run()


def pool() -> None:
    WORKLOADS["pool"].run()


def two_pools() -> None:
    WORKLOADS["two_pools"].run()
