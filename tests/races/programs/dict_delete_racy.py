"""One thread deletes a key that another one looks up."""

from _shared import run

users = {"ann": 1, "bob": 2}


def leave():
    del users["ann"]  # at: delete


def look():
    return users.get("ann")  # at: get


run(leave, look)
