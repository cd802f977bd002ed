"""Compute: a sieve, a matrix product and a table of edit distances; loops within loops."""

import random

from parts import run_parts

LIMIT = 4_000_000
SIZE = 190
LENGTH = 1_400


def count_primes(limit: int) -> int:
    """The sieve of Eratosthenes, item by item."""
    is_prime = [True] * limit
    is_prime[0] = is_prime[1] = False
    for number in range(2, int(limit**0.5) + 1):
        if is_prime[number]:
            for multiple in range(number * number, limit, number):
                is_prime[multiple] = False
    return sum(is_prime)


def multiply(left: list[list[int]], right: list[list[int]], rows: int) -> list[list[int]]:
    """The first rows of the product of two square matrices."""
    size = len(left)
    product = [[0] * size for _ in range(rows)]
    for row in range(rows):
        for column in range(size):
            total = 0
            for place in range(size):
                total += left[row][place] * right[place][column]
            product[row][column] = total
    return product


def edit_distance(first: str, second: str) -> int:
    """Levenshtein's, with one row kept."""
    previous = list(range(len(second) + 1))
    for row, a in enumerate(first, 1):
        current = [row]
        for column, b in enumerate(second, 1):
            current.append(cheapest(previous[column], current[-1], previous[column - 1], a == b))
        previous = current
    return previous[-1]


def cheapest(above: int, left: int, diagonal: int, is_same: bool) -> int:
    """The cost of the cheapest way into a cell."""
    if is_same:
        return diagonal
    best = above if above < left else left
    return (diagonal if diagonal < best else best) + 1


def main() -> None:
    """Run all three."""
    choose = random.Random(3)
    matrix = [[choose.randrange(10) for _ in range(SIZE)] for _ in range(SIZE)]
    words = ["".join(choose.choices("abcd", k=LENGTH)) for _ in range(2)]

    def run(part: float) -> tuple[int, int, int]:
        primes = count_primes(int(LIMIT * part))
        product = multiply(matrix, matrix, int(SIZE * part))
        distance = edit_distance(words[0][: int(LENGTH * part)], words[1])
        return primes, sum(row[place] for place, row in enumerate(product)), distance

    results, watch = run_parts(run)
    primes, trace, distance = results[0]
    print("primes", primes, "trace", trace, "distance", distance)
    watch.print()


main()
