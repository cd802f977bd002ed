"""Two threads go through keys, values and items of a dict that nobody changes."""

from _shared import run

users = {"ann": 1, "bob": 2}


def read():
    total = sum(users.values()) + len(users.keys())
    for name, number in users.items():
        total += len(name) + number
    return total, list(users), users.copy(), {**users}, max(users)


run(read, read)
