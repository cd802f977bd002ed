"""How the programs share their work among threads, and the figures that they print at the end.

    PROGRAM [THREADS [SCALE]]

Without arguments all work is done by the main thread. With THREADS, each of as many threads does
its part. SCALE makes the work smaller for tools that are slow.

The measured programs have no `from __future__` line: threadcheck cannot run a file that has one.
"""

import sys
import threading
import time
from collections.abc import Callable
from typing import Any


class Stopwatch:
    """Wall time and processor time from its making to `stop`."""

    def __init__(self) -> None:
        self.wall_s = time.perf_counter()
        self.cpu_s = time.process_time()

    def stop(self) -> None:
        """Keep what has passed."""
        self.wall_s = time.perf_counter() - self.wall_s
        self.cpu_s = time.process_time() - self.cpu_s

    def print(self) -> None:
        """The figures; `elapsed` is the last line of a program."""
        print("peak", peak_kb())
        print(f"cpu {self.cpu_s:.6f}")
        print(f"elapsed {self.wall_s:.6f}")


def run_parts(work: Callable[[float], Any]) -> tuple[list[Any], Stopwatch]:
    """What `work` gave for each part, and the time it took; it is called with the size of its part
    of the whole work, which is 1."""
    threads = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    scale = float(sys.argv[2]) if len(sys.argv) > 2 else 1.0
    watch = Stopwatch()
    results = in_threads(work, threads, scale / threads) if threads else [work(scale)]
    watch.stop()
    return results, watch


def in_threads(work: Callable[[float], Any], count: int, part: float) -> list[Any]:
    """Each thread does one part."""
    results: list[Any] = [None] * count

    def run(number: int) -> None:
        results[number] = work(part)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def peak_kb() -> int:
    """The most memory that this process ever had. Not `ru_maxrss`: that one begins with what
    the process had that started it."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
