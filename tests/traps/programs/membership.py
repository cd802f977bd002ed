"""`if k not in d: d[k] = ...`, twice at once."""

import threading

made = []
cache: dict[str, object] = {}


def get() -> object:
    if "key" not in cache:
        made.append(1)
        cache["key"] = object()
    return cache["key"]


threads = [threading.Thread(target=get) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert len(made) == 1
