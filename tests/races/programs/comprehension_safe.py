"""The name in a comprehension is its own, though there is a global of the same name."""

from _shared import run

number = 0
numbers = [1, 2, 3]


def squares():
    found = {number * number for number in numbers}
    return found | {key: number for number, key in enumerate(numbers)}.keys()


def cubes():
    return [*(number**3 for number in numbers), number]


run(squares, cubes, squares)
