"""A pattern takes a list apart while another thread writes an item."""

from _shared import run

command = ["go", 1]


def act():
    match command:  # at: match
        case ["go", steps]:
            return steps
    return 0


def change():
    command[1] = 2  # at: write


run(act, change)
