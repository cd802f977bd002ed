"""Shared memory: how often each value is in a long list, in bins that all threads count in.

Groups of bins have a lock each; a thread counts a few values under it at a time.
"""

import threading
from random import Random

from team import at_least, start

VALUES = 2_000_000
BINS = 128
GROUPS = 8
CHUNK = 256


class Histogram:
    """Bins and the locks of their groups."""

    def __init__(self) -> None:
        self.bins = [0] * BINS
        self.locks = [threading.Lock() for _ in range(GROUPS)]

    def count(self, group: int, values: list[int]) -> None:
        """Values that all belong to the bins of one group."""
        with self.locks[group]:
            for value in values:
                self.bins[value] += 1


def main() -> None:
    """Count all values."""
    team, scale = start()
    random = Random(2)
    values = [random.randrange(BINS) for _ in range(at_least(16, VALUES * scale))]
    histogram = Histogram()

    def work(number: int) -> None:
        part = team.share(number, len(values))
        for begin in range(part.start, part.stop, CHUNK):
            groups: list[list[int]] = [[] for _ in range(GROUPS)]
            for i in range(begin, min(begin + CHUNK, part.stop)):
                value = values[i]
                groups[value % GROUPS].append(value)
            for group, found in enumerate(groups):
                histogram.count(group, found)

    team.run(work)
    team.finish(histogram.bins)


main()
