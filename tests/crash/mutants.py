"""Recordings with one thing wrong: bits, lengths, fields, entries, checksums.

`mutate(original, target, number)` always makes the same mutant of a number. Half of them are
packed; of these, half are damaged as packed files, where a checksum tells, and half are damaged
inside and then packed well, as somebody with bad intentions would do it.
"""

from __future__ import annotations

import json
import random
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

from reenact.recordings import format
from reenact.recordings.pack import pack, unpack

HUGE = (
    0,
    1,
    2,
    0x7F,
    0x80,
    0xFFFF,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**62,
    2**63 - 1,
    2**63,
    2**64 - 1,
)
STATE_FIELDS = (
    (0, 8),
    (8, 4),
    (12, 4),
    (16, 8),
    (24, 4),
    (28, 4),
    (32, 4),
    (36, 4),
    (40, 8),
    (48, 8),
)
SLOT_FIELDS = ((0, 8), (8, 4), (12, 4), (16, 4), (20, 4), (24, 4), (28, 4))
REPLACEMENTS: tuple[Any, ...] = (None, -1, 2**70, "", "x" * 5000, [], {}, 1.5, ["-E"], True)

Change = Callable[[bytearray, random.Random], None]


def mutate(original: Path, target: Path, number: int) -> Path:
    """A mutant of the packed recording `original`: the file or directory `target`."""
    chance = random.Random(number)
    if number % 4 == 0:
        data = bytearray(original.read_bytes())
        chance.choice(ON_BYTES)(data, chance)
        target.write_bytes(data)
        return target
    directory = target.with_name(target.name + ".d")
    unpack(original, directory)
    name = spoil(directory, chance, number)
    if number % 4 == 2 and name != format.HEADER:
        return packed_again(directory, target)
    return directory


def packed_again(directory: Path, target: Path) -> Path:
    try:
        pack(directory, target)
    except Exception:  # what cannot be packed stays a directory
        return directory
    shutil.rmtree(directory)
    return target


def spoil(directory: Path, chance: random.Random, number: int) -> str:
    """Damage one member; which one goes round."""
    members = [name for name in format.MEMBERS if (directory / name).exists()]
    name = members[number // 4 % len(members)]
    path = directory / name
    data = bytearray(path.read_bytes())
    if name in (format.HEADER, format.END):
        data = spoil_json(data, chance)
    elif name == format.STATE:
        spoil_state(data, chance)
    else:
        chance.choice((*ON_BYTES, *ON_STREAMS, *ON_STREAMS))(data, chance)
    path.write_bytes(data)
    if chance.random() < 0.05:
        path.unlink()
    return name


def spoil_json(data: bytearray, chance: random.Random) -> bytearray:
    if chance.random() < 0.3:
        chance.choice(ON_BYTES)(data, chance)
        return data
    fields = json.loads(data)
    table = fields
    name = chance.choice(sorted(fields))
    if isinstance(fields[name], dict) and fields[name] and chance.random() < 0.7:
        table = fields[name]
        name = chance.choice(sorted(table))
    table[name] = chance.choice(REPLACEMENTS)
    return bytearray(json.dumps(fields).encode())


def spoil_state(data: bytearray, chance: random.Random) -> None:
    if chance.random() < 0.3:
        chance.choice(ON_BYTES)(data, chance)
        return
    base, fields = 0, STATE_FIELDS
    if chance.random() < 0.3:
        base, fields = format.STATE_SLOTS, SLOT_FIELDS
    offset, size = chance.choice(fields)
    value = chance.choice(HUGE) % 2 ** (8 * size)
    data[base + offset : base + offset + size] = value.to_bytes(size, "little")


def flip_bit(data: bytearray, chance: random.Random) -> None:
    if data:
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)


def cut(data: bytearray, chance: random.Random) -> None:
    del data[chance.randrange(len(data) + 1) :]


def zero(data: bytearray, chance: random.Random) -> None:
    start = chance.randrange(len(data) + 1)
    end = min(len(data), start + chance.randrange(1, 200))
    data[start:end] = bytes(end - start)


def fill(data: bytearray, chance: random.Random) -> None:
    start = chance.randrange(len(data) + 1)
    end = min(len(data), start + chance.randrange(1, 40))
    data[start:end] = b"\xff" * (end - start)


def swap(data: bytearray, chance: random.Random) -> None:
    size = chance.randrange(1, 64)
    if len(data) > 2 * size:
        one, two = sorted(chance.randrange(len(data) - size) for _ in range(2))
        data[one : one + size], data[two : two + size] = (
            data[two : two + size],
            data[one : one + size],
        )


def insert_varint(data: bytearray, chance: random.Random) -> None:
    """A huge number where an entry begins, or in the middle of one."""
    at = chance.randrange(64, max(len(data), 65) + 1)
    data[at:at] = varint(chance.choice(HUGE))
    _count_anew(data)


def replace_byte(data: bytearray, chance: random.Random) -> None:
    """Another small number: a thread, a site, a kind that may not be."""
    if len(data) > 64:
        data[chance.randrange(64, len(data))] = chance.randrange(128)


def drop_piece(data: bytearray, chance: random.Random) -> None:
    if len(data) > 64:
        at = chance.randrange(64, len(data))
        del data[at : at + chance.randrange(1, 20)]
        _count_anew(data)


def repeat_piece(data: bytearray, chance: random.Random) -> None:
    if len(data) > 64:
        at = chance.randrange(64, len(data))
        data[at:at] = data[at : at + chance.randrange(1, 200)]
        _count_anew(data)


def change_head(data: bytearray, chance: random.Random) -> None:
    offset, size = chance.choice(((0, 8), (8, 4), (12, 4), (16, 8)))
    value = chance.choice(HUGE) % 2 ** (8 * size)
    if len(data) >= 64:
        data[offset : offset + size] = value.to_bytes(size, "little")


def _count_anew(data: bytearray) -> None:
    if len(data) >= 64:
        data[16:24] = struct.pack("<Q", len(data) - 64)


def varint(value: int) -> bytes:
    made = bytearray()
    while value >= 0x80:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*made, value))


ON_BYTES: tuple[Change, ...] = (flip_bit, cut, zero, fill, swap)
ON_STREAMS: tuple[Change, ...] = (
    insert_varint,
    replace_byte,
    drop_piece,
    repeat_piece,
    change_head,
)
