"""Lanes are read as docs/format.md has them; whatever else is there is an error, and no crash."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reenact.events import Call
from reenact.recordings.lanes import (
    ACCESS,
    CALLED,
    CLOCK,
    COLLECT,
    DIED,
    END,
    FINAL,
    FINALIZED,
    FOUND,
    INPUT,
    OPERATION,
    SWEEP,
    SWEPT,
    WAIT,
    YIELD,
    Hint,
    Item,
    decode,
    input_of,
    split,
)

from .build import value, varint, varints, zigzag

CALLS = {3: Call(3, "posix.read")}
READ = varint(3 << 1) + value(b"abc")
LANE = (
    varints(2 << 3 | 0, 1, 4 << 1)  # an operation at 2
    + varints(0 << 3 | 4)  # it leaves
    + varints(1 << 3 | 1, 2, 8)  # at 3, after 2's position 7:
    + varints(0 << 3 | 5)
    + READ
    + varints(4 << 3 | 1, 2, 5)  # at 7, after 2's position 12: an access
    + varints(1 << 3 | 6, 1)
    + zigzag(1000)
    + varints(0 << 3 | 6, 1)
    + zigzag(-300)
    + varints(0 << 3 | 2, 2)  # after all of 2
    + varints(0 << 3 | 3, 9, 1 << 1 | 1)
    + varints(1 << 3 | 7, 0, 2)
    + varints(0 << 3 | 7, 3, 5, 77)
    + varints(0 << 3 | 7, 4, 0)
)
ITEMS = [
    Item(2, OPERATION, 1, 8),
    Item(2, YIELD),
    Item(3, INPUT, data=READ, after=((2, 7),)),
    Item(7, ACCESS, after=((2, 12),)),
    Item(8, CLOCK, 1, 1000),
    Item(8, CLOCK, 1, 700),
    Item(8, WAIT, 9, 3, after=((2, None),)),
    Item(9, COLLECT, 2),
    Item(9, FINAL, 5, 77),
    Item(9, END),
]


def chunk(thread: int, entries: bytes, spare: int = 0) -> bytes:
    used = 12 + len(entries)
    return struct.pack("<III", thread, used + spare, used) + entries + bytes(spare)


def test_every_kind_of_entry() -> None:
    assert list(decode(LANE, CALLS)) == ITEMS
    assert input_of(ITEMS[2], CALLS, 100).value == b"abc"
    assert input_of(ITEMS[2], CALLS, 100).call.name == "posix.read"


def test_chunks_of_threads_are_put_together() -> None:
    stream = chunk(0, LANE[:5], 7) + chunk(3, b"xy") + chunk(0, LANE[5:])
    assert split(stream) == {0: LANE, 3: b"xy"}


def test_an_access_at_the_end() -> None:
    assert list(decode(varints(5 << 3 | 1, 1, 3), {})) == [Item(5, ACCESS, after=((1, 2),))]


def test_an_unknown_kind() -> None:
    with pytest.raises(ValueError, match="kind 20"):
        list(decode(varints(7, 20, 0), {}))


def test_collections_that_were_asked_for_and_deaths() -> None:
    entries = varints(8 | 7, 14, 0) + b"".join(varints(7, kind, 2, 9) for kind in range(15, 20))
    [sweep, *deaths] = decode(entries, {})
    assert sweep == Item(1, SWEEP)
    kinds = (DIED, SWEPT, FOUND, CALLED, FINALIZED)
    assert deaths == [Item(1, kind, 2, 9) for kind in kinds]


def test_times_belong_to_what_follows() -> None:
    lane = varints(3 << 3 | 6, 13) + zigzag(500) + varints(0 << 3 | 0, 1, 8)
    lane += varints(1 << 3 | 0, 1, 8) + varints(2 << 3 | 6, 13) + zigzag(-20)
    lane += varints(0 << 3 | 5) + READ
    assert list(decode(lane, CALLS)) == [
        Item(3, OPERATION, 1, 8, time=500),
        Item(4, OPERATION, 1, 8),
        Item(6, INPUT, data=READ, time=480),
    ]


def test_hints_belong_to_what_follows() -> None:
    """With a place, and without; and to an access, if nothing else follows at the position."""
    with_place = varints(2 << 3 | 7, 13, 1, 40, 99, 26)
    without = varints(7, 13, 2, 5, 0)
    [operation, access] = decode(
        with_place + without + varints(0, 3, 0) + varints(8 | 7, 13, 1, 41, 0), {}
    )
    assert operation.position == 2
    assert operation.hints == (Hint(1, 40, 99, 26), Hint(2, 5))
    assert (access.position, access.kind, access.hints) == (3, ACCESS, (Hint(1, 41),))


@pytest.mark.parametrize("header", [(0, 4, 4), (0, 12, 13), (0, 0, 0), (1, 100, 101)])
def test_a_chunk_that_cannot_be(header: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="chunk"):
        split(struct.pack("<III", *header) + bytes(200))


def read(stream: bytes) -> None:
    """All that a reader may meet: nothing else is let through."""
    try:
        for lane in split(stream).values():
            position = 0
            for item in decode(lane, CALLS):
                assert item.position >= position
                position = item.position
    except (ValueError, EOFError):
        pass


@given(st.binary(max_size=300))
@settings(max_examples=300, deadline=None)
def test_any_bytes(data: bytes) -> None:
    read(data)
    read(chunk(0, data))


@given(st.integers(0, len(LANE)))
def test_a_lane_that_is_cut_off_has_the_items_before(size: int) -> None:
    found = []
    try:
        for item in decode(LANE[:size], CALLS):
            found.append(item)
    except EOFError:
        pass
    whole = found[:-1]  # edges at the end are taken for those of an access
    assert whole == ITEMS[: len(whole)]


@given(st.lists(st.integers(0, len(LANE) * 8 - 1), min_size=1, max_size=4))
@settings(max_examples=300, deadline=None)
def test_flipped_bits(bits: list[int]) -> None:
    data = bytearray(LANE)
    for bit in bits:
        data[bit // 8] ^= 1 << bit % 8
    read(chunk(0, bytes(data)))
