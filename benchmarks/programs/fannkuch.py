"""Compute: most reversals of a permutation; tight loops over small lists, hardly a call."""

import math

from parts import run_parts

SIZE = 9


def count_flips(permutation: list[int]) -> int:
    """Reverse the first p[0] + 1 items until p[0] is 0."""
    flips = 0
    first = permutation[0]
    while first:
        permutation[: first + 1] = permutation[first::-1]
        first = permutation[0]
        flips += 1
    return flips


def rotate(permutation: list[int], counts: list[int]) -> bool:
    """Step to the next permutation; False after the last one."""
    for place in range(1, len(permutation)):
        permutation.insert(place, permutation.pop(0))
        counts[place] += 1
        if counts[place] <= place:
            return True
        counts[place] = 0
    return False


def fannkuch(part: float) -> tuple[int, int]:
    """The checksum and the greatest number of flips over a part of all permutations."""
    permutation = list(range(SIZE))
    counts = [0] * SIZE
    limit = math.factorial(SIZE) * part
    checksum = best = number = 0
    more = True
    while more:
        flips = count_flips(permutation[:])
        best = max(best, flips)
        checksum += flips if number % 2 == 0 else -flips
        number += 1
        more = rotate(permutation, counts) and number < limit
    return checksum, best


def main() -> None:
    """Run once."""
    results, watch = run_parts(fannkuch)
    checksum, best = results[0]
    print("checksum", checksum, "flips", best)
    watch.print()


main()
