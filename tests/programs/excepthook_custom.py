"""threading.excepthook replaced: it gets type, value and thread; one that fails goes to sys's.

Varies: the order in which exceptions were reported.
"""

import sys
import threading

reports = []


def report(arguments):
    name = arguments.thread.name
    reports.append((name, arguments.exc_type.__name__, str(arguments.exc_value)))
    if name == "t3":
        raise ValueError("the hook failed")


def report_failure(kind, value, traceback):
    reports.append(("sys.excepthook", kind.__name__, str(value)))


def work(number):
    if number % 2:
        raise KeyError(number)
    raise OSError(number, f"made up {number}")


threading.excepthook = report
sys.excepthook = report_failure
threads = [threading.Thread(target=work, args=(n,), name=f"t{n}") for n in range(6)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
for entry in reports:
    print(*entry)
print("default kept", threading.__excepthook__ is not threading.excepthook)
