"""Non-atomic operation: an agent asks whether a seat is left, then sells it.

From: Airline Tickets, IBM Concurrency Testing Repository.
Needs: two agents ask before either of them sells the last seat; the first seat hides nothing.
"""

import threading
from collections.abc import Callable

SEATS = 2
AGENTS = 3


class Airline:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.sold = 0

    def has_seat(self) -> bool:
        with self.lock:
            return self.sold < SEATS

    def sell(self) -> None:
        with self.lock:
            self.sold += 1

    def ask_then_sell(self) -> None:
        if self.has_seat():
            self.sell()

    def sell_if_left(self) -> None:
        with self.lock:
            if self.sold < SEATS:
                self.sold += 1


def run(airline: Airline, agent: Callable[[], None]) -> None:
    threads = [threading.Thread(target=agent) for _ in range(AGENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert airline.sold == SEATS


def buggy() -> None:
    airline = Airline()
    run(airline, airline.ask_then_sell)


def safe() -> None:
    airline = Airline()
    run(airline, airline.sell_if_left)
