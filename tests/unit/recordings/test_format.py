"""Integers of the format, there and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reenact.recordings import format

from . import build

UNSIGNED = st.integers(0, 2**64 - 1)
SIGNED = st.integers(-(2**63), 2**63 - 1)


@given(UNSIGNED, st.binary(max_size=5), st.binary(max_size=5))
def test_varint_round_trip(value: int, before: bytes, after: bytes) -> None:
    encoded = format.encode_varint(value)
    assert encoded == build.varint(value)
    assert format.decode_varint(before + encoded + after, len(before)) == (
        value,
        len(before) + len(encoded),
    )


@given(SIGNED)
def test_zigzag_round_trip(value: int) -> None:
    encoded = format.encode_zigzag(value)
    assert encoded == build.zigzag(value)
    assert format.unzigzag(format.decode_varint(encoded, 0)[0]) == value


@given(UNSIGNED)
def test_a_cut_varint_is_noticed(value: int) -> None:
    with pytest.raises(IndexError):
        format.decode_varint(format.encode_varint(value)[:-1], 0)


@pytest.mark.parametrize("data", [b"\x80" * 10 + b"\x01", b"\xff" * 9 + b"\x02", b"\xff" * 100])
def test_a_varint_of_more_than_64_bits_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError):
        format.decode_varint(data, 0)


@pytest.mark.parametrize("value", [-1, 2**64])
def test_what_is_no_varint_is_not_encoded(value: int) -> None:
    with pytest.raises(ValueError):
        format.encode_varint(value)


@pytest.mark.parametrize("value", [-(2**63) - 1, 2**63])
def test_what_is_no_zigzag_is_not_encoded(value: int) -> None:
    with pytest.raises(ValueError):
        format.encode_zigzag(value)


def test_layouts_have_the_documented_sizes() -> None:
    assert format.STREAM_HEADER.size == 64
    assert format.STATE_HEADER.size == 72
    assert format.SLOT.size == 32
    assert format.PACKED_HEADER.size == 16
    assert format.PACKED_MEMBER.size == 48
