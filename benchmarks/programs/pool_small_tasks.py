"""Threads: 100,000 tiny tasks through a ThreadPoolExecutor with 8 workers."""

from __future__ import annotations

import time
from concurrent.futures import Future, ThreadPoolExecutor

TASKS = 100_000


def task(number: int) -> int:
    """Almost nothing."""
    return number * 2 + 1


def main() -> None:
    """Submit all, then add up the results."""
    start = time.perf_counter()
    with ThreadPoolExecutor(8) as pool:
        futures: list[Future[int]] = [pool.submit(task, number) for number in range(TASKS)]
        total = sum(future.result() for future in futures)
    elapsed = time.perf_counter() - start
    print("total", total)
    print(f"elapsed {elapsed:.6f}")


main()
