"""A pool of forked processes, a queue between processes, and a ProcessPoolExecutor."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import random
from concurrent.futures import ProcessPoolExecutor


def count_primes(limit: int) -> tuple[int, int]:
    found = sum(all(n % d for d in range(2, int(n**0.5) + 1)) for n in range(2, limit))
    return limit, found


def chance(_: int) -> tuple[int, float]:
    return os.getpid(), random.SystemRandom().random()


def produce(queue: multiprocessing.Queue[str], name: str) -> None:
    for number in range(5):
        queue.put(f"{name} {number} {os.getpid()}")


def main() -> None:
    context = multiprocessing.get_context("fork")
    found: list[object] = []
    with context.Pool(3) as pool:
        found += pool.map(count_primes, range(200, 1000, 100))
        found += list(pool.imap_unordered(chance, range(10)))
    queue: multiprocessing.Queue[str] = context.Queue()
    producers = [context.Process(target=produce, args=(queue, name)) for name in ("a", "b")]
    for producer in producers:
        producer.start()
    found += [queue.get(timeout=20) for _ in range(10)]
    for producer in producers:
        producer.join()
    found.append([producer.exitcode for producer in producers])
    with ProcessPoolExecutor(2, mp_context=context) as executor:
        found += executor.map(count_primes, [300, 400])
    print(f"{len(found)} results, primes below 900: {dict(found[:8])[900]}")
    print("state", hashlib.sha256(repr(found).encode()).hexdigest())


if __name__ == "__main__":
    main()
