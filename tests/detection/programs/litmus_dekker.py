"""Missing order: each thread looks at the other's flag before it has raised its own.

From: dekker-fences, the litmus programs of CDSchecker and tsan11rec. A thread that finds the
other one inside goes away instead of spinning.
Needs: both look before either raises its flag; then both are inside at once.
"""

import threading


class Room:
    def __init__(self, raises_first: bool) -> None:
        self.raises_first = raises_first
        self.inside = [False, False]
        self.visitors: list[int] = []
        self.most = 0

    def enter(self, me: int) -> bool:
        if self.raises_first:
            self.inside[me] = True
            if self.inside[1 - me]:
                self.inside[me] = False
                return False
            return True
        if self.inside[1 - me]:
            return False
        self.inside[me] = True
        return True

    def visit(self, me: int) -> None:
        if self.enter(me):
            self.visitors.append(me)
            self.most = max(self.most, len(self.visitors))
            self.visitors.remove(me)
            self.inside[me] = False


def run(room: Room) -> None:
    threads = [threading.Thread(target=room.visit, args=(me,)) for me in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert room.most <= 1


def buggy() -> None:
    run(Room(raises_first=False))


def safe() -> None:
    run(Room(raises_first=True))
