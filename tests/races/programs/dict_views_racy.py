"""One thread sums up the values of a dict, another takes a key out."""

from _shared import run

users = {"ann": 1, "bob": 2}


def total():
    return sum(users.values())  # at: values


def leave():
    return users.pop("bob")  # at: pop


run(total, leave)
