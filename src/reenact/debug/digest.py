"""A fingerprint of everything that a program can reach, addresses included.

For tests and for travellers who want to know that they are back where they were: two processes have
the same digest only if all frames and modules reach objects of the same types at the same
addresses, with the same values as far as they are plain, and the same references between them.
"""

from __future__ import annotations

import gc
import hashlib
import sys
from collections.abc import Callable, Iterable
from types import CodeType, FrameType, ModuleType

from reenact.debug.frames import outside

_PLAIN = (int, float, complex, str, bytes, bool, type(None))
_LONGEST = 4096


def of_program(frames_of: Callable[[int], list[FrameType]], threads: Iterable[int]) -> str:
    """Of all frames of these threads, and of the program's modules."""
    digest = hashlib.blake2b(digest_size=16)
    roots: list[object] = []
    made: set[int] = set()  # by looking: a frame keeps the dict of its variables
    _forget_numbers()
    for thread in threads:
        for frame in frames_of(thread):
            place = f"{thread} {frame.f_code.co_filename} {frame.f_lasti} {frame.f_lineno}"
            digest.update(place.encode())
            local = frame.f_locals
            made.add(id(local))
            for name in sorted(local):
                digest.update(f"{name} {id(local[name])};".encode())
                roots.append(local[name])
    for name in sorted(sys.modules):
        module = sys.modules[name]
        if is_of_program(module):
            names = sorted(set(vars(module)) - {"__builtins__"})
            roots.extend(vars(module)[each] for each in names)
    _walk(roots, made, digest.update)
    return digest.hexdigest()


def _forget_numbers() -> None:
    """The main thread's number is the system's, and was there before the program began."""
    threading = sys.modules.get("threading")
    if threading is not None:
        threading.main_thread()._native_id = 0


def is_of_program(module: object) -> bool:
    """Modules of the interpreter's and of ours are not looked at: what we import changes them."""
    file = getattr(module, "__file__", None)
    if not isinstance(module, ModuleType) or not file:
        return getattr(module, "__name__", "") == "__main__"
    return not file.startswith(outside())


def _walk(roots: list[object], made: set[int], update: Callable[[bytes], object]) -> None:
    seen = set(made)
    todo = list(reversed(roots))
    while todo:
        each = todo.pop()
        kind = type(each)  # isinstance would ask the object, which may be the program's
        if id(each) in seen or issubclass(kind, (ModuleType, FrameType, CodeType, type)):
            continue
        seen.add(id(each))
        update(f"{id(each):x} {kind.__qualname__}".encode())
        if issubclass(kind, _PLAIN):
            update(repr(each)[:_LONGEST].encode("utf-8", "backslashreplace"))
            continue
        below = [one for one in gc.get_referents(each) if id(one) not in made]
        update(" ".join(f"{id(one):x}" for one in below if type(one) is not FrameType).encode())
        todo.extend(reversed(below))
