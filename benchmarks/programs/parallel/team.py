"""How the programs of this directory share their work among threads, and what they print.

    PROGRAM [THREADS [SCALE]]

As many threads as asked for do the work, one if nothing is said: the main thread only waits, so
that one thread and two threads differ in nothing else. SCALE makes the work smaller or larger.
The last lines are `checksum HEX`, `cpu SECONDS` and `elapsed SECONDS`.

What is common to the programs, since they are measured on free-threaded interpreters: what a
thread touches in its inner loop are its own objects, as far as the algorithm lets it. A reference
to another thread's object costs an atomic operation on a line of the cache that both want.
"""

import sys
import threading
import time
from collections.abc import Callable
from zlib import crc32


class Team:
    """Threads that do one work together; `barrier` is where they wait for one another."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.barrier = threading.Barrier(size)
        self.wall_s = self.cpu_s = 0.0

    def run(self, work: Callable[[int], None]) -> None:
        """Have each thread do the work, which is given the thread's number; keep the time."""
        threads = [threading.Thread(target=work, args=(number,)) for number in range(self.size)]
        cpu_s = time.process_time()
        wall_s = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.wall_s = time.perf_counter() - wall_s
        self.cpu_s = time.process_time() - cpu_s

    def share(self, number: int, total: int) -> range:
        """The thread's part of the indexes below `total`, in one piece."""
        return range(number * total // self.size, (number + 1) * total // self.size)

    def turns(self, number: int, total: int) -> range:
        """The thread's part of the indexes below `total`, each a team apart."""
        return range(number, total, self.size)

    def finish(self, result: object) -> None:
        """Print what is the same in each run that does the same, and the times."""
        print(f"checksum {crc32(repr(result).encode()):08x}")
        print(f"cpu {self.cpu_s:.6f}")
        print(f"elapsed {self.wall_s:.6f}")


def start() -> tuple[Team, float]:
    """The team and the scale that the command line asks for."""
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    scale = float(sys.argv[2]) if len(sys.argv) > 2 else 1.0
    return Team(size), scale


def at_least(minimum: int, amount: float) -> int:
    """An amount of work, and never so little that the program makes no sense."""
    return max(minimum, round(amount))
