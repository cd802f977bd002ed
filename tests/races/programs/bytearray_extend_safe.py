"""Two threads decode a bytearray, and extend copies of it."""

from _shared import run

buffer = bytearray(b"abc")


def decode():
    own = buffer[:]
    own.extend(b"def")
    return own.decode() + buffer.decode()


run(decode, decode)
