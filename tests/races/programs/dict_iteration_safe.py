"""One thread goes through a copy that it made with the lock, another puts keys in with it."""

import threading

from _shared import run

users = {"ann": 1, "bob": 2}
lock = threading.Lock()


def names():
    with lock:
        own = dict(users)
    return [name.upper() for name in own]


def write():
    for name in ("cem", "dot"):
        with lock:
            users[name] = 3


run(names, write)
