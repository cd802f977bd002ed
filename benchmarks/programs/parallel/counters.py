"""Shared memory: counters of many objects, counted up without locks; some counts are lost."""

from team import at_least, start

TURNS = 1_500_000
OBJECTS = 256
FOREIGN_EACH = 16


class Counter:
    """A count, and by how much at a time."""

    def __init__(self) -> None:
        self.count = 0
        self.step = 1


def main() -> None:
    """Mostly a thread's own counters; every sixteenth time any."""
    team, scale = start()
    turns = at_least(8, TURNS * scale)
    counters = [Counter() for _ in range(OBJECTS)]

    def work(number: int) -> None:
        own = team.share(number, OBJECTS)
        first, size = own.start, len(own)
        for place, turn in enumerate(team.share(number, turns)):
            if turn % FOREIGN_EACH:
                counter = counters[first + place % size]
            else:
                counter = counters[turn * 40_503 % OBJECTS]
            counter.count += counter.step

    team.run(work)
    team.finish([counter.count for counter in counters])


main()
