"""Whatever is done to a recording, reading it ends in a RecordingError or well, within bounds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from . import build

ROOT = Path(__file__).parents[3]
COUNT = 1200

BOUNDED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (1 << 29, 1 << 29))
resource.setrlimit(resource.RLIMIT_CPU, (100, 100))
from pathlib import Path
from tests.unit.recordings.fuzzing import attempt, read_everything
print(attempt(read_everything, Path(sys.argv[1])))
"""


def run(*command: str) -> str:
    environment = os.environ | {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    done = subprocess.run(
        [sys.executable, *command], env=environment, capture_output=True, text=True, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_altered_recordings() -> None:
    results = json.loads(run("-m", "tests.unit.recordings.fuzzing", "0", str(COUNT)))
    assert sum(results.values()) == COUNT
    # Each kind of result must come up, or the fuzzer does not reach what it should.
    assert {"clean", "damaged", "truncated", "foreign", "newer"} <= results.keys()


def bomb(name: str, payload: bytes) -> dict[str, bytes]:
    return build.sample().members() | {name: build.stream(name, payload)}


# Payloads are made when they are needed: kept, they would be most of the memory of a test run.
BOMBS: dict[str, tuple[str, Callable[[], bytes], str]] = {
    "definitions larger than the limit": (
        "definitions",
        lambda: bytes(1 << 28) + b"x",
        "oversized",
    ),
    "many strings": ("definitions", lambda: b"\1\0" * (5 << 20), "oversized"),
    "many sites": ("definitions", lambda: b"\1\0" + b"\2\0\0\0\0" * (2 << 20), "oversized"),
    "many sources": ("definitions", lambda: b"\1\0" + b"\4\0\0" * (2 << 20), "oversized"),
    "many objects": ("definitions", lambda: b"\3\0\0\0" * (2 << 20), "damaged"),
    "many calls": (
        "definitions",
        lambda: b"".join(build.varints(6, number, 0, 0) for number in range(1 << 17)),
        "oversized",
    ),
    "a large input": ("inputs", lambda: build.varints(2, 5, 1 << 28) + bytes(1 << 28), "clean"),
    "an input of many items": (
        "inputs",
        lambda: build.varints(2, 8, 1 << 22) + bytes(1 << 22),
        "clean",
    ),
    "an input of a terabyte": ("inputs", lambda: build.varints(2, 5, 1 << 40), "damaged"),
    "a large outcome": ("outcome", lambda: b"\n" * (1 << 25), "oversized"),
    "many notes": ("notes", lambda: b"\1\0\0\0\0" * (1 << 18), "clean"),
    "a note of a terabyte": ("notes", lambda: build.varints(1, 0, 0, 0, 1 << 40), "damaged"),
    "a write of a terabyte": ("output", lambda: build.varints(1, 1 << 40), "damaged"),
    "a large write": ("output", lambda: build.varints(1, 1 << 28) + bytes(1 << 28), "clean"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_small_file_does_not_fill_the_memory(tmp_path: Path, name: str) -> None:
    member, payload, result = BOMBS[name]
    (tmp_path / "r").write_bytes(build.packed(bomb(member, payload())))
    assert (tmp_path / "r").stat().st_size < 2_000_000
    assert run("-c", BOUNDED, str(tmp_path / "r")).strip() == result
