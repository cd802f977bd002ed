"""One thread puts a key in, another asks how many there are, with the lock."""

import threading

from _shared import run

users = {}
lock = threading.Lock()


def enter():
    with lock:
        users["ann"] = 1


def count():
    with lock:
        return len(users)


run(enter, count)
