"""`setdefault` is atomic; what is done with its result by hand is not."""

import threading

counts: dict[str, int] = {}


def count() -> None:
    counts.setdefault("key", 0)
    counts["key"] += 1


threads = [threading.Thread(target=count) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert counts == {"key": 2}
