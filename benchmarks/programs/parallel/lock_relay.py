"""Locks: threads hand pieces of work round by conditions, from a bounded buffer to the next one."""

import threading

from team import at_least, start

ITEMS = 60_000
ROOM = 32


class Buffer:
    """As many items as there is room for."""

    def __init__(self) -> None:
        self.condition = threading.Condition()
        self.items: list[int] = []

    def put(self, item: int) -> None:
        """Wait for room, and put it there."""
        with self.condition:
            while len(self.items) >= ROOM:
                self.condition.wait()
            self.items.append(item)
            self.condition.notify_all()

    def take_all(self) -> list[int]:
        """Wait for items, and take what is there."""
        with self.condition:
            while not self.items:
                self.condition.wait()
            taken, self.items = self.items, []
            self.condition.notify_all()
        return taken


def mix(item: int) -> int:
    """Some work on an item."""
    for _ in range(8):
        item = (item * 1_103_515_245 + 12_345) & 0x7FFFFFFF
    return item


def main() -> None:
    """Each thread of the team feeds a partner, who adds up what comes."""
    team, scale = start()
    items = at_least(4, ITEMS * scale)
    sums = [0] * team.size

    def work(number: int) -> None:
        buffer = Buffer()
        part = team.share(number, items)

        def consume() -> None:
            left, total = len(part), 0
            while left:
                taken = buffer.take_all()
                left -= len(taken)
                for item in taken:
                    total += mix(item)
            sums[number] = total

        partner = threading.Thread(target=consume)
        partner.start()
        for item in part:
            buffer.put(mix(item))
        partner.join()

    team.run(work)
    team.finish(sum(sums))


main()
