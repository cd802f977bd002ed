"""Attributes of threading.local are each thread's own."""

import threading

from _shared import run


class Own(threading.local):
    def __init__(self):
        self.value = 0


plain = threading.local()
derived = Own()


def work():
    plain.value = 0
    for _ in range(5):
        plain.value += 1
        derived.value += 1
    assert plain.value == derived.value == 5


run(work, work)
