"""Two threads make and drop many objects, and one that lives is shared by them."""

from _shared import Box, run

shared = Box()


def fill(box, numbers, names):
    box.value += 1
    numbers.append(box.value)
    names["key"] = numbers[0]
    return len(names) + len(numbers)


def work():
    for _ in range(200):
        fill(Box(), [], {})
    shared.value += 1  # at: add


run(work, work)
