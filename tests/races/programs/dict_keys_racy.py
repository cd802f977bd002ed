"""1, 1.0 and True are one key."""

from _shared import run

cache = {}


def put_int():
    cache[1] = "int"  # at: int


def put_true():
    cache[True] = "bool"  # at: bool


run(put_int, put_true)
