"""A future without a pool: the value is written before the result is set."""

from concurrent.futures import Future

from _shared import Box, run

box = Box()
future = Future()


def produce():
    box.value = 1
    future.set_result("ready")


def consume():
    assert future.result() == "ready"
    assert box.value == 1


run(consume, produce, consume)
