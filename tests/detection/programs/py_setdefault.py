"""Get, then set: a missing bucket is made by hand instead of by `setdefault`.

From: grouping into a dict of lists.
Needs: both threads miss the bucket; the second one's bucket replaces the first one's.
"""

import threading
from collections.abc import Callable

Buckets = dict[str, list[int]]


def add_by_hand(buckets: Buckets, number: int) -> None:
    bucket = buckets.get("odd")
    if bucket is None:
        bucket = []
        buckets["odd"] = bucket
    bucket.append(number)


def add_by_setdefault(buckets: Buckets, number: int) -> None:
    buckets.setdefault("odd", []).append(number)


def run(add: Callable[[Buckets, int], None]) -> None:
    buckets: Buckets = {}
    threads = [threading.Thread(target=add, args=(buckets, number)) for number in (1, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(buckets["odd"]) == [1, 3]


def buggy() -> None:
    run(add_by_hand)


def safe() -> None:
    run(add_by_setdefault)
