"""The constants and layouts of docs/format.md, and its integers.

Owns every number that reader, packer and test encoder must agree on. Knows no files and raises
no recording errors: callers know where the bytes came from and say so.
"""

from __future__ import annotations

import re
from struct import Struct

FORMAT = 3
OLDEST = 2  # format 1 had no contents of files, and other inputs; 2 had no lanes

HEADER = "header.json"
END = "end.json"
STATE = "state"
LANES = "lanes"  # of the parallel engine alone
STREAMS = {
    "schedule": 1,
    "operations": 2,
    "definitions": 3,
    "clock": 4,
    "output": 5,
    "notes": 6,
    "outcome": 7,
    "inputs": 8,
    "files": 9,
    "lanes": 10,
}
MEMBERS = (HEADER, END, STATE, *STREAMS)
MOST_MEMBERS = 1 << 16  # of all processes together
_PROCESS = re.compile(r"[1-9][0-9]*(\.[1-9][0-9]*)*")
LONGEST_PROCESS = 12

STREAM_MAGIC = b"reenact\0"
STREAM_HEADER = Struct("<8sIIQ40x")  # magic, format, stream number, used

STATE_HEADER = Struct("<8sIIqiIIiQQQQ")
STATE_SLOTS = 4096  # where the slots begin
SLOT = Struct("<qiiiiII")
LIMIT = Struct("<q")  # behind it, of the parallel engine

PACKED_MAGIC = b"REENACT\n"
PACKED_HEADER = Struct("<8sII")  # magic, format, number of members
PACKED_MEMBER = Struct("<24sQQII")  # name, raw size, packed size, CRC-32, compression
PACKED_CHECK = Struct("<I")
ZLIB = 1
ZLIB_LARGEST_RATIO = 1032  # deflate cannot do better: 258 bytes for 2 bits

LONGEST_VARINT = 10
_LARGEST = (1 << 64) - 1


def is_process(text: str) -> bool:
    """The path of a process in the tree of processes that the first one started."""
    return len(text) <= LONGEST_PROCESS and _PROCESS.fullmatch(text) is not None


def is_member(name: str) -> bool:
    """A member's name: of another process than the first, with its path and a slash before it."""
    process, _, base = name.rpartition("/")
    return base in MEMBERS and (is_process(process) if process else "/" not in name)


def base_of(name: str) -> str:
    return name.rpartition("/")[2]


def encode_varint(value: int) -> bytes:
    if not 0 <= value <= _LARGEST:
        raise ValueError(f"{value} is not an unsigned 64-bit integer")
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def decode_varint(buffer: bytes, at: int) -> tuple[int, int]:
    """The value and where the next one begins; IndexError if the buffer ends first."""
    value = shift = 0
    while True:
        byte = buffer[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
        shift += 7
        if shift > 63:
            raise ValueError("an integer is longer than 10 bytes")
    if value > _LARGEST:
        raise ValueError("an integer does not fit in 64 bits")
    return value, at


def encode_zigzag(value: int) -> bytes:
    if not -(1 << 63) <= value < 1 << 63:
        raise ValueError(f"{value} is not a signed 64-bit integer")
    return encode_varint((value << 1) ^ (value >> 63))


def unzigzag(value: int) -> int:
    return (value >> 1) ^ -(value & 1)
