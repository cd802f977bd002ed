"""What a program prints, kept apart from what a command prints of it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def apart(is_json: bool) -> Iterator[None]:
    """Keeps what the program prints out of the JSON on standard output."""
    if not is_json:
        yield
        return
    sys.stdout.flush()
    ours = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        os.dup2(ours, 1)
        os.close(ours)
