"""Whether the program's source files are still those of the recording, and their lines.

`dump` shows lines with this, `info` and the launcher compare digests; `analysis` reads lines as
they are now. Paths come from the recording and so from strangers: only regular files of sensible
size are read, and a recorded line is given only if the file's SHA-256 is the recorded one, or none
was recorded.
"""

from __future__ import annotations

import hashlib
import io
import os
import stat
import tokenize
from collections.abc import Mapping
from functools import lru_cache
from typing import Literal

LARGEST = 1 << 22
_KEPT = 64

Standing = Literal["same", "changed", "missing", "not recorded"]


class Sources:
    """`digests` by path, as in `Recording.definitions.sources`; `cwd` is that of the run."""

    def __init__(self, digests: Mapping[str, str], cwd: str) -> None:
        self._digests = digests
        self._cwd = cwd
        self._read = lru_cache(_KEPT)(self._read_now)

    def standing(self, path: str) -> Standing:
        return self._read(path)[0]

    def line(self, path: str, number: int) -> str | None:
        """The text of a line as it was when recorded, as far as can be known."""
        lines = self._read(path)[1]
        return lines[number - 1].strip() if 0 < number <= len(lines) else None

    def _read_now(self, path: str) -> tuple[Standing, list[str]]:
        data = _read_regular(os.path.join(self._cwd, path))
        if data is None:
            return "missing", []
        if path not in self._digests:
            return "not recorded", _decode(data)
        if hashlib.sha256(data).hexdigest() != self._digests[path]:
            return "changed", []
        return "same", _decode(data)


def read_lines(path: str) -> list[str]:
    """Of a source file as it is now; none if it cannot be read."""
    data = _read_regular(path)
    return [] if data is None else _decode(data)


def _read_regular(path: str) -> bytes | None:
    # O_NONBLOCK: a path that names a pipe must not make us wait. ValueError: a zero byte in it.
    try:
        number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(number, "rb") as file:
            facts = os.fstat(file.fileno())
            if not stat.S_ISREG(facts.st_mode) or facts.st_size > LARGEST:
                return None
            return file.read(LARGEST)
    except (OSError, ValueError):
        return None


def _decode(data: bytes) -> list[str]:
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        text = data.decode(encoding, "replace")
    except (SyntaxError, LookupError, UnicodeError):
        text = data.decode("utf-8", "replace")
    return io.StringIO(text, newline=None).read().split("\n")
