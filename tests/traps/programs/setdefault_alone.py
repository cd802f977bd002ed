"""`setdefault` alone is atomic: both threads get the same list. Nothing is wrong here."""

import threading

groups: dict[str, list[int]] = {}


def join(number: int) -> None:
    groups.setdefault("key", []).append(number)


threads = [threading.Thread(target=join, args=(number,)) for number in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert sorted(groups["key"]) == [0, 1]
