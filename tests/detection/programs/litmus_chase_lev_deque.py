"""Missing compare-and-swap: the owner takes the last item without settling it with the thief.

From: chase-lev-deque, the litmus programs of CDSchecker and tsan11rec.
Needs: the thief sees the last item before the owner starts to take it, and its swap comes after
the owner has read the top and before the owner writes it: the item is taken twice.
"""

import threading


class Deque:
    def __init__(self, items: list[int], settles: bool) -> None:
        self.settles = settles
        self.items = items
        self.lock = threading.Lock()
        self.top = 0
        self.bottom = len(items)

    def advance_top(self, expected: int) -> bool:
        with self.lock:
            if self.top != expected:
                return False
            self.top = expected + 1
            return True

    def take(self) -> int | None:
        bottom = self.bottom - 1
        self.bottom = bottom
        top = self.top
        if top < bottom:
            return self.items[bottom]
        self.bottom = bottom + 1
        if top > bottom:
            return None
        if not self.settles:
            self.top = top + 1
        elif not self.advance_top(top):
            return None
        return self.items[bottom]

    def steal(self) -> int | None:
        top = self.top
        if top >= self.bottom:
            return None
        item = self.items[top]
        return item if self.advance_top(top) else None


def run(deque: Deque) -> None:
    got: list[int | None] = []

    def own() -> None:
        got.append(deque.take())
        got.append(deque.take())

    def steal() -> None:
        got.append(deque.steal())

    threads = [threading.Thread(target=target) for target in (own, steal)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    taken = [item for item in got if item is not None]
    assert len(taken) == len(set(taken))


def buggy() -> None:
    run(Deque([1, 2], settles=False))


def safe() -> None:
    run(Deque([1, 2], settles=True))
