"""The only reader of sys.version_info in Python code; compat.h is its C counterpart."""

from __future__ import annotations

import sys

SUPPORTED = ("3.11", "3.12", "3.13", "3.13t")

# Whether this interpreter was built with the GIL; "t", as in 3.13t, is for free-threaded.
HAS_GIL = "t" not in sys.abiflags
BUILD = "" if HAS_GIL else "t"

RUNNING = f"{sys.version_info.major}.{sys.version_info.minor}{BUILD}"

# From 3.13 on, threads are started and joined through handles in C.
HAS_THREAD_HANDLES = sys.version_info >= (3, 13)

# From 3.12 on, loops over ranges and lists are specialised, and others are slower.
SPECIALISES_LOOPS = sys.version_info >= (3, 12)


def minor_of(version: str) -> str:
    """`3.11` of `3.11.7`, `3.13t` of `3.13.5t`: recordings replay within a minor version."""
    return ".".join(version.split(".")[:2]) + ("t" if version.endswith("t") else "")
