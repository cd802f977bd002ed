"""Nobody writes: lists, dicts, sets and objects are read by two threads in every way."""

from _shared import Box, run

numbers = [3, 1, 2]
names = {"a": 1, "b": 2}
kinds = {"x", "y"}
box = Box()


def read():
    total = len(numbers) + numbers[0] + numbers[-1] + sum(numbers) + sum(numbers[1:])
    total += names["a"] + names.get("z", 0) + len([*names]) + sum(names.values())
    first, *rest = numbers
    assert "x" in kinds and sorted(kinds) and numbers == numbers[:] and rest
    return total + first + box.value


run(read, read, read)
