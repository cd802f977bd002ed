"""Code is compiled in a forked copy of the process only while no other thread of it runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """\
import resource
import threading


def faults():
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt


def added_by(statement):
    before = faults()
    exec(statement)
    return faults() > before


print("alone", added_by("import first"))
go_on = threading.Event()
other = threading.Thread(target=go_on.wait)
other.start()
print("beside another", added_by("import second"))
go_on.set()
other.join()
print("alone again", added_by("import third"))
"""


def test_a_copy_is_made_of_one_thread_only(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(PROGRAM)
    for name in ("first", "second", "third"):
        (tmp_path / f"{name}.py").write_text("value = [number for number in range(3)]\n")
    command = [sys.executable, "-m", "reenact", "record", "--engine", "parallel", "app.py"]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env={**os.environ, "REENACT_CACHE_DIR": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stdout.splitlines() == [
        "alone True",
        "beside another False",
        "alone again True",
    ], done.stderr
