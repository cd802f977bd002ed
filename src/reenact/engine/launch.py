"""Starts the process that runs the program, and waits for it.

Called by `record.py` and `replay.py`. Owns what must be settled before a process exists: its
addresses, hash seed and memory arenas, the descriptors it is handed, and which signals go where.
"""

from __future__ import annotations

import os
import select
import signal
import struct
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial

from reenact import _core, pyversion
from reenact.inputs import Inputs
from reenact.instrument.loader import COLD_CODE
from reenact.intercept.processes import bootstrap
from reenact.recordings.header import ENGINES, ORDERS

RECORD = 1
REPLAY = 2
FORKED_LIMIT_S = 60

Printed = tuple[int, int]  # descriptors in place of 1 and 2

_CONTROL = struct.Struct("<8s4iQqq4iqqq2i")
_BOOTSTRAP = bootstrap("reenact.engine.child")
_FROM_TERMINAL = 0x80  # si_code of a signal that the kernel sent to the whole process group
_WATCHED = {signal.SIGCHLD, signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
# One malloc arena for all threads: which arena a thread gets is a matter of timing.
_SETTLED = {"PYTHONHASHSEED": "0", "MALLOC_ARENA_MAX": "1"}
if not pyversion.HAS_GIL:
    # Objects are in arenas of mimalloc's, which lie at random unless they are larger than 1 GB.
    _SETTLED["MIMALLOC_ARENA_RESERVE"] = "2G"


@dataclass(frozen=True, slots=True)
class Program:
    """What is run, what of it is instrumented, and which inputs are recorded; `packages` is None
    for nothing at all."""

    mode: str
    target: str
    argv: tuple[str, ...]
    packages: tuple[str, ...] | None = ()
    inputs: Inputs = field(default_factory=Inputs)


@dataclass(frozen=True, slots=True)
class Choices:
    """Who chooses: a strategy by name, with the core's number of it; or nobody, if the engine is
    the parallel one, which takes note of an order."""

    name: str
    kind: int
    seed: int
    slice: int
    engine: str = "serial"
    order: str = "sync"


@dataclass(frozen=True, slots=True)
class Launch:
    """A process that is to run the program. It logs into the directory `write`; a replay obeys what
    is in `read` up to its last step, where it is stopped if that `is_cut` off."""

    mode: int
    program: Program
    choices: Choices
    environment: dict[str, str]
    flags: tuple[str, ...]  # of the interpreter
    write: str
    read: str
    last_step: int = -1
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class _Links:
    """What ties a process to us: a pipe that is held open as long as the run goes on, and a socket
    for orders, or for a keeper of epochs that end so; with the tools that look at memory."""

    held: int = -1
    orders: int = -1
    epoch: tuple[int, int, int] = (0, 0, 0)
    tools: int = 0


@dataclass(frozen=True, slots=True)
class Ended:
    """How the process ended; `signal` is None if it exited by itself."""

    exit_code: int
    signal: int | None


def settle(environment: dict[str, str]) -> tuple[dict[str, str], str]:
    """The environment of the process, and the names in it that the program must not see."""
    settled = dict(environment)
    if settled.get("PYTHONHASHSEED") == "random":
        del settled["PYTHONHASHSEED"]
    hidden = [name for name in _SETTLED if name not in settled]
    for name in hidden:
        settled[name] = _SETTLED[name]
    return settled, " ".join(hidden)


def run(
    launch: Launch,
    meanwhile: Callable[[], None] | None = None,
    printed: Printed | None = None,
) -> Ended:
    """Run the program to its end; `meanwhile` is called once it has been started. What it prints
    goes where ours does, or where it is told."""
    until_closed, held = os.pipe()
    ended = _spawn_and_wait(*_prepared(launch, _Links(held=held)), meanwhile, printed)
    if launch.mode == REPLAY:
        _await_forked(until_closed)
    os.close(until_closed)
    return ended


def start_replay(launch: Launch, orders: int) -> int:
    """Start a replay that takes orders from a socket, and prints nothing; its process."""
    return _spawn(*_prepared(launch, _Links(orders=orders)), is_silent=True)


def start_epochs(launch: Launch, keeper: int, epoch: tuple[int, int, int], tools: int = 0) -> int:
    """Start a program that runs in epochs, which end after so many bytes of log, steps, or
    nanoseconds; each is told to whoever has the other end of a socket. Its process."""
    return _spawn(*_prepared(launch, _Links(orders=keeper, epoch=epoch, tools=tools)))


def become(launch: Launch) -> None:
    """The same in this process: it is the program from now on."""
    command, environment, descriptors = _prepared(launch, _Links())
    for descriptor in descriptors:
        os.set_inheritable(descriptor, True)
    _core.fix_addresses()
    os.execve(sys.executable, [*command, "alone"], environment)


def _prepared(launch: Launch, links: _Links) -> tuple[list[str], dict[str, str], list[int]]:
    """The command of a process, its environment, and the descriptors that it is handed."""
    settled, hidden = settle(launch.environment)
    descriptors = _descriptors(launch, links, hidden)
    # As many digits in a recording as in its replay: a text of one character is no new object.
    command = [sys.executable, *launch.flags, "-P", "-c", _BOOTSTRAP, f"{descriptors[-1]:06}"]
    return command, settled, descriptors


def _await_forked(descriptor: int) -> None:
    """Replayed children may outlive their parent, and have things to print. None of ours, and
    nothing that they started, has the other end of this pipe when all of them have ended."""
    waiting = select.poll()
    waiting.register(descriptor)
    waiting.poll(FORKED_LIMIT_S * 1000)


def run_plainly(command: list[str]) -> Ended:
    """Run a command as it is, with signals passed on in the same way."""
    return _spawn_and_wait(command, dict(os.environ), [], None)


def control_descriptor(launch: Launch) -> int:
    """The control file for a process that is there already: it reads and closes everything."""
    return _descriptors(launch, _Links(), hidden="")[-1]


def _descriptors(launch: Launch, links: _Links, hidden: str) -> list[int]:
    """Both directories, the links, and last the control file, in which their numbers are."""
    choices, directories = launch.choices, (launch.write, launch.read)
    descriptors = [os.open(each, os.O_DIRECTORY) for each in directories]
    chosen = (choices.kind, choices.seed, choices.slice)
    ends = (launch.last_step, launch.is_cut, links.held, links.orders, links.tools)
    ways = (ENGINES.index(choices.engine), _number_of_order(launch.program, choices.order))
    parts = (*descriptors, *chosen, *ends, *links.epoch, *ways)
    core = _CONTROL.pack(b"control", launch.mode, *parts)
    descriptors.extend(each for each in (links.held, links.orders) if each >= 0)
    text = _control_text(launch.program, choices, hidden)
    descriptors.append(_control_file(core + text))
    return descriptors


def _number_of_order(program: Program, order: str) -> int:
    """As the core counts them: `sync` with accesses of cold code comes last, and has no name."""
    is_cold = order == "sync" and COLD_CODE in (program.packages or ())
    return len(ORDERS) if is_cold else ORDERS.index(order)


def _control_text(program: Program, choices: Choices, hidden: str) -> bytes:
    packages = "-" if program.packages is None else " ".join(program.packages)
    chosen = (choices.name, str(choices.seed))
    inputs = program.inputs.text()
    fields = (program.mode, program.target, packages, *chosen, hidden, inputs, *program.argv)
    return os.fsencode("\0".join(fields))


def _control_file(data: bytes) -> int:
    descriptor = os.memfd_create("control")
    os.write(descriptor, data)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _spawn_and_wait(
    command: list[str],
    environment: dict[str, str],
    descriptors: list[int],
    meanwhile: Callable[[], None] | None,
    printed: Printed | None = None,
) -> Ended:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _WATCHED)
    try:
        pid = _spawn(command, environment, descriptors, before, printed=printed)
        if meanwhile is not None:
            meanwhile()
        return _wait(pid)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _spawn(
    command: list[str],
    environment: dict[str, str],
    descriptors: list[int],
    mask: Iterable[int] = (),
    is_silent: bool = False,
    printed: Printed | None = None,
) -> int:
    """The new process; the descriptors are its own from now on."""
    for descriptor in descriptors:
        os.set_inheritable(descriptor, True)
    if descriptors:
        _core.fix_addresses()
    actions: list[tuple[int, ...] | tuple[int, int, str, int, int]] = []
    if is_silent:
        actions = [(os.POSIX_SPAWN_OPEN, each, os.devnull, os.O_RDWR, 0) for each in range(3)]
    elif printed is not None:
        actions = [(os.POSIX_SPAWN_DUP2, each, at) for at, each in enumerate(printed, 1)]
    # Ctrl-C is for whoever gives the orders
    spawn = partial(os.posix_spawn, setpgroup=0) if is_silent else os.posix_spawn
    pid = spawn(
        command[0],
        command,
        environment,
        setsigmask=mask,
        file_actions=actions,
    )
    for descriptor in descriptors:
        os.close(descriptor)
    return pid


def _wait(pid: int) -> Ended:
    """Until the process ends; signals sent to us alone are passed on to it."""
    while True:
        arrived = signal.sigwaitinfo(_WATCHED)
        if arrived.si_signo != signal.SIGCHLD:
            if arrived.si_code != _FROM_TERMINAL:
                os.kill(pid, arrived.si_signo)
            continue
        done, status = os.waitpid(pid, os.WNOHANG)
        if done == pid:
            code = os.waitstatus_to_exitcode(status)
            return Ended(code, None) if code >= 0 else Ended(128 - code, -code)
