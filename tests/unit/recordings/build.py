"""Writes synthetic recordings from docs/format.md alone, for the tests of everything that reads.

Shares no code with the reader or the packer, so that a mistake in one is not made in the other.
"""

from __future__ import annotations

import json
import struct
import zlib
from pathlib import Path
from typing import Any

OPERATIONS = (
    *("none", "start", "begin", "end", "join", "join timeout"),
    *("acquire", "acquire failed", "acquire timeout", "release", "locked"),
    *("put", "get", "get empty", "get timeout", "sleep", "call", "yield"),
)
OBJECTS = ("none", "thread", "lock", "rlock", "queue")
STREAMS = (
    *("schedule", "operations", "definitions", "clock"),
    *("output", "notes", "outcome", "inputs", "files"),
)
ENTRIES = ("preempt", "yield", "steal", "collect", "signal", "end", "interrupt", "between")

HEADER: dict[str, Any] = {
    "format": 2,
    "reenact": "0.1.0",
    "python": "3.11.7",
    "cache_tag": "cpython-311",
    "platform": "Linux-6.1-x86_64",
    "machine": "x86_64",
    "libc": "glibc 2.36",
    "executable": "/usr/bin/python3",
    "flags": ["-X", "dev"],
    "mode": "script",
    "target": "app.py",
    "argv": ["app.py", "--count", "3"],
    "cwd": "/nowhere/project",
    "environment": {"HOME": "/nowhere", "PASSWORD": "secret"},
    "hash_seed": "0",
    "addresses": "fixed",
    "strategy": {"name": "queue", "seed": 7, "slice": 1000},
    "instrument": {"enabled": True, "packages": ["app"]},
    "started": "2025-01-02T03:04:05+00:00",
}
END: dict[str, Any] = {"ended": "exited", "exit_code": 0, "signal": None, "seconds": 1.25}


def varint(value: int) -> bytes:
    head, rest = value & 127, value >> 7
    return bytes([head | 128]) + varint(rest) if rest else bytes([head])


def zigzag(value: int) -> bytes:
    return varint(2 * value if value >= 0 else -2 * value - 1)


def varints(*values: int) -> bytes:
    return b"".join(map(varint, values))


def sized(tag: int, data: bytes) -> bytes:
    return varints(tag, len(data)) + data


def value(plain: Any) -> bytes:
    """A plain value of the inputs stream."""
    if plain is None or isinstance(plain, bool):
        return varint((None, False, True).index(plain))
    if isinstance(plain, int):
        if -(1 << 63) <= plain < 1 << 63:
            return varint(3) + zigzag(plain)
        return sized(14, plain.to_bytes(plain.bit_length() // 8 + 1, "little", signed=True))
    if isinstance(plain, float):
        return varint(4) + struct.pack("<d", plain)
    if isinstance(plain, bytes | str):
        return sized(5, plain) if isinstance(plain, bytes) else sized(6, plain.encode())
    items = b"".join(map(value, plain))
    return varints(7 if isinstance(plain, tuple) else 8, len(plain)) + items


def stream(name: str, payload: bytes, used: int | None = None, spare: int = 0) -> bytes:
    number = STREAMS.index(name) + 1
    size = len(payload) if used is None else used
    head = b"reenact\0" + struct.pack("<IIQ", 2, number, size) + bytes(40)
    return head + payload + bytes(spare)


def packed(members: dict[str, bytes], sizes: dict[str, int] | None = None) -> bytes:
    """A packed file; `sizes` are raw sizes to lie about."""
    bodies = {name: zlib.compress(data, 9) for name, data in members.items()}
    table = b"REENACT\n" + struct.pack("<II", 2, len(members))
    for name, data in members.items():
        size = (sizes or {}).get(name, len(data))
        table += struct.pack(
            "<24sQQII", name.encode(), size, len(bodies[name]), zlib.crc32(data), 1
        )
    return table + struct.pack("<I", zlib.crc32(table)) + b"".join(bodies.values())


class Builder:
    """Collects what a program would have logged."""

    def __init__(self) -> None:
        self.header: dict[str, Any] = dict(HEADER)
        self.end: dict[str, Any] | None = dict(END)
        self.payloads: dict[str, bytes] = dict.fromkeys(STREAMS, b"")
        self.spare = 0
        self.holder = -1
        self.ended = 1
        self.log_errno = 0
        self.slot_size = 96
        self._strings: dict[str, int] = {}
        self._sites = self._objects = 0
        self._threads = [(-1, 0)]
        self._entry_step = 0
        self._thread = self._object = self._step = 0
        self._clocks: dict[int, int] = {}
        self.operation_count = self.switch_count = self.collection_count = 0

    def string(self, text: str) -> int:
        if text not in self._strings:
            data = text.encode()
            self._add("definitions", varints(1, len(data)) + data)
            self._strings[text] = len(self._strings)
        return self._strings[text]

    def site(self, operation: str | int, file: str, line: int, function: str = "work") -> int:
        kind = OPERATIONS.index(operation) if isinstance(operation, str) else operation
        numbers = (self.string(file), self.string(function))
        self._add("definitions", varints(2, kind, *numbers, line))
        self._sites += 1
        return self._sites

    def object(self, kind: str | int, site: int = 1, address: int = 0x7F0000001000) -> int:
        number = OBJECTS.index(kind) if isinstance(kind, str) else kind
        self._add("definitions", varints(3, number, site, address))
        self._objects += 1
        return self._objects

    def source(self, path: str, digest: str) -> None:
        numbers = (self.string(path), self.string(digest))
        self._add("definitions", varints(4, *numbers))

    def thread(self, parent: int, ordinal: int) -> int:
        self._threads.append((parent, ordinal))
        index = len(self._threads) - 1
        self._add("definitions", varints(5, index, parent, ordinal))
        return index

    def call(self, number: int, name: str, opens: bool = False) -> int:
        self._add("definitions", varints(6, number, opens, len(name)) + name.encode())
        return number

    def module(self, name: str) -> None:
        self._add("definitions", sized(7, name.encode()))

    def input(self, call: int, data: bytes) -> None:
        """`data`: see docs/format.md, or `value`."""
        self._add("inputs", varint(call << 1) + data)

    def operation(self, step: int, thread: int, site: int, object: int = 0) -> None:
        has_thread, has_object = thread != self._thread, object != self._object
        has_points = step - self._step != 1
        entry = varint(site << 3 | has_thread << 2 | has_object << 1 | has_points)
        entry += varint(thread) if has_thread else b""
        entry += zigzag(object - self._object) if has_object else b""
        entry += varint(step - self._step) if has_points else b""
        self._add("operations", entry)
        self._thread, self._object, self._step = thread, object, step
        self.operation_count += 1

    def entry(self, step: int, kind: str | int, argument: int) -> None:
        number = ENTRIES.index(kind) if isinstance(kind, str) else kind
        self._add("schedule", varints(step - self._entry_step, argument << 3 | number))
        if kind in ("steal", "between"):
            self._add("schedule", varint(self.operation_count))
        if kind == "between":
            self._add("schedule", varints(7, 20, 0))
        self._entry_step = step
        self.switch_count += kind in ("preempt", "yield", "steal", "between")
        self.collection_count += kind == "collect"

    def clock(self, clock: int, nanoseconds: int) -> None:
        before = self._clocks.get(clock, 0)
        self._add("clock", varint(clock) + zigzag(nanoseconds - before))
        self._clocks[clock] = nanoseconds

    def output(self, descriptor: int, data: bytes) -> None:
        self._add("output", varints(descriptor, len(data)) + data)

    def note(self, kind: int, step: int, thread: int, value: int, text: str = "") -> None:
        data = text.encode()
        self._add("notes", varints(kind, step, thread, value, len(data)) + data)

    def outcome(self, *lines: tuple[str | int, ...]) -> None:
        text = "".join("\t".join(map(str, line)) + "\n" for line in lines)
        self._add("outcome", text.encode())

    def state(self) -> bytes:
        """As `docs/format.md` has it; the holder has 5 points left."""
        step_end = max(self._step, self._entry_step) + (5 if self.holder >= 0 else 0)
        counts = (self.switch_count, self.operation_count, self.collection_count)
        head = b"reenact\0" + struct.pack("<IIqi", 2, self.slot_size, step_end, self.holder)
        head += struct.pack("<IIi", len(self._threads), self.ended, self.log_errno)
        head += struct.pack("<QQQ", *counts)
        return head.ljust(4096, b"\0") + b"".join(map(self._slot, range(len(self._threads))))

    def _slot(self, index: int) -> bytes:
        parent, ordinal = self._threads[index]
        budget = 5 if index == self.holder else 0
        slot = struct.pack("<qiiiiII", budget, index, parent, ordinal, 3, 0, 0)
        return slot.ljust(self.slot_size, b"\xaa")

    def members(self) -> dict[str, bytes]:
        members = {"header.json": json.dumps(self.header).encode()}
        if self.end is not None:
            members["end.json"] = json.dumps(self.end).encode()
        members["state"] = self.state()
        for name, payload in self.payloads.items():
            members[name] = stream(name, payload, spare=self.spare)
        return members

    def directory(self, path: Path) -> Path:
        return write_directory(path, self.members())

    def packed(self, path: Path) -> Path:
        path.write_bytes(packed(self.members()))
        return path

    def _add(self, name: str, data: bytes) -> None:
        self.payloads[name] += data


def write_directory(path: Path, members: dict[str, bytes]) -> Path:
    path.mkdir()
    for name, data in members.items():
        (path / name).write_bytes(data)
    return path


def sample(source: str = "/nowhere/project/app.py", digest: str | None = None) -> Builder:
    """A small run with something in every stream: main and two threads around one lock."""
    made = Builder()
    start = made.site("start", source, 1, "main")
    begin = made.site("begin", source, 2, "work")
    acquire = made.site("acquire", source, 3, "work")
    release = made.site("release", source, 4, "work")
    join = made.site("join", source, 5, "main")
    if digest is not None:
        made.source(source, digest)
    first, second = made.thread(0, 1), made.thread(0, 2)
    lock = made.object("lock", acquire)
    made.operation(1, 0, start, first)
    made.operation(2, 0, start, second)
    made.entry(2, "yield", first)
    made.operation(3, first, begin, first)
    made.operation(4, first, acquire, lock)
    made.entry(5, "preempt", second)
    made.operation(6, second, begin, second)
    made.entry(7, "yield", first)
    made.operation(300, first, release, lock)
    made.entry(300, "collect", 2)
    made.entry(310, "yield", second)
    made.operation(311, second, acquire, lock)
    made.operation(312, second, release, lock)
    made.entry(313, "yield", 0)
    made.operation(314, 0, join, first)
    made.operation(315, 0, join, second)
    made.entry(316, "signal", 15)
    made.entry(320, "end", 0)
    made.clock(0, 10**18)
    made.clock(1, 500)
    made.clock(0, 10**18 - 3)
    made.output(1, b"hello\n")
    made.output(2, b"oops\n")
    made.output(1, b"bye\n")
    made.note(1, 12, 0, 4242)
    made.note(3, 310, first, 77, "from subprocess")
    opens = made.call(8, "posix.open", opens=True)
    reads = made.call(9, "posix.read")
    made.input(opens, value(3) + varints(3, 1, 3, 0))
    made.input(opens, sized(9, b"OSError") + value(((2, "gone"), "/x", None, None)))
    made.input(reads, value(b"line\n"))
    made.input(reads, sized(10, b"put") + value(3))
    made.input(made.call(10, "time.localtime"), value([1, "two", (3.5, None)]))
    made.payloads["files"] = struct.pack("<Q", 5) + b"line\n"
    return made
