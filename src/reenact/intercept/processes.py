"""Processes that the program starts: a child that is a Python program is recorded like its parent.

Its command is replaced by one that makes a place for it in the recording and then becomes the
child (`engine/nested.py`), with the same process id and descriptors. All other children are known
by what comes out of them. In a replay none is started.
"""

from __future__ import annotations

import os
import sys

from reenact import _core
from reenact.intercept.table import STARTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType
    from typing import Any

    Text = str | bytes

_PACKAGES = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_native_readlink, _native_realpath = os.readlink, os.path.realpath
_NO_ARGUMENT, _WITH_ARGUMENT = "BbdEIOPqRsSuv", "WX"


def bootstrap(module: str) -> str:
    """Code for `python -c` that finds this reenact, and calls the main function of a module."""
    return (
        f"import sys; sys.path.insert(0, {_PACKAGES!r}); import {module} as module; "
        "del sys.path[0]; module.main()"
    )


def patch_spawn(module: ModuleType) -> None:
    """What `subprocess` calls in 3.13."""
    native = module.posix_spawn

    def perform(process: str, path: Any, args: Sequence[Text], env: Any, names: Any) -> Any:
        nested = _nested(process, args, (os.fsencode(path),))
        if nested is None:
            return native(path, args, env, **names)
        return native(nested[0], nested, env, **names)

    recorded = _core.call("posix.posix_spawn", perform, "recorded", STARTS)

    def posix_spawn(path: Any, argv: Any, env: Any, /, **names: Any) -> Any:
        return recorded(_core.next_process(), os.fspath(path), argv, env, names)

    module.posix_spawn = posix_spawn  # type: ignore[attr-defined]


def patch_fork_exec(module: ModuleType) -> None:
    native = module.fork_exec

    def perform(process: str, args: Sequence[Text], executables: Any, *rest: Any) -> Any:
        """Only in a recording, where nothing of it is recorded but its result."""
        nested = _nested(process, args, executables)
        if nested is None:
            return native(args, executables, *rest)
        return native(nested, (nested[0],), *rest)

    recorded = _core.call("_posixsubprocess.fork_exec", perform, "recorded", STARTS)

    def fork_exec(args: Sequence[Text], executables: Any, /, *rest: Any) -> Any:
        return recorded(_core.next_process(), args, executables, *rest)

    module.fork_exec = fork_exec  # type: ignore[attr-defined]


def _nested(process: str, args: Sequence[Text], executables: Sequence[bytes]) -> Any:
    """The command that records the child, or None if it is no Python program of this Python."""
    executable = next((path for path in executables if os.access(path, os.X_OK)), b"")
    # A search records nothing, and a run in epochs keeps one process.
    is_kept = process and _core.recording_descriptor() >= 0 and not _core.epoch_is_on()
    if not is_kept or _native_realpath(executable) != os.fsencode(_native_realpath(sys.executable)):
        return None
    words = [os.fsdecode(word) for word in args]
    flags = interpreter_flags(words[1:])
    if flags is None:
        return None
    place = _native_readlink(f"/proc/self/fd/{_core.recording_descriptor()}")
    code = bootstrap("reenact.engine.nested")
    command = [os.fsdecode(executable), *flags, "-P", "-c", code, place, process]
    return [os.fsencode(word) for word in (*command, *words[1 + len(flags) :])]


def interpreter_flags(words: list[str]) -> list[str] | None:
    """The interpreter's own options before a script, -m or -c; None if none of these follows, or
    what comes before is not plain."""
    at = 0
    while at < len(words):
        word = words[at]
        if word in ("-c", "-m"):
            return words[:at] if at + 1 < len(words) else None
        if not word.startswith("-"):
            return words[:at]
        if word in ("-W", "-X"):
            at += 1
        elif not (word[1:2] in _WITH_ARGUMENT or set(word[1:]) <= set(_NO_ARGUMENT)) or word == "-":
            return None
        at += 1
    return None
