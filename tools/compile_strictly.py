"""Compile the C core with warnings as errors, for `make check`."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path

FLAGS = ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-fsyntax-only"]


def main() -> int:
    sources = sorted(str(path) for path in Path("src/reenact/_core").glob("*.c"))
    include = sysconfig.get_paths()["include"]
    return subprocess.call(["gcc", *FLAGS, f"-I{include}", *sources])


if __name__ == "__main__":
    sys.exit(main())
