"""What the `boundary_*.py` programs declare: its results come from outside, in Python's guise."""

import os
import time


class Refused(Exception):
    def __init__(self, caller, code):
        super().__init__(f"{caller} was refused")
        self.caller = caller
        self.code = code


class Rows:
    """An iterator that can be asked and closed, of a class that nobody imports."""

    def __init__(self, count):
        self.left = count

    def __iter__(self):
        return self

    def __next__(self):
        if not self.left:
            raise StopIteration
        self.left -= 1
        return self.left, number()

    def __len__(self):
        return self.left

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.left = 0


class Line:
    """A connection: keeps its listeners, and calls them while it is asked something."""

    def __init__(self, name):
        self.name = name
        self.listeners = []

    def listen(self, listener):
        self.listeners.append(listener)

    def ask(self, question):
        time.sleep(0.0005)
        answer = number()
        for listener in self.listeners:
            listener(self, question, answer)
        if answer % 4 == 0:
            raise Refused(self.name, answer)
        return answer

    def rows(self, count):
        return Rows(count)

    def fill(self, buffer):
        buffer[:] = os.urandom(len(buffer))

    @property
    def load(self):
        return number()


def number():
    return int.from_bytes(os.urandom(2), "little")


def connect(name):
    return Line(name)
