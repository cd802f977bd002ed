"""Threads: N threads (first argument) share about 1,000,000 turns of `with lock: counter += 1`."""

from __future__ import annotations

import sys
import threading
import time

ACQUISITIONS = 1_000_000

counter = 0
lock = threading.Lock()


def work(turns: int) -> None:
    """Count under the lock."""
    global counter
    for _ in range(turns):
        with lock:
            counter += 1


def main() -> None:
    """Share the turns among the threads."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 8
    turns = ACQUISITIONS // count
    threads = [threading.Thread(target=work, args=(turns,)) for _ in range(count)]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    elapsed = time.perf_counter() - start
    print("counter", counter, "right", counter == turns * count)
    print(f"elapsed {elapsed:.6f}")


main()
