"""Each thread puts an object of its own into a context variable."""

from contextvars import ContextVar, copy_context

from _shared import Box, run

current = ContextVar("current")


def add():
    current.get().value += 1


def work():
    current.set(Box())
    add()
    copy_context().run(add)
    assert current.get().value == 2


run(work, work)
