"""Two threads write one byte of a bytearray."""

from _shared import run

buffer = bytearray(16)


def write():
    buffer[5] = 1  # at: write


run(write, write)
