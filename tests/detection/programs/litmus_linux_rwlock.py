"""Missing check: a writer is let in as long as there is no other writer.

From: linuxrwlocks, the litmus programs of CDSchecker and tsan11rec; both sides only try.
Needs: the writer enters and writes between the two reads of the reader.
"""

import threading

FREE = 1000


class Lock:
    def __init__(self, checks_readers: bool) -> None:
        self.checks_readers = checks_readers
        self.lock = threading.Lock()
        self.left = FREE

    def add(self, amount: int) -> int:
        with self.lock:
            before = self.left
            self.left = before + amount
            return before

    def try_read(self) -> bool:
        if self.add(-1) > 0:
            return True
        self.add(1)
        return False

    def try_write(self) -> bool:
        before = self.add(-FREE)
        if before == FREE or (before > 0 and not self.checks_readers):
            return True
        self.add(FREE)
        return False


class Pair:
    def __init__(self) -> None:
        self.left = 0
        self.right = 0


def run(lock: Lock) -> None:
    pair = Pair()
    seen = []

    def read() -> None:
        if lock.try_read():
            seen.append((pair.left, pair.right))
            lock.add(1)

    def write() -> None:
        if lock.try_write():
            pair.left = 1
            pair.right = 1
            lock.add(FREE)

    threads = [threading.Thread(target=target) for target in (read, write)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(left == right for left, right in seen)


def buggy() -> None:
    run(Lock(checks_readers=False))


def safe() -> None:
    run(Lock(checks_readers=True))
