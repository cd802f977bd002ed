"""A set grows while another thread goes through it, in a comprehension."""

import threading

names = {"ann", "bob"}


def shout() -> list[str]:
    return [name.upper() for name in names]


reader = threading.Thread(target=shout)
reader.start()
names.add("cem")
reader.join()
