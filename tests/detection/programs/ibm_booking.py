"""Non-atomic operation: a clerk looks for a free room, then books what was found.

From: Booking, IBM Concurrency Testing Repository.
Needs: both clerks find the same room free before one of them has booked it.
"""

import threading
from collections.abc import Callable


class Hotel:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.guests: dict[int, str] = {}
        self.confirmed: list[str] = []

    def free_room(self) -> int:
        with self.lock:
            return 1 if 2 in self.guests else 2

    def book(self, room: int, guest: str) -> None:
        with self.lock:
            self.guests[room] = guest
            self.confirmed.append(guest)

    def find_and_book(self, guest: str) -> None:
        self.book(self.free_room(), guest)

    def find_and_book_at_once(self, guest: str) -> None:
        with self.lock:
            room = 1 if 2 in self.guests else 2
            self.guests[room] = guest
            self.confirmed.append(guest)


def run(hotel: Hotel, clerk: Callable[[str], None]) -> None:
    threads = [threading.Thread(target=clerk, args=(guest,)) for guest in ("ann", "bob")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(hotel.guests.values()) == sorted(hotel.confirmed)


def buggy() -> None:
    hotel = Hotel()
    run(hotel, hotel.find_and_book)


def safe() -> None:
    hotel = Hotel()
    run(hotel, hotel.find_and_book_at_once)
