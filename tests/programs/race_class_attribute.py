"""Class attributes and methods replaced while other threads use them.

Varies: which version of the method each call met, the class counter.
"""

import threading
from zlib import crc32


class Greeter:
    count = 0
    prefix = "none"

    def greet(self):
        return "original"


def make_greet(version):
    def greet(self):
        return f"v{version} {self.prefix}"

    return greet


heard = {}


def patch(name):
    for version in range(40):
        Greeter.prefix = f"{name}{version}"
        Greeter.greet = make_greet(version)
        Greeter.count = Greeter.count + len(name)


def listen(name):
    greeter = Greeter()
    heard[name] = [greeter.greet() for _ in range(120)]


threads = [threading.Thread(target=patch, args=(name,)) for name in "pq"]
threads += [threading.Thread(target=listen, args=(name,)) for name in "ab"]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

print("count", Greeter.count, "prefix", Greeter.prefix, "method", Greeter().greet())
for name, words in heard.items():
    print(name, len(set(words)), words[0], "->", words[-1], crc32(repr(words).encode()))
