"""Check, then act: a name that is not in the registry yet is registered, by two threads.

From: registries and plug-in tables.
Needs: both threads look before either registers; they go away with different objects.
"""

import threading
from contextlib import AbstractContextManager, nullcontext


class Registry:
    def __init__(self, guard: AbstractContextManager[object]) -> None:
        self.guard = guard
        self.entries: dict[str, object] = {}
        self.got: list[object] = []

    def register(self) -> None:
        with self.guard:
            if "codec" not in self.entries:
                self.entries["codec"] = object()
            entry = self.entries["codec"]
        self.got.append(entry)


def run(registry: Registry) -> None:
    threads = [threading.Thread(target=registry.register) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert registry.got[0] is registry.got[1]


def buggy() -> None:
    run(Registry(nullcontext()))


def safe() -> None:
    run(Registry(threading.Lock()))
