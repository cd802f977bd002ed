"""The heap of one process compared with another's, byte by byte: iReplayer's table 1."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

PAGE = 4096
ARENA = 1 << 20
SOON = 2000
OURS = 0x200000000000, 0x400000000000  # where the core maps its own memory


@dataclass(frozen=True, slots=True)
class Difference:
    """How many bytes were compared, how many differ, and where the first of them is."""

    compared: int
    differing: int
    first: str


def heaps(pid: int) -> list[tuple[int, int]]:
    """The arenas of Python's allocator, which hold its objects. The heap of malloc is left out: the
    recorder's own books are in it, and a replay keeps fewer; so are stacks of threads, which lie
    behind a guard, and variables of libraries, which lie behind a file."""
    found = []
    before = "", 0, ""  # name, end and permissions of the map before
    with open(f"/proc/{pid}/maps", encoding="ascii") as file:
        for line in file:
            fields = line.split()
            name = fields[5] if len(fields) > 5 else ""
            start, end = (int(each, 16) for each in fields[0].split("-"))
            is_ours = OURS[0] <= start < OURS[1]
            is_behind = before[1] == start and (before[0] or before[2].startswith("---"))
            low, high = -(-start // ARENA) * ARENA, end // ARENA * ARENA
            is_heap = name == "" and not is_behind and low < high
            if fields[1].startswith("rw") and is_heap and not is_ours:
                found.append((low, high))
            before = name, end, fields[1]
    return found


def pages(pid: int, start: int, end: int) -> Iterator[tuple[int, bytes]]:
    """The memory between two addresses, as far as it is there."""
    descriptor = os.open(f"/proc/{pid}/mem", os.O_RDONLY)
    try:
        for at in range(start, end, PAGE):
            yield at, os.pread(descriptor, PAGE, at)
    finally:
        os.close(descriptor)


def is_number_of_thread(before: bytes, one: int, after: bytes, other: int) -> bool:
    """The kernel gives threads other numbers in a copy, soon after the number of the process."""
    was, now = (int.from_bytes(each, "little") for each in (before, after))
    return one <= was < one + SOON and other <= now < other + SOON


def compare(one: int, other: int) -> Difference:
    """Both must stand still. Numbers of threads do not count as different."""
    compared = differing = 0
    first = ""
    mine, theirs = heaps(one), heaps(other)
    for start, end in mine:
        if not any(low <= start and end <= high for low, high in theirs):
            differing += end - start
            first = first or f"{start:x}-{end:x} is not there"
            continue
        for (at, before), (_, after) in zip(
            pages(one, start, end), pages(other, start, end), strict=True
        ):
            compared += len(before)
            for i in range(0, len(before) if before != after else 0, 4):
                was, now = before[i : i + 4], after[i : i + 4]
                if was != now and not is_number_of_thread(was, one, now, other):
                    differing += 4
                    first = first or f"{at + i:x}: {was.hex()} and {now.hex()}"
    return Difference(compared, differing, first)
