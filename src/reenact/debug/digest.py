"""A fingerprint of everything that a program can reach, addresses included.

For tests and for travellers who want to know that they are back where they were: two processes have
the same digest only if all frames and modules, those of the standard library and of packages among
them, reach objects of the same types at the same addresses, with the same values as far as they are
plain or lie in a buffer, and the same references between them (`_core/digest.c` follows them). Our
own modules are left out.

What is imported here could be seen in the digest: it needs next to nothing, and takes the hash of
the interpreter, which is the same in all processes of one replay.
"""

from __future__ import annotations

import sys

from reenact import _core
from reenact.debug.frames import OURS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import FrameType
    from typing import Any

_MODULE = type(sys)
_WORD = (1 << 64) - 1


def of_program(
    frames_of: Callable[[int], list[FrameType]],
    threads: Iterable[int],
    modules: dict[str, Any],
) -> str:
    """Of all frames of these threads, and of these modules."""
    value = 0
    roots: list[object] = []
    # By looking: a frame keeps the dict of its variables, and this module is imported.
    made = {id(roots), id(modules), id(sys.modules)}
    _forget_numbers(modules)
    for thread in threads:
        for frame in frames_of(thread):
            local = frame.f_locals
            made.add(id(local))
            names = sorted(local)
            where = (frame.f_code.co_filename, frame.f_lasti, frame.f_lineno)
            value = hash((value, thread, *where, *names))
            roots.extend(local[name] for name in names)
    for name in sorted(modules):
        value = hash((value, name, id(modules[name])))
        if _is_ours(modules[name]):
            made.add(id(vars(modules[name])))
        else:
            names = sorted(vars(modules[name]))
            value = hash((value, *names))
            roots.extend(vars(modules[name])[each] for each in names)
    value = hash((value, *map(id, roots)))
    return f"{_core.digest(roots, made, value & _WORD):016x}"


def _forget_numbers(modules: dict[str, Any]) -> None:
    """The main thread's number is the system's, and was there before the program began."""
    threading = modules.get("threading")
    if threading is not None:
        threading.main_thread()._native_id = 0


def _is_ours(module: object) -> bool:
    file = getattr(module, "__file__", None) or ""
    return not isinstance(module, _MODULE) or file.startswith(OURS)
