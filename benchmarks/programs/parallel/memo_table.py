"""Shared memory: a table of known answers that all threads read and fill, without locks.

How many steps each number takes to 1 (halve it, or three times and one more). Two threads may
work out the same answer; it is the same one.
"""

from team import at_least, start

LIMIT = 250_000


class Memo:
    """What is known of the numbers up to a limit."""

    def __init__(self, limit: int) -> None:
        self.steps: list[int | None] = [None, 0] + [None] * (limit - 1)


def count(memo: Memo, number: int) -> int:
    """The steps from a number, which are then known, and those of all on the way."""
    steps = memo.steps
    path = []
    while True:
        known = steps[number] if number < len(steps) else None
        if known is not None:
            break
        path.append(number)
        number = number // 2 if number % 2 == 0 else 3 * number + 1
    for passed in reversed(path):
        known += 1
        if passed < len(steps):
            steps[passed] = known
    return known


def main() -> None:
    """The longest way of all."""
    team, scale = start()
    limit = at_least(16, LIMIT * scale)
    memo = Memo(limit)
    longest = [(0, 0)] * team.size

    def work(number: int) -> None:
        best = (0, 0)
        for turn in team.turns(number, limit - 1):
            steps = count(memo, turn + 1)
            if steps > best[0]:
                best = (steps, turn + 1)
        longest[number] = best

    team.run(work)
    steps = max(found[0] for found in longest)
    first = min(found[1] for found in longest if found[0] == steps)
    team.finish((steps, first, memo.steps))


main()
