"""Threads: N threads share about 1,000,000 turns of `with lock: counter += 1`."""

import threading

from parts import run_parts

ACQUISITIONS = 1_000_000

counter = 0
lock = threading.Lock()


def work(part: float) -> int:
    """Count under the lock."""
    global counter
    turns = int(ACQUISITIONS * part)
    for _ in range(turns):
        with lock:
            counter += 1
    return turns


def main() -> None:
    """Share the turns among the threads."""
    turns, watch = run_parts(work)
    print("counter", counter, "right", counter == sum(turns))
    watch.print()


main()
