"""Attributes that are used under locks at first, and then without; one lock is a signal."""

import threading
from zlib import crc32

THREADS = 4
TURNS = 200


class Shared:
    def __init__(self) -> None:
        self.always = self.at_first = self.of_two = self.signalled = 0


shared = Shared()
lock, other, signal = threading.Lock(), threading.Lock(), threading.Lock()
signal.acquire()
seen: list[list[int]] = [[] for _ in range(THREADS)]


def work(number: int) -> None:
    for _ in range(TURNS):
        with lock:
            shared.always += number
            shared.at_first = shared.at_first * 3 + number & 0xFFFF
        with lock, other:
            shared.of_two += number
            seen[number].append(shared.at_first)
    for _ in range(TURNS):
        shared.at_first = shared.at_first * 5 + number & 0xFFFF
        with other:
            shared.of_two = shared.of_two * 7 + number & 0xFFFF
        seen[number].append(shared.at_first)
    if number == 0:
        shared.signalled += 1
        signal.release()
    elif number == 1:
        with signal:
            shared.signalled += 2


threads = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(shared.always, shared.at_first, shared.of_two, shared.signalled)
print(crc32(repr(seen).encode()))
