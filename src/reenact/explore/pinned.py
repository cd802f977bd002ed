"""One processor for all threads of a search: only one of them runs at a time.

Handing over to a thread on another processor means waking that processor up, which takes longer
than all else that a handover does: a search is about three times as fast on one. Workers that
search at once have one each.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def pinned(worker: int | None = None) -> Iterator[None]:
    before = os.sched_getaffinity(0)
    allowed = sorted(before)
    number = os.getpid() if worker is None else worker
    os.sched_setaffinity(0, {allowed[number % len(allowed)]})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
