"""Recording a part of a running program: `with reenact.recording(path): ...`.

The process itself is put under the gate for the length of the block, without a launcher. A replay
runs the whole program again in a child process (`child.py`), which follows the recording from
where the block begins. Sources loaded before the block have no ticks: there, threads switch at
synchronisation only. Addresses and the hash seed are whatever this process was started with.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from reenact import _core, strategies
from reenact.engine import child, launch, record
from reenact.engine.launch import Choices, Ended, Program
from reenact.errors import UsageError
from reenact.inputs import Inputs
from reenact.intercept import install
from reenact.recordings import format

_is_used = False
_followed: tuple[int, Inputs] | None = None  # set by child.py in a process that replays a block


def follow(descriptor: int, inputs: Inputs) -> None:
    """The next block of this process is to be replayed, as the control file says."""
    global _followed
    _followed = descriptor, inputs


@contextmanager
def recording(
    path: str | os.PathLike[str], *, strategy: str = "queue", seed: int = 0
) -> Iterator[None]:
    """Record what happens in the block into the file `path`.

    Only the main thread may run when the block begins, and a process can record once.
    """
    _require_alone()
    _require_first()
    if _followed is not None:
        yield from _replayed(*_followed)
        return
    target = Path(os.path.abspath(path))
    directory = record.directory_of(target)
    started = time.monotonic()  # before the clocks are recorded
    _begin(directory, strategy, seed)
    try:
        yield
    finally:
        _core.close(True)
        kept = record.keep(directory, target, Ended(0, None), time.monotonic() - started)
        if kept.problem:
            print(f"reenact: {kept.problem}", file=sys.stderr)


def _replayed(descriptor: int, inputs: Inputs) -> Iterator[None]:
    child.take_over(inputs)
    _core.control(descriptor)
    _core.start(descriptor, None)
    install.begin()
    try:
        yield
    finally:
        _core.close(True)


def _begin(directory: Path, strategy: str, seed: int) -> None:
    kind = strategies.describe(strategy)
    choices = Choices(kind.name, kind.kind, seed, kind.slice)
    main = sys.modules["__main__"]
    program = Program("block", getattr(main, "__file__", None) or "", tuple(sys.argv[1:]), None)
    try:
        directory.mkdir(mode=0o700, parents=True)
    except OSError as error:
        raise UsageError(
            f"cannot record into {directory}: {error.strerror}", advice="Choose another path."
        ) from error
    header = record.header(program, choices, is_launched=False)
    (directory / format.HEADER).write_text(header.to_json(), "utf-8")
    descriptor = launch.control_descriptor(record.to_record(program, choices, directory))
    try:
        child.take_over(program.inputs)
        _core.control(descriptor)
        loaded = strategies.load(strategy, seed) if ":" in strategy else None
        chooser = strategies.chooser(loaded, _core.OPERATIONS) if loaded is not None else None
        _core.start(descriptor, chooser)
        install.begin()
    except BaseException:
        shutil.rmtree(directory, ignore_errors=True)
        raise
    atexit.register(_core.close, True)


def _require_first() -> None:
    """The patches of the interpreter and the core's tables are made for one run."""
    global _is_used
    if _is_used:
        raise UsageError(
            "this process has recorded already",
            advice="A process can record once: put both parts into one block, or start another.",
        )
    _is_used = True


def _require_alone() -> None:
    if len(sys._current_frames()) > 1:
        raise UsageError(
            "other threads are running already",
            advice="Begin recording before the program starts threads.",
        )
