"""Decodes the operations stream: the one loop of the reader that must be fast.

`streams.py` calls it. The loop is written out, with one- and two-byte integers decoded in
place, since most are: about 0.3 us an operation, where calls would cost four times as much.
Numbers come out as stored; what they stand for is added by `reader.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from reenact.recordings.format import LONGEST_VARINT, decode_varint

CHUNK = 1 << 18
_LONGEST_ENTRY = 4 * LONGEST_VARINT

Operation = tuple[int, int, int, int]
"""Step, thread index, object number, site number."""


def decode_operations(read: Callable[[int], bytes]) -> Iterator[Operation]:
    """EOFError if the last entry is cut off, ValueError if one is not an entry."""
    step = thread = number = 0
    buffer, at = b"", 0
    while True:
        piece = read(CHUNK)
        buffer, at = buffer[at:] + piece, 0
        end = len(buffer)
        # An entry that begins before `stop` lies inside the buffer; behind the last piece,
        # zeros end every integer, and an entry that needed them is cut off.
        stop = end - _LONGEST_ENTRY if piece else end
        if not piece:
            buffer += bytes(_LONGEST_ENTRY)
        while at < stop:
            head = buffer[at]
            at += 1
            if head > 0x7F:
                byte = buffer[at]
                if byte < 0x80:
                    head = head & 0x7F | byte << 7
                    at += 1
                else:
                    head, at = decode_varint(buffer, at - 1)
            if head & 4:
                thread = buffer[at]
                at += 1
                if thread > 0x7F:
                    thread, at = decode_varint(buffer, at - 1)
            if head & 2:
                delta = buffer[at]
                at += 1
                if delta > 0x7F:
                    delta, at = decode_varint(buffer, at - 1)
                number += (delta >> 1) ^ -(delta & 1)
            if head & 1:
                delta = buffer[at]
                at += 1
                if delta > 0x7F:
                    delta, at = decode_varint(buffer, at - 1)
                step += delta
            else:
                step += 1
            if at > end:
                raise EOFError
            yield step, thread, number, head >> 3
        if not piece:
            return
