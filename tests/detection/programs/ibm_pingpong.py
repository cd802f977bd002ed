"""Wrong lock: a player looks whether there is a ball under one lock; it is taken under another.

From: Pingpong, IBM Concurrency Testing Repository.
Needs: the ball is taken away between the look and the hit. The hit is then an AttributeError.
"""

import threading


class Ball:
    def __init__(self) -> None:
        self.hits = 0

    def hit(self) -> None:
        self.hits += 1


class Table:
    def __init__(self, player_lock: threading.Lock, umpire_lock: threading.Lock) -> None:
        self.player_lock = player_lock
        self.umpire_lock = umpire_lock
        self.ball: Ball | None = Ball()

    def play(self) -> None:
        with self.player_lock:
            if self.ball is not None:
                self.ball.hit()

    def end_game(self) -> None:
        with self.umpire_lock:
            self.ball = None


def run(table: Table) -> None:
    threads = [threading.Thread(target=target) for target in (table.play, table.end_game)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert table.ball is None


def buggy() -> None:
    run(Table(threading.Lock(), threading.Lock()))


def safe() -> None:
    lock = threading.Lock()
    run(Table(lock, lock))
