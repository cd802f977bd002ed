"""Two threads find an object each in a dict, and change it."""

from _shared import Box, run

boxes = {"a": Box(), "b": Box()}


def changer(key):
    def change():
        boxes[key].value += 1

    return change


run(changer("a"), changer("b"))
