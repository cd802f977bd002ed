"""RLock misuse: a wait deep inside gives up the lock of the outer block too.

From: conditions on RLocks; Condition.wait releases every level that the thread holds.
Needs: the move has to wait for room, and the auditor looks meanwhile: the money is nowhere.
"""

import threading
from collections.abc import Callable


class Books:
    def __init__(self) -> None:
        self.changed = threading.Condition(threading.RLock())
        self.cash = 10
        self.bank = 0
        self.bank_open = False
        self.seen = 10

    def open_bank(self) -> None:
        with self.changed:
            self.bank_open = True
            self.changed.notify_all()

    def wait_for_bank(self) -> None:
        with self.changed:
            while not self.bank_open:
                self.changed.wait()

    def move_then_wait(self) -> None:
        with self.changed:
            self.cash -= 10
            self.wait_for_bank()
            self.bank += 10

    def wait_then_move(self) -> None:
        with self.changed:
            self.wait_for_bank()
            self.cash -= 10
            self.bank += 10

    def audit(self) -> None:
        with self.changed:
            self.seen = self.cash + self.bank


def run(books: Books, move: Callable[[], None]) -> None:
    threads = [threading.Thread(target=target) for target in (books.open_bank, move, books.audit)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert books.seen == 10


def buggy() -> None:
    books = Books()
    run(books, books.move_then_wait)


def safe() -> None:
    books = Books()
    run(books, books.wait_then_move)
