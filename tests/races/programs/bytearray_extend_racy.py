"""One thread extends a bytearray, another makes bytes of it."""

from _shared import run

buffer = bytearray(b"abc")


def extend():
    buffer.extend(b"def")  # at: extend


def decode():
    return buffer.decode()  # at: decode


run(extend, decode)
