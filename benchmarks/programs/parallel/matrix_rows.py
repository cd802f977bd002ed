"""Shared memory: a product of matrices: lists of rows that all read, rows that one writes.

All entries are small integers. Each row begins its sums elsewhere, so that threads seldom read
the same row at the same time.
"""

from random import Random

from team import at_least, start

SIZE = 190


class Matrices:
    """Two factors and their product."""

    def __init__(self, size: int) -> None:
        random = Random(9)
        self.left = [[random.randrange(10) for _ in range(size)] for _ in range(size)]
        self.right = [[random.randrange(10) for _ in range(size)] for _ in range(size)]
        self.product = [[0] * size for _ in range(size)]


def multiply(shared: Matrices, i: int) -> None:
    """One row of the product."""
    left, row = shared.left[i], shared.product[i]
    size = len(row)
    for turn in range(size):
        k = (i * 7 + turn) % size
        factor = left[k]
        other = shared.right[k]
        for j in range(size):
            row[j] += factor * other[j]


def main() -> None:
    """Multiply."""
    team, scale = start()
    shared = Matrices(at_least(4, SIZE * scale ** (1 / 3)))

    def work(number: int) -> None:
        for i in team.share(number, len(shared.product)):
            multiply(shared, i)

    team.run(work)
    team.finish(shared.product)


main()
