"""Lock order across layers: each layer calls into the next with its own lock held.

From: logging, configuration and cache that use each other.
Needs: three threads each hold the lock of one layer and want that of the next. Deadlock.
"""

import threading


class Layer:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.calls = 0

    def note(self) -> None:
        with self.lock:
            self.calls += 1

    def call_inside(self, other: "Layer") -> None:
        with self.lock:
            self.calls += 1
            other.note()

    def call_outside(self, other: "Layer") -> None:
        self.note()
        other.note()


def run(inside: bool) -> None:
    log, config, cache = Layer(), Layer(), Layer()
    call = Layer.call_inside if inside else Layer.call_outside
    pairs = ((log, config), (config, cache), (cache, log))
    threads = [threading.Thread(target=call, args=pair) for pair in pairs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (log.calls, config.calls, cache.calls) == (2, 2, 2)


def buggy() -> None:
    run(inside=True)


def safe() -> None:
    run(inside=False)
