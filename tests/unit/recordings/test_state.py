"""The scheduler's memory, as killed and closed programs leave it."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from reenact.errors import RecordingError
from reenact.recordings.state import State, parse_state

from .build import Builder, sample


def parse(made: Builder) -> State:
    found = parse_state(made.state(), Path("x.reenact"))
    assert found is not None
    return found


def altered(offset: int, layout: str, value: int) -> bytes:
    data = bytearray(sample().state())
    struct.pack_into(layout, data, offset, value)
    return bytes(data)


def test_a_closed_state() -> None:
    found = parse(sample())
    assert (found.step, found.ended, found.is_whole) == (320, "closed", True)
    assert (found.switches, found.operations, found.collections) == (5, 10, 1)
    assert [(slot.index, slot.parent, slot.ordinal) for slot in found.slots()] == [
        (0, -1, 0),
        (1, 0, 1),
        (2, 0, 2),
    ]
    assert {slot.status for slot in found.slots()} == {"waiting"}


def test_the_holder_s_budget_is_taken_off() -> None:
    made = sample()
    made.holder, made.ended = 2, 0
    found = parse(made)
    assert (found.step_end, found.step, found.is_whole) == (325, 320, False)


@pytest.mark.parametrize("data", [b"", bytes(64), bytes(65536)])
def test_a_state_never_written(data: bytes) -> None:
    assert parse_state(data, Path("x.reenact")) is None


@pytest.mark.parametrize(
    "data, fault",
    [
        (sample().state()[:40], "truncated"),
        (b"X" + sample().state()[1:], "foreign"),
        (altered(8, "<I", 4), "newer"),
        (altered(8, "<I", 0), "damaged"),
        (altered(12, "<I", 31), "damaged"),
        (altered(12, "<I", 0), "damaged"),
        (altered(16, "<q", -5), "damaged"),
        (altered(24, "<i", 3), "damaged"),
        (altered(24, "<i", 2**31 - 1), "damaged"),
    ],
)
def test_what_is_no_state(data: bytes, fault: str) -> None:
    with pytest.raises(RecordingError) as caught:
        parse_state(data, Path("x.reenact"))
    assert caught.value.fault == fault


def test_slots_beyond_the_file_are_left_out() -> None:
    found = parse_state(altered(28, "<I", 2**32 - 1), Path("x.reenact"))
    assert found is not None and len(list(found.slots())) == 3


def test_once_the_log_stopped_the_holder_may_have_no_slot() -> None:
    data = bytearray(altered(24, "<i", 9))
    struct.pack_into("<i", data, 36, 28)
    found = parse_state(bytes(data), Path("x.reenact"))
    assert found is not None and found.step == 320


def test_an_object_that_moved_in_a_replay() -> None:
    found = parse_state(altered(64, "<Q", 12), Path("x.reenact"))
    assert found is not None and found.moved_object == 12


def test_numbers_from_the_future() -> None:
    found = parse_state(altered(32, "<I", 9), Path("x.reenact"))
    assert found is not None and found.ended == "ended 9"
