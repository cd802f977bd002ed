"""Stale length: a buffer asks another one for its length, then for that many characters.

From: stringbuffer-jdk1.4, SCTBench (CB). Every method is locked; the two calls together are not.
Needs: the other buffer is cut between the two calls. The second call then raises an IndexError.
"""

import threading
from collections.abc import Callable


class Buffer:
    def __init__(self, text: str) -> None:
        self.lock = threading.RLock()
        self.chars = list(text)

    def length(self) -> int:
        with self.lock:
            return len(self.chars)

    def copy_to(self, count: int) -> list[str]:
        with self.lock:
            if count > len(self.chars):
                raise IndexError(count)
            return self.chars[:count]

    def cut(self) -> None:
        with self.lock:
            self.chars.clear()

    def append(self, other: "Buffer") -> None:
        with self.lock:
            self.chars.extend(other.copy_to(other.length()))

    def append_locked(self, other: "Buffer") -> None:
        with self.lock, other.lock:
            self.append(other)


def run(other: Buffer, append: Callable[[Buffer], None]) -> None:
    threads = [
        threading.Thread(target=append, args=(other,)),
        threading.Thread(target=other.cut),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert other.chars == []


def buggy() -> None:
    run(Buffer("abc"), Buffer("xyz").append)


def safe() -> None:
    run(Buffer("abc"), Buffer("xyz").append_locked)
