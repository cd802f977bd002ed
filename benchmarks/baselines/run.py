"""Run a program with one of the baselines recording what its threads do.

    python benchmarks/baselines/run.py NAME TRACE PROGRAM ARGS...

NAME is dejavu, jarec, leap or stride; TRACE the file that it writes. Accesses and synchronisations
come from the hook of the C core, the same that our own recorders get.
"""

from __future__ import annotations

import sys

from reenact import _core


def main() -> int:
    """Record, if there is a hook to do it by."""
    if not hasattr(_core, "set_baseline"):
        print("reenact has no hook for the baselines: _core.set_baseline", file=sys.stderr)
        return 2
    raise NotImplementedError


if __name__ == "__main__":
    sys.exit(main())
