"""Exceptions that somebody catches, and one in a thread that nobody does."""

import contextlib
import threading

import reenact


@reenact.guarded()
def risky(number):
    if number == 3:
        raise KeyError(number)


def work():
    for number in range(5):
        with contextlib.suppress(KeyError):
            risky(number)


def fail():
    raise RuntimeError("nobody catches this")


for target in (work, fail):
    thread = threading.Thread(target=target)
    thread.start()
    thread.join()
print("the end")
