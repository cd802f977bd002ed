"""Two conditions that have a lock each: what is done in one is not ordered with the other."""

import threading

from _shared import run

filled = threading.Condition()
emptied = threading.Condition()
items = []


def produce():
    with filled:
        items.append(1)  # at: append
        filled.notify()


def consume():
    with emptied:
        items.clear()  # at: clear
        emptied.notify()


run(produce, consume)
