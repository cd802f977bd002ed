"""Systems on which processes cannot be copied: that is said, and all is done from the start."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ..conftest import SOURCES

HERE = Path(__file__).resolve().parent
CORE = Path(SOURCES) / "reenact" / "_core"

REFUSALS = {
    "libc": "the C library is not glibc",
    "shadow-stacks": "the process has shadow stacks, which belong to one thread each",
    "proc": "/proc is not there, or may not be read",
    "permission": "the system does not let the process copy itself",
}

PROGRAM = """
import threading

class Counter:
    value = 0

    def add(self):
        for _ in range(20):
            self.value += 1

counter = Counter()
threads = [threading.Thread(target=counter.add) for _ in range(2)]
for each in threads:
    each.start()
for each in threads:
    each.join()
assert counter.value == 41, "never"
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With the stand-in, a program that fails, and its recording."""
    directory = tmp_path_factory.mktemp("elsewhere")
    words = ["cc", "-shared", "-fPIC", "-o", directory / "elsewhere.so", HERE / "elsewhere.c"]
    subprocess.run([*map(str, words), "-ldl"], check=True)
    (directory / "program.py").write_text(PROGRAM, "utf-8")
    ended = reenact(directory, "", "record", "-o", "usual.reenact", "program.py")
    assert ended.returncode == 1, ended.stderr
    return directory


def reenact(place: Path, world: str, *args: str) -> subprocess.CompletedProcess[str]:
    environment = dict(os.environ)
    if world:
        environment |= {
            "LD_PRELOAD": str(place / "elsewhere.so"),
            "LD_ELSEWHERE": world,
        }
    return subprocess.run(
        [sys.executable, "-m", "reenact", *args],
        cwd=place,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def without(told: str, refusal: str) -> list[str]:
    return [line for line in told.splitlines() if refusal not in line]


JOURNEY = ("where", "reverse-step", "last-write counter.value", "goto 40", "where")
COMMANDS = [word for each in JOURNEY for word in ("-c", each)]


@pytest.fixture(scope="module")
def usual(place: Path) -> str:
    ended = reenact(place, "", "debug", "usual.reenact", *COMMANDS)
    assert "no checkpoints" not in ended.stdout
    assert "assert counter.value == 41" in ended.stdout
    assert "self.value += 1" in ended.stdout
    return ended.stdout


@pytest.mark.parametrize("world", REFUSALS)
def test_the_debugger_says_why_and_starts_at_the_beginning(
    place: Path, usual: str, world: str
) -> None:
    ended = reenact(place, world, "debug", "usual.reenact", *COMMANDS)
    refusal = f"no checkpoints: {REFUSALS[world]}; every move starts at the beginning"
    assert refusal in ended.stdout, ended.stdout + ended.stderr
    assert without(ended.stdout, "no checkpoints") == usual.splitlines()


def test_a_run_is_usually_in_epochs(place: Path) -> None:
    ended = reenact(place, "", "run", "program.py")
    assert "the epoch (steps 0 to" in ended.stdout, ended.stdout + ended.stderr
    assert "there were no epochs" not in ended.stderr


@pytest.mark.parametrize("world", REFUSALS)
def test_a_run_says_why_and_is_run_again_from_its_start(place: Path, world: str) -> None:
    ended = reenact(place, world, "run", "program.py")
    told = f"there were no epochs: {REFUSALS[world]}; all was run again from the start"
    assert told in ended.stderr, ended.stdout + ended.stderr
    assert "FAILED: AssertionError: never" in ended.stdout
    assert "the whole run (steps 0 to" in ended.stdout
    assert "was run again, identically, at the first try" in ended.stdout
    assert "self.value += 1" in ended.stdout
    assert ended.returncode == 1


def test_without_epochs_nothing_is_run_again_that_went_well(place: Path) -> None:
    (place / "well.py").write_text("print('well')\n", "utf-8")
    ended = reenact(place, "libc", "run", "well.py")
    assert (ended.stdout, ended.returncode) == ("well\n", 0)
    assert "the C library is not glibc; nothing has failed" in ended.stderr


def test_where_no_process_can_be_forked_nothing_is_claimed(place: Path) -> None:
    """Values are asked of copies; without one there is no answer, but the reason."""
    asked = reenact(place, "alone", "debug", "usual.reenact", "-c", "print counter.value")
    reason = "no copy can be made that could be asked: Operation not permitted"
    assert reason in asked.stdout + asked.stderr
    assert "40" not in asked.stdout.rpartition("print counter.value")[2]
    ended = reenact(place, "alone", "run", "program.py")
    assert f"there were no epochs: {REFUSALS['permission']}" in ended.stderr
    assert reason in ended.stdout
    assert "counter = <" not in ended.stdout


UNKNOWN = """
#include <stdio.h>
const char *fork_begin(void);
int main(void) { return puts(fork_begin()) < 0; }
"""


def test_on_an_unknown_processor_it_compiles_and_refuses(tmp_path: Path) -> None:
    """Nothing else of the core is needed to say so: it is not linked."""
    import sysconfig

    (tmp_path / "main.c").write_text(UNKNOWN, "utf-8")
    include = sysconfig.get_paths()["include"]
    flags = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-DREENACT_UNKNOWN_CPU"]
    places = [f"-I{include}", f"-I{CORE}", "-Wl,--unresolved-symbols=ignore-all", "-no-pie"]
    program = tmp_path / "refuses"
    words = ["cc", *flags, *places, "-o", program, tmp_path / "main.c", CORE / "fork.c"]
    subprocess.run(list(map(str, words)), check=True)
    said = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    assert said == "threads are copied on x86-64 processors alone\n"
