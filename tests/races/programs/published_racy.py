"""A thread makes an object, puts it where others find it, and goes on using it."""

from _shared import Box, run

registry = {}


def work():
    box = registry.setdefault("the one", Box())
    box.value += 1  # at: add


run(work, work)
