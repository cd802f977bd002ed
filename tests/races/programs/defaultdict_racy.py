"""Two threads count one word in a defaultdict."""

from collections import defaultdict

from _shared import run

counts = defaultdict(int)


def count():
    counts["word"] += 1  # at: count


run(count, count)
