"""Threads: 80,000 lock acquisitions by 8 threads, for the size of the recording.

`mutex` (default): one lock, held during a loop and calls, so that a thread switched out mostly
holds it. `pairs`: four pairs of threads pass a token to and fro, so that every acquisition has to
wait for another thread, whatever the scheduler. The last line but one says how many found the
lock taken.
"""

from __future__ import annotations

import sys
import threading
import time

THREADS = 8
TURNS = 10_000

mutex = threading.Lock()
gates = [threading.Lock() for _ in range(THREADS)]
values = list(range(THREADS))
contended = [0] * THREADS


def mix(value: int) -> int:
    """Some work to do under the lock."""
    for shift in range(3):
        value = (value * 5 + shift) % 65_521
    return value


def acquire(lock: threading.Lock, me: int) -> None:
    """Take the lock, and count if it was taken."""
    if not lock.acquire(blocking=False):
        contended[me] += 1
        lock.acquire()


def share_mutex(me: int) -> None:
    """All threads take turns at one lock."""
    for _ in range(TURNS):
        acquire(mutex, me)
        values[0] = mix(values[0] + me)
        mutex.release()


def pass_token(me: int) -> None:
    """Wait at the own gate, then open the partner's."""
    partner = me ^ 1
    for _ in range(TURNS):
        acquire(gates[me], me)
        values[me] = mix(values[partner])
        gates[partner].release()


def main() -> None:
    """Run the threads."""
    for gate in gates[1::2]:
        gate.acquire()
    target = pass_token if sys.argv[1:] == ["pairs"] else share_mutex
    threads = [threading.Thread(target=target, args=(me,)) for me in range(THREADS)]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    elapsed = time.perf_counter() - start
    print("values", values)
    print("contended", sum(contended), "of", THREADS * TURNS)
    print(f"elapsed {elapsed:.6f}")


main()
