"""Two threads make and drop many objects, whose addresses are given again and again."""

from collections import deque

from _shared import Box, run


def fill(box, numbers, names, seen, line):
    box.value += 1
    numbers.append(box.value)
    numbers[0] += 1
    names["key"] = numbers[0]
    seen.add(len(names) + len(numbers))
    line.append(len(seen))
    return len(line) + sum(numbers)


def work():
    for _ in range(200):
        fill(Box(), [], {}, set(), deque())


run(work, work, work)
