"""Two threads insert in front: which one is first depends on who comes last."""

from _shared import run

line = []


def insert():
    line.insert(0, "next")  # at: insert


run(insert, insert)
