"""No recording, however damaged, crashes, hangs or bloats `replay`, `info` or `dump`.

Each mutant goes to all three. They may say that it cannot be used, or make the best of it; a
replay may diverge, or end where the program ended. With REENACT_FULL=1 there are more of them.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from reenact.cli.main import main
from reenact.errors import ReenactError
from reenact.recordings.reader import Recording

from ..children import children_of, kill_children
from ..fidelity.harness import Pool
from .mutants import mutate
from .running import PROGRAMS, reenact

IS_FULL = os.environ.get("REENACT_FULL", "") not in ("", "0")
NUMBERS = range(2000 if IS_FULL else 200)
COMMANDS = ("info", "dump", "replay")
FINE, DIVERGED, UNUSABLE = 0, 120, 121
LIMIT_S = 60
MEMORY = 2 << 30  # of address space, for us and the program alike
LARGEST = 500 << 10  # resident, in KiB


@dataclass(frozen=True)
class Tried:
    """What one command made of one mutant."""

    command: str
    code: int
    stderr: str
    own_code: int | None  # the exit code that the mutant claims for the program
    resident: int


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[int, Future[list[Tried]]]]:
    folder = tmp_path_factory.mktemp("mutants")
    original = folder / "original.reenact"
    program = PROGRAMS / "varied.py"
    done = reenact("record", "--strategy", "random", "--seed", 3, "-o", original, program)
    assert done.code == 0, done.stderr
    assert "exactly as recorded" in reenact("replay", original).stderr
    with Pool() as pool:
        yield {number: pool.submit(try_mutant, original, number) for number in NUMBERS}
        pool.shutdown(cancel_futures=True)


@pytest.mark.parametrize("number", NUMBERS)
def test_nothing_bad_happens(tried: dict[int, Future[list[Tried]]], number: int) -> None:
    for each in tried[number].result():
        allowed = {FINE, UNUSABLE}
        if each.command == "replay":
            allowed |= {DIVERGED, each.own_code}
            assert "reenact: " in each.stderr, each
        if each.code == UNUSABLE:
            assert "[recording-" in each.stderr, each
        assert each.code in allowed, each
        assert each.resident < LARGEST, each


def try_mutant(original: Path, number: int) -> list[Tried]:
    """In a process of the pool."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    mutant = mutate(original, original.with_name(f"{number}.reenact"), number)
    return [try_command(command, mutant) for command in COMMANDS]


def try_command(command: str, mutant: Path) -> Tried:
    place = mutant.with_name(f"{mutant.name}.{command}")
    with redirected(place):
        code = main([command, str(mutant)])
        sys.stdout.flush()
    stderr = Path(f"{place}.2").read_text("utf-8", "backslashreplace")
    return Tried(command, code, stderr, own_code(mutant), most_resident())


def most_resident() -> int:
    """In KiB, of this process alone: ru_maxrss would count the process that started it, too. A
    replay's program is held by the limit on its address space."""
    for line in Path("/proc/self/status").read_text("utf-8").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1])
    raise LookupError("/proc/self/status has no VmHWM")


def own_code(mutant: Path) -> int | None:
    try:
        end = Recording.open(mutant).end
    except ReenactError:
        return None
    return None if end is None else end.exit_code


@contextmanager
def redirected(place: Path) -> Iterator[None]:
    """Output goes to files. What takes too long is stopped: a program, or this process itself."""
    saved = [os.dup(descriptor) for descriptor in (1, 2)]
    for descriptor in (1, 2):
        file = os.open(f"{place}.{descriptor}", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(file, descriptor)
        os.close(file)
    signal.signal(signal.SIGALRM, stop)
    signal.alarm(LIMIT_S)
    try:
        yield
    finally:
        signal.alarm(0)
        for descriptor, copy in zip((1, 2), saved, strict=True):
            os.dup2(copy, descriptor)
            os.close(copy)


def stop(*_: object) -> None:
    if not children_of(os.getpid()):
        raise TimeoutError(f"longer than {LIMIT_S} s")
    kill_children(os.getpid())
