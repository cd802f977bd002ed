"""Reads what the baselines wrote, and tells again what happened; trace.c says how it is written.

Used by the tests, which compare it with what was fed to them.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

FIELD_BITS = 24
FIELD = 1 << 62
SYNC = 1 << 63
READS = 1 << 61


@dataclass
class Trace:
    """Who wrote it, and the numbers of each stream, by what the stream is about."""

    name: str
    streams: dict[int, list[int]] = field(default_factory=dict)


def read_trace(path: Path) -> Trace:
    """The whole file."""
    content = path.read_bytes()
    at = 1 + content[0]
    trace = Trace(content[1:at].decode())
    parts: dict[int, bytearray] = {}
    while at < len(content):
        about, length = struct.unpack_from("=QI", content, at)
        at += 12
        parts.setdefault(about, bytearray()).extend(content[at : at + length])
        at += length
    trace.streams = {about: list(numbers(bytes(part))) for about, part in parts.items()}
    return trace


def numbers(content: bytes) -> Iterator[int]:
    """Seven bits in a byte, the low ones first."""
    number = shift = 0
    for byte in content:
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            yield number
            number = shift = 0


def pairs(stream: list[int]) -> Iterator[tuple[int, int]]:
    """Two and two."""
    return zip(stream[::2], stream[1::2], strict=True)


def global_order(trace: Trace) -> list[int]:
    """DejaVu: the thread of each event."""
    starts = {}
    for thread, stream in trace.streams.items():
        now = 0
        for distance, length in pairs(stream):
            starts[now + distance] = (thread, length)
            now += distance + length
    return [thread for _, (thread, count) in sorted(starts.items()) for _ in range(count)]


def clocks(trace: Trace) -> dict[int, list[int]]:
    """JaRec: the clocks of each thread's events."""
    return {thread: list(steps(stream)) for thread, stream in trace.streams.items()}


def steps(stream: list[int]) -> Iterator[int]:
    """A clock after each step: some by one, another one, and so on."""
    now = 0
    for place, number in enumerate(stream):
        for step in [1] * number if place % 2 == 0 else [number]:
            now += step
            yield now


def vectors(trace: Trace) -> dict[int, list[int]]:
    """LEAP, and the writes of Stride: the threads of each field (FIELD) and lock (SYNC)."""
    return {
        about: [thread for thread, count in pairs(stream) for _ in range(count)]
        for about, stream in trace.streams.items()
        if about & (FIELD | SYNC)
    }


def versions(trace: Trace) -> dict[tuple[int, int], list[int]]:
    """Stride: the version that each read saw, by thread and field."""
    found = {}
    for about, stream in trace.streams.items():
        if about & READS and not about & (FIELD | SYNC):
            now, seen = 0, []
            for more, count in pairs(stream):
                now += more
                seen += [now] * count
            thread = (about ^ READS) >> FIELD_BITS
            found[thread, about & ((1 << FIELD_BITS) - 1)] = seen
    return found
