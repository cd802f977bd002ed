"""A list as a stack with a lock."""

import threading

from _shared import run

stack = [1, 2]
lock = threading.Lock()


def push():
    with lock:
        stack.append(3)


def pop():
    with lock:
        return stack.pop() if stack else None


run(push, pop, pop)
