"""One thread puts a key in, another asks how many there are."""

from _shared import run

users = {}


def enter():
    users["ann"] = 1  # at: write


def count():
    return len(users)  # at: len


run(enter, count)
