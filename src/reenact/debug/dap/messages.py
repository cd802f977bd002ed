"""Messages of the protocol on a stream of bytes: a header with the size, then JSON."""

from __future__ import annotations

import json
import threading
from io import RawIOBase
from typing import Any, BinaryIO

from reenact.errors import ReenactError

LARGEST = 1 << 26
_LONGEST_HEADER = 1 << 12
_LENGTH = b"content-length"

Document = dict[str, Any]


class BadFrame(ReenactError):
    """What came is no message; where the next one begins is not known."""

    slug = "usage"

    def __init__(self, what: str) -> None:
        advice = "Each message is `Content-Length: N`, an empty line and N bytes of JSON."
        super().__init__(f"the editor sent what is no message: {what}", advice=advice)


class Refused(Exception):
    """A request cannot be done; its text says why, and what to do."""


def read(reader: RawIOBase | BinaryIO) -> Document | None:
    """The next message; None at the end."""
    size = _size(reader)
    if size is None:
        return None
    data = b""
    while len(data) < size:
        more = reader.read(size - len(data))
        if not more:
            raise BadFrame(f"it ends after {len(data)} of {size} bytes")
        data += more
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise BadFrame(f"it is not JSON ({error})") from None
    if not isinstance(document, dict):
        raise BadFrame("it is no JSON object")
    return document


def _size(reader: RawIOBase | BinaryIO) -> int | None:
    size = None
    is_first = True
    while True:
        line = reader.readline(_LONGEST_HEADER)
        if not line and is_first:
            return None
        if not line.endswith(b"\n"):
            raise BadFrame(f"the header {line[:80]!r} has no end")
        if not line.strip():
            break
        is_first = False
        name, colon, value = line.partition(b":")
        if not colon:
            raise BadFrame(f"{line[:80].strip()!r} is no header")
        if name.strip().lower() == _LENGTH:
            size = _number(value.strip())
    if size is None:
        raise BadFrame("it has no Content-Length")
    return size


def _number(text: bytes) -> int:
    if not text.isdigit() or len(text) > 12 or int(text) > LARGEST:
        raise BadFrame(f"Content-Length is {text[:40]!r}, not a number up to {LARGEST}")
    return int(text)


class Sender:
    """Gives messages their numbers, and writes them."""

    def __init__(self, writer: BinaryIO) -> None:
        self._writer = writer
        self._lock = threading.Lock()
        self._number = 0

    def event(self, name: str, body: Document | None = None) -> None:
        self._send({"type": "event", "event": name, **({} if body is None else {"body": body})})

    def answer(self, request: Document, body: Document | None) -> None:
        self._send({**_answering(request), "success": True, **({"body": body} if body else {})})

    def refuse(self, request: Document, text: str) -> None:
        error = {"id": 1, "format": "{text}", "variables": {"text": text}, "showUser": True}
        self._send(
            {**_answering(request), "success": False, "message": text, "body": {"error": error}}
        )

    def _send(self, document: Document) -> None:
        with self._lock:
            self._number += 1
            data = json.dumps({"seq": self._number, **document}).encode()
            self._writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(data), data))
            self._writer.flush()


def _answering(request: Document) -> Document:
    return {
        "type": "response",
        "request_seq": request.get("seq", 0),
        "command": request.get("command", ""),
    }
