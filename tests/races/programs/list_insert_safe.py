"""Two threads insert into a list each."""

from _shared import run

lines = [[], []]


def inserter(index):
    def insert():
        lines[index].insert(0, "next")

    return insert


run(inserter(0), inserter(1))
