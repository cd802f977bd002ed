"""Two threads take the value of one key out of a dict."""

from _shared import run

tickets = {"seat": 1}


def take():
    return tickets.pop("seat", None)  # at: pop


run(take, take)
