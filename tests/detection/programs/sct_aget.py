"""Unguarded progress: what is saved when the download is interrupted does not add up.

From: aget-bug2, SCTBench (CB).
Needs: the saver reads while a downloader has moved its offset but not yet the total.
"""

import threading
from contextlib import AbstractContextManager, nullcontext


class Download:
    def __init__(self, guard: AbstractContextManager[object]) -> None:
        self.guard = guard
        self.saving = threading.Lock()
        self.offsets = [0, 0]
        self.total = 0
        self.saved: tuple[int, int] = (0, 0)

    def fetch(self, part: int) -> None:
        with self.guard:
            self.offsets[part] += 10
            self.total += 10

    def save(self) -> None:
        with self.guard, self.saving:
            self.saved = (self.offsets[0] + self.offsets[1], self.total)


def run(download: Download) -> None:
    threads = [
        threading.Thread(target=download.fetch, args=(0,)),
        threading.Thread(target=download.save),
        threading.Thread(target=download.fetch, args=(1,)),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert download.saved[0] == download.saved[1]
    assert download.total == 20


def buggy() -> None:
    run(Download(nullcontext()))


def safe() -> None:
    run(Download(threading.Lock()))
