"""Two threads write a byte each of a bytearray."""

from _shared import run

buffer = bytearray(16)


def writer(index):
    def write():
        buffer[index] = 1
        return buffer[index]

    return write


run(writer(5), writer(6))
assert sum(buffer) == 2
