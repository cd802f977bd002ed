"""Two threads take values of different keys out of a dict."""

from _shared import run

tickets = {"seat": 1, "box": 2}


def taker(key):
    def take():
        return tickets.pop(key, None)

    return take


run(taker("seat"), taker("box"), taker("none"))
