"""A field of a dataclass is written by one thread and read by another."""

from dataclasses import dataclass

from _shared import run


@dataclass
class Order:
    name: str
    amount: int = 0


order = Order("tea")


def change():
    order.amount = 3  # at: write


def read():
    return order.amount * 2  # at: read


run(change, read)
