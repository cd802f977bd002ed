"""Two threads find one object in a dict, and change it."""

from _shared import Box, run

boxes = {"a": Box(), "b": Box()}


def change():
    boxes["a"].value += 1  # at: change


run(change, change)
