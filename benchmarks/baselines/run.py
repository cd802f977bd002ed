"""Run a program with one of the baselines recording what its threads do, or replaying it.

    python benchmarks/baselines/run.py [--accesses] [--replay] NAME TRACE PROGRAM ARGS...

NAME is dejavu, jarec, leap or stride; TRACE the file that it writes, or reads. Accesses and
synchronisations come from the hook of the C core (`_core/baseline.c`), where our own recorders get
theirs; what reenact itself records is thrown away. With `--accesses` synchronisation is left out,
as it must be of a trace that is to be replayed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from build import build

RECORD = ("-m", "reenact", "record", "--engine", "parallel", "--order", "ditto")


def main() -> int:
    """Run it, and give back its exit code."""
    words = sys.argv[1:]
    options = {word for word in words if word in ("--accesses", "--replay")}
    name, trace, *program = [word for word in words if word not in options]
    how = f"{name}-replay" if "--replay" in options else name
    environment = {**os.environ, "REENACT_BASELINE": f"{build()}:{how}:{Path(trace).absolute()}"}
    if "--accesses" in options:
        environment["BASELINE_ACCESSES"] = "1"
    with tempfile.TemporaryDirectory(prefix="reenact-baseline-") as scratch:
        recording = str(Path(scratch) / "recording.reenact")
        command = [sys.executable, *RECORD, "-o", recording, *program]
        return subprocess.run(command, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
