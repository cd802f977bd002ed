"""A context variable is each thread's own; the object that is its default is everybody's."""

from contextvars import ContextVar

from _shared import Box, run

current = ContextVar("current", default=Box())  # noqa: B039


def work():
    current.get().value += 1  # at: add


run(work, work)
