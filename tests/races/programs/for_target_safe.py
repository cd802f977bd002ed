"""A loop binds the item of a list, each thread's its own."""

from _shared import run

places = [0, 0]


def looper(index):
    def loop():
        for places[index] in (1, 2, 3):
            pass

    return loop


run(looper(0), looper(1))
