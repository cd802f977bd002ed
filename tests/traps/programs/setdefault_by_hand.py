"""`get`, then an assignment: one of two lists is lost."""

import threading

groups: dict[str, list[int]] = {}


def join(number: int) -> None:
    group = groups.get("key")
    if group is None:
        group = groups["key"] = []
    group.append(number)


threads = [threading.Thread(target=join, args=(number,)) for number in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert sorted(groups["key"]) == [0, 1]
