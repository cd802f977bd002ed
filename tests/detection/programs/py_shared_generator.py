"""Shared generator: two threads draw from one generator.

From: generators as sources of work.
Needs: one thread is inside the generator as the other calls next. ValueError: already executing.
"""

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext


class Source:
    def __init__(self, guard: AbstractContextManager[object]) -> None:
        self.guard = guard
        self.given = 0
        self.numbers = self.generate()
        self.got: list[int] = []

    def generate(self) -> Iterator[int]:
        while True:
            self.given += 1
            yield self.given

    def draw(self) -> None:
        with self.guard:
            number = next(self.numbers)
        self.got.append(number)


def run(source: Source) -> None:
    threads = [threading.Thread(target=source.draw) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    source.numbers = iter(())
    assert sorted(source.got) == [1, 2]


def buggy() -> None:
    run(Source(nullcontext()))


def safe() -> None:
    run(Source(threading.Lock()))
