"""A fingerprint of everything that a program can reach, addresses included.

For tests and for travellers who want to know that they are back where they were: two processes have
the same digest only if all frames and modules, those of the standard library and of packages among
them, reach objects of the same types at the same addresses, with the same values as far as they are
plain or lie in a buffer, and the same references between them. Our own modules are left out.

What is imported here could be seen in the digest: it needs next to nothing, and takes the hash of
the interpreter, which is the same in all processes of one replay.
"""

from __future__ import annotations

import gc
import sys

from reenact.debug.frames import OURS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import FrameType
    from typing import Any

_MODULE, _FRAME = type(sys), type(sys._getframe())
_CODE = type(sys._getframe().f_code)
_NOT_LOOKED_INTO = (_MODULE, _FRAME, _CODE)
_PLAIN = (int, float, complex, str, bytes, bool, type(None))


class _Digest:
    """Of all that it was given, in this order."""

    def __init__(self) -> None:
        self.value = 0

    def add(self, *given: object) -> None:
        self.value = hash((self.value, *given))


def of_program(
    frames_of: Callable[[int], list[FrameType]],
    threads: Iterable[int],
    modules: dict[str, Any],
) -> str:
    """Of all frames of these threads, and of these modules."""
    digest = _Digest()
    roots: list[object] = []
    # By looking: a frame keeps the dict of its variables, and this module is imported.
    made = {id(roots), id(modules), id(sys.modules)}
    _forget_numbers(modules)
    for thread in threads:
        for frame in frames_of(thread):
            digest.add(thread, frame.f_code.co_filename, frame.f_lasti, frame.f_lineno)
            local = frame.f_locals
            made.add(id(local))
            for name in sorted(local):
                digest.add(name, id(local[name]))
                roots.append(local[name])
    for name in sorted(modules):
        digest.add(name, id(modules[name]))
        if _is_ours(modules[name]):
            made.add(id(vars(modules[name])))
        else:
            names = sorted(vars(modules[name]))
            roots.extend(vars(modules[name])[each] for each in names)
    _walk(roots, made, digest)
    return f"{digest.value & (1 << 64) - 1:016x}"


def _forget_numbers(modules: dict[str, Any]) -> None:
    """The main thread's number is the system's, and was there before the program began."""
    threading = modules.get("threading")
    if threading is not None:
        threading.main_thread()._native_id = 0


def _is_ours(module: object) -> bool:
    file = getattr(module, "__file__", None) or ""
    return not isinstance(module, _MODULE) or file.startswith(OURS)


def _walk(roots: list[object], made: set[int], digest: _Digest) -> None:
    seen = set(made)
    manners: dict[type, str] = {}
    todo = roots[::-1]
    while todo:
        each = todo.pop()
        number = id(each)
        if number in seen:
            continue
        seen.add(number)
        kind = type(each)  # isinstance would ask the object, which may be the program's
        manner = manners.get(kind) or manners.setdefault(kind, _manner(kind, each))
        if manner == "plain":
            digest.add(number, kind.__qualname__, repr(each))
        elif manner != "skipped":
            below = [one for one in gc.get_referents(each) if id(one) not in made]
            seen_below = [id(one) for one in below if type(one) is not _FRAME]
            digest.add(number, kind.__qualname__, *seen_below)
            if manner == "buffer":
                digest.add(_buffer_of(each))
            below.reverse()
            todo += below


def _manner(kind: type, value: object) -> str:
    """How objects of a type are looked at."""
    if issubclass(kind, _NOT_LOOKED_INTO):
        return "skipped"
    if issubclass(kind, _PLAIN):
        return "plain"
    return "references" if _buffer_of(value) is None else "buffer"


def _buffer_of(value: object) -> bytes | None:
    """What an array has in memory of its own."""
    try:
        return memoryview(value).tobytes()  # type: ignore[arg-type]
    except Exception:  # most objects have none, and some will not show it
        return None
