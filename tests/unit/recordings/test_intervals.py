"""Intervals of accesses in lanes, as Light's order has them."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reenact.recordings.format import encode_varint, encode_zigzag
from reenact.recordings.lanes import ACCESS, AFTER, FLOW, INITIAL, OTHER, Interval, Item, decode

HAS_SOURCE, WRITES, OF_OTHER = 1, 2, 4


def entry(since, bits, *fields):
    return b"".join(map(encode_varint, (since << 3 | OTHER, FLOW + bits, *fields)))


def decoded(lane, thread=3):
    intervals = []
    items = list(decode(lane, {}, thread, intervals))
    return items, intervals


def test_every_shape():
    lane = (
        entry(100, 0, 7, 10, 20) + encode_zigzag(50)
        + entry(0, WRITES, 8, 0, 9, 4) + encode_zigzag(-20)
        + entry(5, HAS_SOURCE, 7, 1, 0, 2) + encode_zigzag(41) + encode_zigzag(0)
        + entry(0, HAS_SOURCE | WRITES, 7, 1, 0, 0, 2) + encode_zigzag(-10) + encode_zigzag(1)
        + entry(0, HAS_SOURCE | OF_OTHER, 9, 4, 60, 30, 0) + encode_zigzag(1)
    )  # fmt: skip
    items, intervals = decoded(lane)
    assert items == []
    assert intervals == [
        Interval(3, 7, 70, 90, None, None, 50),
        Interval(3, 8, 91, 100, 96, None, 30),
        Interval(3, 7, 104, 104, None, (1, 40), 30),
        Interval(3, 7, 104, 104, 104, (1, 30), 31),
        Interval(4, 9, 30, 60, None, INITIAL, 32),
    ]


def test_what_comes_before_an_access_is_not_an_intervals():
    after = b"".join(map(encode_varint, (4 << 3 | AFTER, 1, 8)))
    items, intervals = decoded(after + entry(0, 0, 1, 0, 0) + encode_zigzag(1))
    assert items == [Item(4, ACCESS, after=((1, 7),))]
    assert len(intervals) == 1


@pytest.mark.parametrize(
    "lane",
    [
        entry(5, 0, 1, 6, 0) + encode_zigzag(0),
        entry(5, 0, 1, 0, 6) + encode_zigzag(0),
        entry(5, WRITES, 1, 0, 2, 3) + encode_zigzag(0),
        entry(5, 15, 1),
    ],
    ids=["last", "first", "write", "kind"],
)
def test_what_cannot_be(lane):
    with pytest.raises(ValueError, match=r"location 1|kind 20"):
        decoded(lane)


@given(st.binary(max_size=40))
def test_anything_else_is_an_error_of_two_kinds(data):
    with suppress(ValueError, EOFError):
        decoded(encode_varint(OTHER) + data)
