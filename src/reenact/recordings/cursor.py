"""Reads a stream's payload forward: integers and bytes, with bounded memory.

Used for the streams that are short or read once; `operations.py` has a loop of its own,
because there a million entries must not cost a million calls. Raises EOFError where an entry
is cut off and ValueError where one makes no sense; `streams.py` turns them into recording
errors or, for a run that was killed, into the end.
"""

from __future__ import annotations

from collections.abc import Iterator

from reenact.recordings.format import LONGEST_VARINT, decode_varint, unzigzag
from reenact.recordings.members import CHUNK, Pieces


class Payload:
    """The used bytes of a stream, after its header."""

    def __init__(self, pieces: Pieces, used: int) -> None:
        self._pieces = pieces
        self.left = used

    def read(self, size: int) -> bytes:
        piece = self._pieces.read(min(size, self.left))
        # A file that became shorter since it was measured just ends earlier.
        self.left = self.left - len(piece) if piece else 0
        return piece


class Cursor:
    def __init__(self, payload: Payload) -> None:
        self._payload = payload
        self._buffer = b""
        self._at = 0
        self._before = 0  # bytes of the stream that came before the buffer

    @property
    def offset(self) -> int:
        return self._before + self._at

    def more(self) -> bool:
        return self._fill(1) > 0

    def varint(self) -> int:
        if len(self._buffer) - self._at < LONGEST_VARINT:
            self._fill(LONGEST_VARINT)
        try:
            value, self._at = decode_varint(self._buffer, self._at)
        except IndexError:
            raise EOFError from None
        return value

    def zigzag(self) -> int:
        return unzigzag(self.varint())

    def pieces(self, size: int) -> Iterator[bytes]:
        """So many bytes, a chunk at a time; to be used up before anything else is read."""
        if size > len(self._buffer) - self._at + self._payload.left:
            raise EOFError
        return self._pieces(size)

    def _pieces(self, size: int) -> Iterator[bytes]:
        while size > 0 and (available := self._fill(1)):
            piece = self._buffer[self._at : self._at + min(size, available)]
            self._at += len(piece)
            size -= len(piece)
            yield piece

    def text(self, size: int, limit: int) -> str:
        if size > limit:
            raise ValueError(f"a text has {size} bytes")
        return b"".join(self.pieces(size)).decode("utf-8", "backslashreplace")

    def _fill(self, wanted: int) -> int:
        """Read on until so many bytes are at hand; how many there are, fewer at the end."""
        available = len(self._buffer) - self._at
        if available < wanted and (piece := self._payload.read(CHUNK)):
            self._before += self._at
            self._buffer = self._buffer[self._at :] + piece
            self._at = 0
            available = len(self._buffer)
        return available
