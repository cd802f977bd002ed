"""The inputs stream: values as docs/format.md has them, and everything that is none."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reenact.errors import RecordingError
from reenact.events import Call, Names
from reenact.recordings.reader import Recording
from reenact.recordings.values import Cut, Input, Opened, Pairs, Record

from .build import Builder, sample, sized, value, varint, varints

READ = Call(5, "posix.read")
OPEN = Call(6, "posix.open", opens=True)

PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(1 << 200), 1 << 200)
    | st.floats(allow_nan=False)
    | st.binary()
    | st.text(),
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple),
    max_leaves=20,
)


def made(*entries: bytes) -> Builder:
    builder = sample()
    builder.call(READ.number, READ.name)
    builder.call(OPEN.number, OPEN.name, opens=True)
    builder.payloads["inputs"] = b"".join(entries)
    return builder


def read(builder: Builder, path: Path, **options: int) -> list[Input]:
    return list(Recording.open(builder.packed(path / "r"), Names()).inputs(**options))


def outcome(data: bytes, call: Call = READ) -> bytes:
    return varint(call.number << 1) + data


@given(PLAIN)
def test_plain_values_come_back(tmp_path_factory: pytest.TempPathFactory, plain: Any) -> None:
    path = tmp_path_factory.mktemp("values")
    assert read(made(outcome(value(plain))), path) == [Input(READ, "returned", plain)]


@pytest.mark.parametrize(
    "data, expected",
    [
        (varint(11), Input(READ, "performed")),
        (varint(18) + value((1, "asked")), Input(READ, "called back", (1, "asked"))),
        (varints(16, 14), Input(READ, "signalled", 14)),
        (varint(18) + value(("x",)), Input(READ, "called back", ("x",))),
        (sized(10, b"abc") + value(3), Input(READ, "returned", 3, b"abc")),
        (sized(15, b"xy"), Input(READ, "returned", bytearray(b"xy"))),
        (varints(17, 2) + value(1) + value(2), Input(READ, "returned", frozenset({1, 2}))),
        (varints(13, 1) + value("a") + value(2), Input(READ, "returned", Pairs([("a", 2)]))),
        (
            sized(12, b"posix.times_result") + varint(1) + value(0.5),
            Input(READ, "returned", Record("posix.times_result", (0.5,))),
        ),
        (
            sized(9, b"OSError") + value(((2, "gone"), "x", None, None)),
            Input(READ, "raised", Record("OSError", ((2, "gone"), "x", None, None))),
        ),
        (sized(6, "\ud800".encode("utf-8", "surrogatepass")), Input(READ, "returned", "\ud800")),
    ],
)
def test_other_outcomes(tmp_path: Path, data: bytes, expected: Input) -> None:
    assert read(made(outcome(data), outcome(value(7))), tmp_path) == [
        expected,
        Input(READ, "returned", 7),
    ]


def test_a_call_that_waits_says_so_before(tmp_path: Path) -> None:
    begins = varint(READ.number << 1 | 1)
    found = read(made(begins, outcome(value(b"x"))), tmp_path)
    assert found == [Input(READ, "begins"), Input(READ, "returned", b"x")]


def test_what_was_opened_follows(tmp_path: Path) -> None:
    entries = [outcome(value(3) + varints(3, 1, 3, 40), OPEN), outcome(value(4) + varint(2), OPEN)]
    entries.append(outcome(sized(9, b"OSError") + value(((2,), None, None, None)), OPEN))
    found = read(made(*entries), tmp_path)
    assert [each.opened for each in found] == [
        Opened("file", 1, "kept", 40),
        Opened("directory"),
        None,
    ]


def test_a_call_that_is_not_named_has_a_number(tmp_path: Path) -> None:
    (found,) = read(made(varint(99 << 1) + value(None)), tmp_path)
    assert found.call == Call(99, "call 99")


def test_only_so_much_is_kept(tmp_path: Path) -> None:
    entries = (value(b"abcdef"), value("äbc"), value([1, 2, 3]), value((b"abc", b"def")))
    found = [each.value for each in read(made(*map(outcome, entries)), tmp_path, kept=2)]
    assert found == [Cut(b"ab", 6), Cut("ä", 4), Cut([1, 2], 3), Cut([], 2)]


def test_a_long_integer_is_not_made(tmp_path: Path) -> None:
    (found,) = read(made(outcome(sized(14, bytes(5000)))), tmp_path)
    assert found.value == Cut(bytes(5000), 5000)


@pytest.mark.parametrize(
    "data, words",
    [
        (varint(19), "there is no value 19"),
        (varints(7, 1) * 65 + varint(0), "nested deeper than 64"),
        (sized(6, b"\xff"), "not UTF-8"),
        (sized(9, b"OSError") + value(1), "an exception does not have 4 parts"),
        (sized(12, b"x" * 1000), "a text has 1000 bytes"),
        (varints(17, 1) + value([]), "cannot be in one"),
        (varints(5, 1 << 40), "the entry is cut off"),
        (varints(7, 1 << 60), "the entry is cut off"),
        (varint(4) + struct.pack("<f", 1), "the entry is cut off"),
    ],
)
def test_damage_is_named(tmp_path: Path, data: bytes, words: str) -> None:
    with pytest.raises(RecordingError, match=words):
        read(made(outcome(data)), tmp_path)


@pytest.mark.parametrize("data", [varints(9), varints(3, 1, 9, 0)])
def test_places_that_do_not_exist(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(RecordingError, match="there is no"):
        read(made(outcome(value(3) + data, OPEN)), tmp_path)
