"""Dataclasses, one of them frozen: who reads a field has the lock, or the field never changes."""

import threading
from dataclasses import dataclass, field

from _shared import run


@dataclass(frozen=True)
class Item:
    name: str
    price: int


@dataclass
class Order:
    item: Item
    amount: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)


order = Order(Item("tea", 2))


def change():
    with order.lock:
        order.amount = 3


def read():
    with order.lock:
        return order.amount * order.item.price


run(change, read)
