"""Exceptions in `_thread` threads: SystemExit is silent, others go to sys.unraisablehook.

Varies: the order of the reports.
"""

import _thread
import sys

reports = []
finished = [_thread.allocate_lock() for _ in range(6)]


def report(unraisable):
    number = unraisable.exc_value.args[0]
    reports.append((unraisable.exc_type.__name__, number))
    finished[number].release()


def work(number):
    if number % 3 == 0:
        finished[number].release()
        raise SystemExit(number)
    raise (LookupError if number % 3 == 1 else ArithmeticError)(number)


sys.unraisablehook = report
for number, lock in enumerate(finished):
    lock.acquire()
    _thread.start_new_thread(work, (number,))
for lock in finished:
    lock.acquire()
for entry in reports:
    print(*entry)
