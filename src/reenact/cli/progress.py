"""How far long work has come, on a terminal; nothing at all anywhere else, or if it is short."""

from __future__ import annotations

import sys
import time
from typing import IO

PATIENCE_S = 1.0  # before anything is said
PERIOD_S = 0.2


class Progress:
    """Call it with the work done and the work there is; `close` wipes the line."""

    def __init__(self, what: str, stream: IO[str] | None = None) -> None:
        self._what = what
        self._stream = sys.stderr if stream is None else stream
        self._next = time.monotonic() + PATIENCE_S
        self._is_shown = False

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now < self._next or not self._stream.isatty():
            return
        self._next = now + PERIOD_S
        self._is_shown = True
        share = 100 * done // total if total else 100
        self._stream.write(f"\r{self._what} {share:3}% of {total / 1e6:,.1f} MB")
        self._stream.flush()

    def close(self) -> None:
        if self._is_shown:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
