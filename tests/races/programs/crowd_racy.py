"""More threads at once than a word has bits: the first and the last write one attribute."""

import threading

from _shared import Box, run

box = Box()
all_are_here = threading.Event()


def write_first():
    box.value = 1  # at: first


def wait():
    all_are_here.wait()


def write_last():
    box.value = 2  # at: last
    all_are_here.set()


run(write_first, *[wait] * 70, write_last)
