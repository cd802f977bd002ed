"""A thread for each request, and nobody joins them: those that ended long ago are forgotten."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

THREADS = 600
PROGRAM = f"""\
import sys
import threading
import time

class Box:
    def __init__(self):
        self.value = 0

shared = Box()
lock = threading.Lock()

def handle(number):
    with lock:
        shared.value += 1
    if number >= {THREADS} - 10 and "racy" in sys.argv:
        shared.value = number

for number in range({THREADS}):
    threading.Thread(target=handle, args=(number,)).start()
    while threading.active_count() > 3:
        time.sleep(0)
"""


@pytest.mark.parametrize(("word", "verdict", "code"), [("safe", "none", 0), ("racy", "found", 1)])
def test_those_that_ended_long_ago_are_forgotten(
    tmp_path: Path, word: str, verdict: str, code: int
) -> None:
    path = tmp_path / "server.py"
    path.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "-m", "reenact", "races", "--json", str(path), word],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == code, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    assert (document["verdict"], document["reasons"]) == (verdict, [])
    assert 0 < document["forgotten"] < THREADS - 100
