"""A list as a stack: one thread pushes, another pops."""

from _shared import run

stack = [1, 2]


def push():
    stack.append(3)  # at: push


def pop():
    return stack.pop()  # at: pop


run(push, pop)
