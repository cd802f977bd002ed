"""Two threads append to a deque at both ends, and two take from it."""

from collections import deque

from _shared import run

inbox = deque([0, 0])


def produce():
    inbox.append(1)
    inbox.appendleft(2)


def consume():
    return inbox.pop() + inbox.popleft()


run(produce, consume, produce)
assert len(inbox) == 4
