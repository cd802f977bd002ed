"""Objects of one process compared with another's, byte by byte: iReplayer's table 1."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass

POOL = 1 << 14  # what Python's allocator divides its memory into
HEADER = 48
SOON = 2000
# Where there are objects of Python's own allocator. Larger ones are among what the recorder has
# allocated for its books, of which a replay keeps fewer.
POOLS = (
    "(lambda gc: sorted({id(o) >> 14 for g in gc.get_objects() for o in (g, *gc.get_referents(g))"
    " if id(o) >> 40 == 0x7f}))(__import__('gc'))"
)


@dataclass(frozen=True, slots=True)
class Difference:
    """How many bytes were compared, how many differ, and where the first of them is."""

    compared: int
    differing: int
    first: str


@dataclass(frozen=True, slots=True)
class Pool:
    """Blocks of one size, of which some are free: their contents are nobody's."""

    at: int
    data: bytes

    @property
    def is_one(self) -> bool:
        """By its header: objects of C modules lie elsewhere."""
        size_class, _, last = struct.unpack_from("<III", self.data, 36)
        return size_class < 32 and last == POOL - 16 * (size_class + 1)

    @property
    def size(self) -> int:
        return 16 * (struct.unpack_from("<I", self.data, 36)[0] + 1)

    def free(self) -> set[int]:
        """Offsets of the blocks that are not in use."""
        block, *_, next_new = struct.unpack_from("<QQQIII", self.data, 8)
        found = set(range(next_new, POOL - self.size + 1, self.size))
        while block and block - self.at not in found:
            found.add(block - self.at)
            (block,) = struct.unpack_from("<Q", self.data, block - self.at)
        return found

    def taken(self) -> Iterator[int]:
        free = self.free()
        return (at for at in range(HEADER, POOL - self.size + 1, self.size) if at not in free)


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
    """Both processes must stand still. Numbers of threads do not count as different; a block that
    is in use in one and free in the other does, with all its bytes."""
    compared = differing = 0
    first = ""
    mine, theirs = memory_of(one), memory_of(other)
    try:
        for number in pools:
            at = number * POOL
            try:
                before, after = (Pool(at, os.pread(each, POOL, at)) for each in (mine, theirs))
            except OSError:
                continue  # a pool that is made by looking
            if before.is_one:
                places, words = differences(before, after, one, other)
                compared += places * before.size
                differing += 4 * len(words)
                first = first or (f"{at + words[0]:x}" if words else "")
    finally:
        os.close(mine)
        os.close(theirs)
    return Difference(compared, differing, first)


def differences(before: Pool, after: Pool, one: int, other: int) -> tuple[int, list[int]]:
    """How many blocks are in use, and offsets of words of theirs that differ."""
    taken = list(before.taken())
    if not after.is_one or after.size != before.size:
        return len(taken), list(range(0, POOL, 4))
    elsewhere = set(taken) ^ set(after.taken())
    words = [at + i for at in elsewhere for i in range(0, before.size, 4)]
    for at in set(taken) - elsewhere:
        for i in range(at, at + before.size, 4):
            was, now = before.data[i : i + 4], after.data[i : i + 4]
            if was != now and not is_number_of_thread(was, one, now, other):
                words.append(i)
    return len(taken), sorted(words)
