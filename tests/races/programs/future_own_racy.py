"""A future without a pool: the value is written after the result was set."""

from concurrent.futures import Future

from _shared import Box, run

box = Box()
future = Future()


def produce():
    future.set_result("ready")
    box.value = 1  # at: write


def consume():
    future.result()
    return box.value  # at: read


run(produce, consume)
