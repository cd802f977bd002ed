"""Free-threaded builds: the GIL stays off, with us and under us."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from reenact import pyversion

pytestmark = pytest.mark.skipif(pyversion.HAS_GIL, reason="no free-threaded build")

ALL_OF_IT = """
import importlib, pkgutil, sys
import reenact, reenact_pytest
for package in (reenact, reenact_pytest):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
print(sys._is_gil_enabled())
"""
PROGRAM = """
import sys, threading
def look():
    print(sys._is_gil_enabled())
thread = threading.Thread(target=look)
thread.start()
thread.join()
look()
"""
TEST = """
import sys, threading
seen = []
def look():
    seen.append(sys._is_gil_enabled())
threads = [threading.Thread(target=look) for _ in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert seen == [False, False], seen
"""

# To load a native module stops the world: in a copy there is nobody who could stop.
IN_COPY = """
import os, threading
from reenact import _core
running = threading.Event()
def compute():
    running.set()
    while True:
        pass
def load():
    import _bz2
    os._exit(5)
threading.Thread(target=compute, daemon=True).start()
running.wait()
_, status = os.waitpid(_core.in_copy(load, 60), 0)
print(os.waitstatus_to_exitcode(status), flush=True)
os._exit(0)
"""


def run(place: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Without the variable that keeps the GIL off whatever is imported."""
    environment = {name: os.environ[name] for name in os.environ if name != "PYTHON_GIL"}
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=120, cwd=place, env=environment
    )


def test_importing_reenact_leaves_the_gil_off(tmp_path: Path) -> None:
    done = run(tmp_path, "-c", ALL_OF_IT)
    assert done.stdout == "False\n", done.stderr


def test_the_gil_is_off_in_a_recorded_program_and_its_replay(tmp_path: Path) -> None:
    Path(tmp_path, "program.py").write_text(PROGRAM)
    recorded = run(tmp_path, "-m", "reenact", "record", "-o", "run.reenact", "program.py")
    assert recorded.stdout == "False\nFalse\n", recorded.stderr
    replayed = run(tmp_path, "-m", "reenact", "replay", "run.reenact")
    assert (replayed.returncode, replayed.stdout) == (0, "False\nFalse\n"), replayed.stderr


@pytest.mark.parametrize("command", [("explore", "--runs", "20"), ("races",)])
def test_the_gil_is_off_where_runs_are_looked_into(tmp_path: Path, command: tuple[str]) -> None:
    Path(tmp_path, "program.py").write_text(TEST)
    done = run(tmp_path, "-m", "reenact", *command, "program.py")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_copy_that_is_asked_waits_for_no_thread_that_it_does_not_have(tmp_path: Path) -> None:
    done = run(tmp_path, "-c", IN_COPY)
    assert done.stdout == "5\n", done.stderr


def test_a_recording_says_which_build_made_it() -> None:
    assert pyversion.RUNNING.endswith("t")
    assert pyversion.minor_of("3.13.5t") == pyversion.RUNNING != pyversion.minor_of("3.13.5")
