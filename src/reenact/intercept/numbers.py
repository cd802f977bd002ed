"""Threads and futures hash by number instead of by address.

The standard library walks sets of them (a pool joins its set of threads, `as_completed` takes a set
of futures), so that their order decides what the program does next. Addresses are the same in a
replay only as long as every allocation is; numbers in order of first use always are. In each run of
a search they begin anew: where a number lies in a set depends on the number itself.
"""

from __future__ import annotations

from types import ModuleType

from reenact import _core

_count = 0


def begin() -> None:
    """Before a run: the next one is number 1 again. Those of before keep theirs."""
    global _count
    _count = 0


def hash_by_number(owner: type) -> None:
    """Instances of this class, which must have a `__dict__`, are numbered as they are hashed."""

    def __hash__(self: object) -> int:
        return _core.in_turn(_number_of, self)

    owner.__hash__ = __hash__  # type: ignore[method-assign, assignment]


def number_futures(module: ModuleType) -> None:
    """`concurrent.futures._base`: it also takes the locks of futures in order of their `id`."""
    hash_by_number(module.Future)
    module.__dict__["id"] = hash


def _number_of(instance: object) -> int:
    global _count
    number: int | None = instance.__dict__.get("_reenact_number")
    if number is None:
        _count += 1
        instance.__dict__["_reenact_number"] = number = _count
    return number
