"""Locks: threads count under one lock that all want, with a little work of their own between."""

import threading

from team import at_least, start

TURNS = 1_200_000


class Tally:
    """A count that a lock guards."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.count = 0
        self.mixed = 0


def main() -> None:
    """Count."""
    team, scale = start()
    turns = at_least(4, TURNS * scale)
    tally = Tally()

    def work(number: int) -> None:
        own = 0
        for turn in team.share(number, turns):
            own = (own * 31 + turn) & 0xFFFF
            with tally.lock:
                tally.count += 1
                tally.mixed ^= turn

    team.run(work)
    team.finish((tally.count, tally.mixed))


main()
