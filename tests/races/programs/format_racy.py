"""A list is put into a text while another thread appends."""

from _shared import run

names = ["ann"]


def describe():
    return f"these: {names}"  # at: format


def append():
    names.append("bob")  # at: append


run(describe, append)
