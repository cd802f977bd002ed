"""`:=` binds locals; in a comprehension, those of the function around it."""

from _shared import run

latest = 0


def compute():
    found = [last for number in range(5) if (last := number * 2) > 4]
    if (latest := len(found)) > 1:
        return latest
    return last


run(compute, compute)
assert latest == 0
