"""Wrong lock: the draw is locked, the player reads the drawn number after the lock is gone.

From: Lottery, IBM Concurrency Testing Repository.
Needs: the second player's draw falls between the first player's draw and reading.
"""

import threading
from collections.abc import Callable


class Lottery:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.drawn = 0
        self.tickets: dict[str, int] = {}

    def play(self, player: str) -> None:
        with self.lock:
            self.drawn += 1
        self.tickets[player] = self.drawn

    def play_locked(self, player: str) -> None:
        with self.lock:
            self.drawn += 1
            number = self.drawn
        self.tickets[player] = number


def run(lottery: Lottery, play: Callable[[str], None]) -> None:
    threads = [threading.Thread(target=play, args=(name,)) for name in ("ann", "bob", "cem")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(lottery.tickets.values()) == [1, 2, 3]


def buggy() -> None:
    lottery = Lottery()
    run(lottery, lottery.play)


def safe() -> None:
    lottery = Lottery()
    run(lottery, lottery.play_locked)
