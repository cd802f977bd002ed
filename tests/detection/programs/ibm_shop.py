"""Double-checked locking with a sleep: the shelf is seen before the supplier has filled it.

From: Shop, IBM Concurrency Testing Repository (sleep interleaving, double-checked locking).
Needs: the customer's sleep ends, and the customer looks, between the moment the supplier puts up
the shelf and the moment the goods are on it.
"""

import threading
import time
from collections.abc import Callable


class Shop:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.shelf: list[str] | None = None
        self.bought: list[str | None] = []

    def shelf_seen_early(self) -> list[str]:
        if self.shelf is None:
            with self.lock:
                if self.shelf is None:
                    self.shelf = []
                    self.shelf.extend(("bread", "milk"))
        return self.shelf

    def shelf_seen_full(self) -> list[str]:
        with self.lock:
            if self.shelf is None:
                self.shelf = ["bread", "milk"]
            return self.shelf


def run(shop: Shop, shelf: Callable[[], list[str]]) -> None:
    def customer() -> None:
        time.sleep(0.01)
        goods = shelf()
        shop.bought.append(goods.pop() if goods else None)

    threads = [threading.Thread(target=target) for target in (shelf, customer)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert shop.bought == ["milk"]


def buggy() -> None:
    shop = Shop()
    run(shop, shop.shelf_seen_early)


def safe() -> None:
    shop = Shop()
    run(shop, shop.shelf_seen_full)
