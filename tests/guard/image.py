"""Objects of one process compared with another's, byte by byte: iReplayer's table 1."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

POOL = 1 << 14  # what Python's allocator divides its memory into
SOON = 2000
# Where there are objects of Python's own allocator. Larger ones are among what the recorder has
# allocated for its books, of which a replay keeps fewer.
POOLS = "sorted({id(o) >> 14 for o in __import__('gc').get_objects() if id(o) >> 40 == 0x7f})"


@dataclass(frozen=True, slots=True)
class Difference:
    """How many bytes were compared, how many differ, and where the first of them is."""

    compared: int
    differing: int
    first: str


def is_number_of_thread(before: bytes, one: int, after: bytes, other: int) -> bool:
    """The kernel gives threads other numbers in a copy, soon after the number of the process."""
    was, now = (int.from_bytes(each, "little") for each in (before, after))
    return one <= was < one + SOON and other <= now < other + SOON


def memory_of(pid: int) -> int:
    """A descriptor; the first thread of a copy may have ended long ago."""
    for tid in os.listdir(f"/proc/{pid}/task"):
        with suppress(ProcessLookupError):
            return os.open(f"/proc/{pid}/task/{tid}/mem", os.O_RDONLY)
    raise ProcessLookupError(pid)


def compare(one: int, other: int, pools: Iterable[int]) -> Difference:
    """Both processes must stand still. Numbers of threads do not count as different."""
    compared = differing = 0
    first = ""
    mine, theirs = memory_of(one), memory_of(other)
    try:
        for number in pools:
            at = number * POOL
            try:
                before, after = os.pread(mine, POOL, at), os.pread(theirs, POOL, at)
            except OSError:
                continue  # a pool that is made by looking
            compared += len(before)
            for i in range(0, POOL if before != after else 0, 4):
                was, now = before[i : i + 4], after[i : i + 4]
                if was != now and not is_number_of_thread(was, one, now, other):
                    differing += 4
                    first = first or f"{at + i:x}: {was.hex()} and {now.hex()}"
    finally:
        os.close(mine)
        os.close(theirs)
    return Difference(compared, differing, first)
