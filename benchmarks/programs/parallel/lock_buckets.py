"""Locks: a table in many buckets, each with a lock; threads mostly want different ones."""

import threading

from team import at_least, start

TURNS = 800_000
BUCKETS = 64
KEYS = 4_096


class Bucket:
    """A part of the table."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.values = [0] * (KEYS // BUCKETS)
        self.changes = 0

    def add(self, key: int, amount: int) -> None:
        """Add to the value of a key."""
        with self.lock:
            self.values[key] += amount
            self.changes += 1

    def get(self, key: int) -> int:
        """The value of a key."""
        with self.lock:
            return self.values[key]


def main() -> None:
    """Three reads, one write, and so on."""
    team, scale = start()
    turns = at_least(8, TURNS * scale)
    buckets = [Bucket() for _ in range(BUCKETS)]

    def work(number: int) -> None:
        for turn in team.share(number, turns):
            key = turn * 40_503 % KEYS
            bucket = buckets[key % BUCKETS]
            if turn & 3:
                bucket.get(key // BUCKETS)
            else:
                bucket.add(key // BUCKETS, turn)

    team.run(work)
    team.finish([(bucket.changes, bucket.values) for bucket in buckets])


main()
