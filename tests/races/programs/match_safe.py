"""Patterns take a list and a dict apart, in two threads."""

from _shared import run

command = ["go", 1]
options = {"fast": True}


def act():
    match command:
        case ["go", int(steps)]:
            pass
        case _:
            steps = 0
    match options:
        case {"fast": True}:
            steps += 1
    return steps


run(act, act)
