"""Iteration during mutation: one thread adds up a dict while another one adds a key.

From: metrics and caches that are reported while they are filled.
Needs: the key is added after the first turn of the loop. RuntimeError: changed size.
"""

import threading
from collections.abc import Callable


class Stock:
    def __init__(self) -> None:
        self.counts = {"apple": 3, "pear": 4}
        self.total = 0

    def receive(self) -> None:
        self.counts["plum"] = 5

    def add_up(self) -> None:
        for count in self.counts.values():
            self.total += count

    def add_up_copy(self) -> None:
        for count in list(self.counts.values()):
            self.total += count


def run(stock: Stock, add_up: Callable[[], None]) -> None:
    threads = [threading.Thread(target=target) for target in (add_up, stock.receive)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert stock.total in (7, 12)


def buggy() -> None:
    stock = Stock()
    run(stock, stock.add_up)


def safe() -> None:
    stock = Stock()
    run(stock, stock.add_up_copy)
