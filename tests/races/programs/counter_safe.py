"""Each thread counts into a Counter of its own; they are added up when both have ended."""

from collections import Counter

from _shared import run

parts = [Counter(), Counter()]


def counter(index):
    def count():
        parts[index].update("abc")
        parts[index]["d"] += 1
        return parts[index].most_common(1)

    return count


run(counter(0), counter(1))
assert (parts[0] + parts[1])["a"] == 2
