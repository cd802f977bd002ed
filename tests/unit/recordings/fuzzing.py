"""Alters recordings in every way and reads them: the process `test_fuzz.py` starts.

A process of its own, so that the kernel bounds its memory and processor time. Prints how many
files were read, and how many of them gave a clean read, as JSON; anything but a clean read or
a RecordingError ends it with a traceback.
"""

from __future__ import annotations

import json
import random
import resource
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from reenact.cli import inputs
from reenact.cli.info import as_json, rows
from reenact.cli.timeline import Window, timeline
from reenact.errors import RecordingError
from reenact.events import Names
from reenact.recordings.pack import pack, unpack
from reenact.recordings.reader import Recording

from . import build

MEMORY = 1 << 30
PROCESSOR_SECONDS = 200
NAMES = Names(build.OPERATIONS, build.OBJECTS)

Mutation = Callable[[random.Random, bytes], bytes]


def flip_bits(choose: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(choose.choice((1, 1, 2, 8))):
        changed[choose.randrange(len(changed))] ^= 1 << choose.randrange(8)
    return bytes(changed)


def cut(choose: random.Random, data: bytes) -> bytes:
    return data[: choose.randrange(len(data))]


def insert(choose: random.Random, data: bytes) -> bytes:
    at = choose.randrange(len(data) + 1)
    return data[:at] + choose.randbytes(choose.choice((1, 2, 9, 100))) + data[at:]


def take_out(choose: random.Random, data: bytes) -> bytes:
    at = choose.randrange(len(data))
    return data[:at] + data[at + choose.randint(1, 20) :]


def set_number(choose: random.Random, data: bytes) -> bytes:
    """An extreme value where a size or a count may stand."""
    size = choose.choice((4, 8))
    at: int = choose.choice((8, 12, 16, 24, 28, 40, 48, choose.randrange(len(data))))
    value: int = choose.choice((0, 1, 2**31 - 1, 2**32 - 1, 2**63 - 1, 2**64 - 1, len(data), 4096))
    return data[:at] + (value % (1 << 8 * size)).to_bytes(size, "little") + data[at + size :]


def set_varint(choose: random.Random, data: bytes) -> bytes:
    """An extreme integer somewhere in a payload."""
    at = choose.randrange(min(64, len(data) - 1), len(data))
    value = choose.choice((2**64 - 1, 2**63, 2**40, 2**32, 1 << 28, 70_000, 128))
    return data[:at] + build.varint(value) + data[at + 1 :]


MUTATIONS: tuple[Mutation, ...] = (flip_bits, cut, insert, take_out, set_number, set_varint)


def altered_file(choose: random.Random, members: dict[str, bytes], path: Path) -> None:
    """Changes anywhere in a packed file; its checksums find nearly all."""
    path.write_bytes(choose.choice(MUTATIONS)(choose, build.packed(members)))


def altered_members(choose: random.Random, members: dict[str, bytes]) -> dict[str, bytes]:
    changed = dict(members)
    for name in choose.sample(sorted(members), choose.choice((1, 1, 2))):
        changed[name] = choose.choice(MUTATIONS)(choose, changed[name])
    return changed


def repacked(choose: random.Random, members: dict[str, bytes], path: Path) -> None:
    """Changes under checksums that are right."""
    path.write_bytes(build.packed(altered_members(choose, members)))


def directory(choose: random.Random, members: dict[str, bytes], path: Path) -> None:
    build.write_directory(path, altered_members(choose, members))


WAYS = (altered_file, repacked, directory)


def read_everything(path: Path) -> None:
    recording = Recording.open(path, NAMES)
    for items in everything(recording):
        for _ in items:
            pass
    json.dumps(as_json(recording))
    list(rows(recording))


def everything(recording: Recording) -> Iterator[Iterator[object]]:
    yield timeline(recording, Window())
    yield recording.clock_values()
    yield recording.output(1)
    yield inputs.lines(recording)
    yield recording.thread_paths()
    yield iter(recording.definitions.sources)
    yield iter(() if recording.state is None else recording.state.slots())


def convert(path: Path) -> None:
    if path.is_dir():
        pack(path, path.with_name("converted"))
    else:
        unpack(path, path.with_name("converted"), limit=1 << 24)


def attempt(action: Callable[[Path], None], path: Path) -> str:
    try:
        action(path)
    except RecordingError as error:
        assert str(error).startswith(str(path)[:5])
        return error.fault
    return "clean"


def main(first: int, count: int) -> Counter[str]:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR_SECONDS, PROCESSOR_SECONDS))
    sample = build.sample()
    sample.outcome(("reason", "deadlock"), ("at", 5, 1), ("thread", 1, 3, 6, 2, 1, 2))
    results: Counter[str] = Counter()
    for seed in range(first, first + count):
        choose = random.Random(seed)
        sample.ended = choose.choice((0, 1))
        with TemporaryDirectory() as scratch:
            path = Path(scratch) / "r"
            WAYS[seed % len(WAYS)](choose, sample.members(), path)
            results[attempt(read_everything, path)] += 1
            attempt(convert, path)
    return results


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]), int(sys.argv[2]))))
