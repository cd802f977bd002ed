"""Lazily made singleton: two threads find none, and both make one.

From: `instance()` class methods.
Needs: both threads look before either has stored its object.
"""

import threading
from collections.abc import Callable


class Settings:
    def __init__(self) -> None:
        self.values: dict[str, int] = {}


class Holder:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.instance: Settings | None = None

    def get(self) -> Settings:
        if self.instance is None:
            self.instance = Settings()
        return self.instance

    def get_locked(self) -> Settings:
        with self.lock:
            return self.get()


def run(get: Callable[[], Settings]) -> None:
    def configure(name: str) -> None:
        get().values[name] = 1

    threads = [threading.Thread(target=configure, args=(name,)) for name in ("colour", "size")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(get().values) == ["colour", "size"]


def buggy() -> None:
    run(Holder().get)


def safe() -> None:
    run(Holder().get_locked)
