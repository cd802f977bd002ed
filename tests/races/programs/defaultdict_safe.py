"""Each thread counts its own word in a defaultdict."""

from collections import defaultdict

from _shared import run

counts = defaultdict(int)


def counter(word):
    def count():
        for _ in range(10):
            counts[word] += 1

    return count


run(counter("left"), counter("right"))
assert counts == {"left": 10, "right": 10}
