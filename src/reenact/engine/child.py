"""The first code in the process that runs the program: puts it under the gate and runs it.

Started by `launch.py` with the number of a descriptor, from which the core reads its part and
this module the rest. Everything here allocates the same in a recording and in its replay:
which of the two it is, only the core knows. What is printed about the run is the launcher's.
"""

from __future__ import annotations

import _frozen_importlib
import _queue
import _thread
import atexit
import gc
import os
import sys
import threading

from reenact import _core
from reenact.engine import guarded
from reenact.inputs import Inputs
from reenact.instrument import listing, loader
from reenact.instrument.rewrite import PLACEHOLDER
from reenact.intercept import install, unlocked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any, NoReturn

FOLLOWS = "follow "  # what the strategy of a run begins with that a search has found
INTERRUPTED = 130  # what a shell sees of a program that Ctrl-C ended


def main() -> None:
    descriptor = int(sys.argv[1])
    if len(sys.argv) == 2:  # else it has no launcher: see nested.py
        _core.die_with_launcher()
    kind, target, packages, strategy, seed, hidden, chosen, *argv = os.fsdecode(
        _core.control(descriptor)
    ).split("\0")
    for name in hidden.split():
        os.environ.pop(name, None)
    inputs = Inputs.parse(chosen)
    if kind == "block":
        run_block(descriptor, target, argv, inputs)
        return
    policy = instrument(packages)
    take_over(inputs)
    chooser = _chooser(strategy, int(seed)) if ":" in strategy else None
    is_package = complete_path(kind, target)
    if strategy.startswith(FOLLOWS):
        from reenact.engine import following

        following.load_text(strategy)
    atexit.register(_core.close, False)
    if policy.races or is_ours(target):
        from reenact.engine import detecting
    if policy.races:
        detecting.prepare()
    if policy.is_shared:  # outermost: what it stands in place of is called by the program itself
        unlocked.install()
    try:
        _core.start(descriptor, chooser)
    except OSError as error:
        say_unrecorded(error)
    if _core.epoch_is_on():
        guarded.install()
    elif "PYTHONBREAKPOINT" not in os.environ:
        sys.breakpointhook = pass_by
    install.begin()
    if policy.races:
        detecting.start(policy.races, policy.has_points)
    _core.keep_operations(policy.is_kept)
    if strategy.startswith(FOLLOWS):
        following.begin_text(strategy)
    run_program(kind, target, argv, policy, is_package)


def pass_by(*args: Any, **names: Any) -> None:
    """What breakpoint() does: `reenact debug` stops there when the recording is opened."""


def is_ours(target: str) -> bool:
    """A module of reenact's that is run as a program, as `explore/called.py` is, loads some of what
    the race detector loads: that must not depend on whether races are looked for."""
    return target.startswith(("reenact.", "reenact_pytest."))


def run_program(
    kind: str, target: str, argv: list[str], policy: loader.Policy, is_package: bool
) -> None:
    if is_package:
        run_module("__main__", argv, policy, argv0=target)
    elif kind == "script":
        run_script(target, argv, policy)
    elif kind == "command":
        run_command(target, argv, policy)
    else:
        run_module(target, argv, policy)


def complete_path(kind: str, target: str) -> bool:
    """What Python itself puts first on sys.path. True if the program is a directory or archive.

    Done before anything is recorded: what we ask the system must not look like the program's
    questions, nor be answered from a recording, which allocates otherwise than the system does.
    """
    is_package = kind == "script" and (os.path.isdir(target) or target.endswith((".zip", ".pyz")))
    places = {
        "script": target if is_package else os.path.dirname(os.path.realpath(target)),
        "module": os.getcwd(),
        "command": "",
    }
    sys.path.insert(0, places[kind])
    return is_package


def say_unrecorded(error: OSError) -> None:
    print(
        f"reenact: cannot record: {error.strerror}. The program runs without being recorded; "
        "make room, or choose another place with -o.",
        file=sys.stderr,
        flush=True,
    )


def run_block(descriptor: int, target: str, argv: list[str], inputs: Inputs) -> None:
    """A program that records a part of itself runs as ever, until it comes to that part."""
    from reenact.engine import block

    os.lseek(descriptor, 0, os.SEEK_SET)
    block.follow(descriptor, inputs)
    complete_path("script", target)
    run_script(target, argv, loader.Policy(enabled=False))


def take_over(inputs: Inputs) -> None:
    """Everything that patches the interpreter, before the program's first line."""
    _core.install(type(_thread.allocate_lock()), _thread.RLock, _queue.SimpleQueue, _thread)
    _hash_anew(getattr(threading, "_shutdown_locks", set()))
    install.install(inputs)
    gc.enable, gc.disable, gc.isenabled = _core.gc_enable, _core.gc_disable, _core.gc_isenabled
    if _core.has_lanes():
        _settle_order()


def _settle_order() -> None:
    """Where threads run as they like, what `threading` counts without a lock has an order; and who
    ends the process says so."""
    ours: Any = threading  # whose counter has no name for strangers
    lock, count, leave = _thread.allocate_lock(), ours._counter, os._exit

    def counted() -> Any:
        with lock:
            return count()

    def exit_closed(status: int) -> NoReturn:
        _core.close(False)
        leave(status)

    ours._counter = counted
    os._exit = exit_closed
    _core.hide_frames(counted.__code__)
    _keep_import_locks()


def _keep_import_locks() -> None:
    """A lock of importlib's dies with the last thread that waits for it, and who that is depends on
    reference counts, which nothing orders. So none dies: each module has one for good, and each
    thread a list of those that it waits for, which from 3.13 on dies as well."""
    importing: Any = _frozen_importlib
    kept: list[Any] = []
    make = importing._ModuleLock

    def kept_lock(name: str) -> Any:
        lock = make(name)
        kept.append(lock)
        return lock

    importing._ModuleLock = kept_lock
    if importing._blocking_on is not None:
        importing._blocking_on = {}
    _core.hide_frames(kept_lock.__code__)


def _hash_anew(locks: set[Any]) -> None:
    """The core gave locks another hash; those in a set already were put there by the old one."""
    members = list(locks)
    locks.clear()
    locks.update(members)


def instrument(packages: str) -> loader.Policy:
    """`packages` is "-" for none at all, or the names given by --instrument."""
    listing.avoid()
    enabled = packages != "-"
    names = packages.split() if enabled else []
    policy = loader.Policy.of(names, enabled)
    loader.install(policy, _plant, _core.note_source, _core.in_child, note_module=_core.note_module)
    return policy


def _plant(code: CodeType) -> CodeType:
    return _core.plant(code, PLACEHOLDER)


def _chooser(strategy: str, seed: int) -> Any:
    """A strategy of the user's own, found where `python -m` would find it."""
    from reenact import strategies

    sys.path.insert(0, os.getcwd())
    try:
        return strategies.chooser(strategies.load(strategy, seed), _core.OPERATIONS)
    finally:
        sys.path.pop(0)


def run_script(path: str, argv: list[str], policy: loader.Policy) -> None:
    sys.argv = [path, *argv]
    code = loader.code_for_script(path, policy, _plant, _core.note_source, _core.in_child)
    namespace = fresh_main()
    namespace["__file__"] = path
    namespace["__cached__"] = None
    execute(code, namespace)


def run_module(name: str, argv: list[str], policy: loader.Policy, argv0: str = "") -> None:
    sys.argv = [argv0 or "-m", *argv]
    code, spec = loader.code_for_module(name, policy, _plant, _core.note_source, _core.in_child)
    sys.argv[0] = argv0 or spec.origin or name
    namespace = fresh_main()
    namespace.update(
        __file__=spec.origin,
        __cached__=spec.cached,
        __loader__=spec.loader,
        __package__=spec.parent,
        __spec__=spec,
    )
    execute(code, namespace)


def run_command(text: str, argv: list[str], policy: loader.Policy) -> None:
    sys.argv = ["-c", *argv]
    code = loader.code_for_command(text, policy, _plant, _core.in_child)
    execute(code, fresh_main())


def fresh_main() -> dict[str, Any]:
    module = type(sys)("__main__")
    module.__dict__["__builtins__"] = sys.modules["builtins"]
    sys.modules["__main__"] = module
    return module.__dict__


def execute(code: CodeType, namespace: dict[str, Any]) -> None:
    try:
        exec(code, namespace)
    except SystemExit:
        raise
    except BaseException as error:
        fail(error)


def fail(error: BaseException) -> NoReturn:
    """Report as the interpreter does, without our own frames on top."""
    traceback = error.__traceback__.tb_next if error.__traceback__ is not None else None
    error.__traceback__ = traceback
    if _core.epoch_is_on():
        guarded.fail(error)
    sys.excepthook(type(error), error, traceback)
    raise SystemExit(INTERRUPTED if isinstance(error, KeyboardInterrupt) else 1) from None
