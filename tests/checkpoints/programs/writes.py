"""Writes of every kind, each of a number of its own that says who wrote it and where.

`noted()` gives the next number, and keeps thread and line of whoever asked. So what was written
last to a variable can be told from its value: the test's oracle for last_write.
"""

import sys
import threading

notes = []


def noted():
    frame = sys._getframe(1)
    notes.append((threading.current_thread().name, frame.f_lineno, frame.f_code.co_name))
    return len(notes) - 1


class Plain:
    shared = noted()

    def __init__(self):
        self.first = noted()
        self.items = [noted(), noted()]
        self.table = {}


class Slotted:
    __slots__ = ("inner", "value")

    def __init__(self):
        self.value = noted()
        self.inner = Plain()


plain, slotted = Plain(), Slotted()
count = noted()
table = {"a": noted(), 1: noted()}
lines = [noted() for _ in range(4)]


def change_attributes(turn):
    plain.first = noted()
    slotted.value = noted()
    if turn % 3 == 0:
        Plain.shared = noted()
    slotted.inner.first = noted()
    setattr(plain, f"made{turn % 2}", 0)


def change_items(turn):
    table["a"] = noted()
    lines[turn % 4] = noted()
    lines[0], lines[-1] = noted(), noted()
    plain.items[turn % 2] = noted()
    plain.table[turn % 5] = noted()


def change_names(turn):
    global count
    count = noted()
    local = noted()
    if (walrus := noted()) % 2:
        local = noted()
    kept = noted()

    def inner(argument, other=None):
        nonlocal kept
        kept = noted()
        other = argument
        return other

    inner(noted())
    for looped in (noted(), noted()):  # noqa: B007 - a write, too
        pass
    return local, walrus, kept, looped


def work():
    for turn in range(6):
        change_attributes(turn)
        change_items(turn)
        change_names(turn)


threads = [threading.Thread(target=work, name=f"t{number}") for number in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(notes))
