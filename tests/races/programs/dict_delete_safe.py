"""One thread deletes a key, another looks up another one."""

from _shared import run

users = {"ann": 1, "bob": 2}


def leave():
    del users["ann"]


def look():
    return users.get("bob"), users.get("cem", 0)


run(leave, look)
