"""One thread takes any item out of a dict, another reads one."""

from _shared import run

tickets = {"seat": 1, "box": 2}


def take():
    return tickets.popitem()  # at: popitem


def look():
    return tickets.get("seat")  # at: get


run(take, look)
