"""Uncaught exceptions in threads: the default hook prints tracebacks to stderr.

Varies: the order of the tracebacks. SystemExit in a thread is silent.
"""

import sys
import threading

survivors = []


class Odd(Exception):
    """Raised for odd numbers."""


def check(number):
    if number == 4:
        sys.exit("not shown")
    if number % 2:
        raise Odd(f"number {number}")
    survivors.append(number)


def work(number):
    try:
        check(number)
    except Odd as error:
        raise RuntimeError(f"thread {number} failed") from error


threads = [threading.Thread(target=work, args=(n,), name=f"t{n}") for n in range(7)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("survivors", survivors)
