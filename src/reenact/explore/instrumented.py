"""Gives the program the points that a search needs, in a process that has loaded it already.

What is imported from now on is rewritten on the way in; functions that exist get rewritten code
(`instrument/swap.py`). Done once for each file of a process, and never undone: points cost little
while nothing is explored.
"""

from __future__ import annotations

import sys
from types import CodeType

from reenact import _core
from reenact.errors import UsageError
from reenact.instrument import loader, swap
from reenact.instrument.cache import digest_of
from reenact.instrument.rewrite import PLACEHOLDER

_done: set[str] = set()
_policy: loader.Policy | None = None
_reasons: dict[str, str] = {}


def instrument(packages: tuple[str, ...], accesses: bool) -> dict[str, str]:
    """Put points into the user's code and into `packages`; the files that have none, and why."""
    global _policy
    if _policy is None:
        _policy = loader.Policy(packages, accesses=accesses)
        loader.install(_policy, plant, _ignore, _at_once, _note_skipped)
    elif accesses and not _policy.accesses:
        raise UsageError(
            "this process has been instrumented without accesses already",
            advice="Use the same points in all searches of one process.",
        )
    _policy.packages = (*_policy.packages, *(set(packages) - set(_policy.packages)))
    wanted = _wanted_files(_policy) - _done
    if wanted:
        _reasons.update(swap.swap(wanted, code_of))
        _done.update(wanted)
    return _reasons


def adopt() -> None:
    """A process that is recorded gives points to what it imports already: whoever makes code
    themselves do as it does."""
    global _policy, _note
    _policy = loader.policy()
    _note = _core.note_source


def wants(name: str, path: str) -> bool:
    """For loaders that make code themselves: is this module to have points?"""
    return _policy is not None and _policy.wants(name, path)


def has_accesses() -> bool:
    return _policy is not None and _policy.accesses


def note_done(path: str, source: bytes) -> None:
    """A loader has seen to this file, whatever was said of it before."""
    _done.add(path)
    _reasons.pop(path, None)
    _note(path, digest_of(source))


def skipped() -> dict[str, str]:
    """The files without points, and why."""
    return dict(_reasons)


def _wanted_files(policy: loader.Policy) -> set[str]:
    files = set()
    for name, module in list(sys.modules.items()):
        path = getattr(module, "__file__", None)
        if isinstance(path, str) and path.endswith(".py") and policy.wants(name, path):
            files.add(path)
    return files


def is_users(module: object) -> bool:
    """Is it a module of the user's own code, which has points?"""
    name, path = getattr(module, "__name__", None), getattr(module, "__file__", None)
    if _policy is None or not isinstance(name, str) or not isinstance(path, str):
        return False
    return _policy.wants(name, path)


def code_of(path: str) -> CodeType:
    """Of a file, with its points."""
    if _policy is None:
        with open(path, "rb") as file:
            return compile(file.read(), path, "exec")
    maker = loader.Instrumenter(plant, _ignore, _at_once, _note_skipped, accesses=_policy.accesses)
    with open(path, "rb") as file:
        return maker.code(file.read(), path)


def plant(code: CodeType) -> CodeType:
    return _core.plant(code, PLACEHOLDER)


def _ignore(path: str, digest: str) -> None:
    """No recording is made that would have to know."""


def _note_skipped(path: str, reason: str) -> None:
    _reasons[path] = reason


_note = _ignore


def _at_once(fill: object) -> None:
    assert callable(fill)
    fill()
