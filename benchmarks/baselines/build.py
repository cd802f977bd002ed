"""Compiles the baselines for the interpreter that runs this, and says where they are.

    python benchmarks/baselines/build.py [DIRECTORY]

Into `build/baselines` of the project if nothing is said; a file for each kind of interpreter.
They are no part of the package, so its own build knows nothing of them.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path

HERE = Path(__file__).resolve().parent
DIRECTORY = HERE.parent.parent / "build" / "baselines"
FLAGS = ("-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "-pthread")


def build(directory: Path = DIRECTORY) -> Path:
    """The module's file, made again if it is older than a source."""
    target = directory / f"_baselines{sysconfig.get_config_var('EXT_SUFFIX')}"
    sources = sorted(HERE.glob("*.[ch]"))
    newest = max(source.stat().st_mtime for source in sources)
    if not target.exists() or target.stat().st_mtime < newest:
        directory.mkdir(parents=True, exist_ok=True)
        include = sysconfig.get_paths()["include"]
        files = [str(source) for source in sources if source.suffix == ".c"]
        subprocess.run(["cc", *FLAGS, f"-I{include}", *files, "-o", str(target)], check=True)
    return target


if __name__ == "__main__":
    print(build(Path(sys.argv[1]) if len(sys.argv) > 1 else DIRECTORY))
