"""Passes under plain pytest, as often as you like; `pytest --reenact` finds the race."""

import threading

from tickets import Office


def test_the_last_seat_is_sold_once():
    office = Office(seats=1)
    buyers = [threading.Thread(target=office.sell, args=(name,)) for name in ("ann", "bob")]
    for buyer in buyers:
        buyer.start()
    for buyer in buyers:
        buyer.join()
    assert len(office.sold) == 1
