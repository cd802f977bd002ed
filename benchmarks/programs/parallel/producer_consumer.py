"""Shared memory: rings of slots from each thread to the next, without locks.

A slot is None when it is free. A thread puts into one ring and takes from another, and goes to
sleep when it can do neither.
"""

import time

from team import at_least, start

ITEMS = 1_000_000
SLOTS = 256


class Ring:
    """One thread puts, one takes."""

    def __init__(self) -> None:
        self.slots: list[int | None] = [None] * SLOTS


def main() -> None:
    """Send the items round by one place."""
    team, scale = start()
    items = at_least(4, ITEMS * scale)
    rings = [Ring() for _ in range(team.size)]
    sums = [0] * team.size

    def work(number: int) -> None:
        target = rings[(number + 1) % team.size].slots
        source = rings[number].slots
        to_put = team.share(number, items)
        to_take = len(team.share((number - 1) % team.size, items))
        put = taken = total = 0
        while put < len(to_put) or taken < to_take:
            is_idle = True
            while put < len(to_put) and target[put % SLOTS] is None:
                target[put % SLOTS] = to_put[put]
                put += 1
                is_idle = False
            while taken < to_take:
                item = source[taken % SLOTS]
                if item is None:
                    break
                source[taken % SLOTS] = None
                total += item ^ 0x5555
                taken += 1
                is_idle = False
            if is_idle:
                time.sleep(0.0001)
        sums[number] = total

    team.run(work)
    team.finish(sum(sums))


main()
