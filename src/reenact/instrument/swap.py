"""Swapping: functions that are loaded already get the code that a rewriting makes of their source.

Owns which function has which code of the file, and when a file is not what was loaded. For modules
that were imported before the import hook was there. What runs already, a generator included, goes
on with its old code; so do functions that such code makes. Functions that others hold on to -
in classes, wrappers, partial calls - are swapped like any other, since they stay what they are.
"""

from __future__ import annotations

import gc
import sys
from types import CodeType, FunctionType, ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    Key = tuple[str, int]


def swap(
    wanted: Callable[[str], bool] | Collection[str], make_code: Callable[[str], CodeType]
) -> dict[str, str]:
    """Give every loaded function of the wanted files new code; the files that could not, and why.

    *make_code* returns the code of a file. If one function of a file has no counterpart in it, none
    is swapped: the source is another than the one that was loaded.
    """
    is_wanted = wanted if callable(wanted) else wanted.__contains__
    reasons: dict[str, str] = {}
    for path, functions in _by_file(_loaded_functions(), is_wanted).items():
        reason = _swap_file(functions, path, make_code)
        if reason:
            reasons[path] = reason
    return reasons


def _swap_file(
    functions: list[FunctionType], path: str, make_code: Callable[[str], CodeType]
) -> str:
    try:
        codes = _by_key(make_code(path))
    except (OSError, SyntaxError, ValueError) as error:
        return f"its source cannot be used: {error}"
    found = []
    for function in functions:
        old = function.__code__
        new = _counterpart(old, codes.get((old.co_qualname, old.co_firstlineno), []))
        if new is None:
            line = old.co_firstlineno
            return f"its source is not what was loaded: {old.co_qualname}, line {line}, differs"
        found.append((function, new))
    for function, new in found:
        function.__code__ = new
    return ""


def _counterpart(old: CodeType, candidates: Iterable[CodeType]) -> CodeType | None:
    alike = [new for new in candidates if _shape(new) == _shape(old)]
    if len(alike) > 1:  # lambdas on one line
        alike = [new for new in alike if _extent(new) == _extent(old)]
    return alike[0] if alike else None


def _shape(code: CodeType) -> tuple[object, ...]:
    """What a rewriting leaves alone."""
    counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    names = (code.co_varnames, code.co_cellvars, code.co_freevars, frozenset(code.co_names))
    inner = [(each.co_qualname, each.co_firstlineno) for each in _codes_in(code)]
    return counts, names, sorted(inner)


def _extent(code: CodeType) -> tuple[object, ...]:
    """Where the code of a function begins and ends in its source."""
    starts, ends = [], []
    for line, end_line, column, end_column in code.co_positions():
        if line is not None and column is not None and (line, column) != (code.co_firstlineno, 0):
            starts.append((line, column))
        if end_line is not None and end_column is not None:
            ends.append((end_line, end_column))
    return min(starts, default=None), max(ends, default=None)


def _codes_in(code: CodeType) -> Iterator[CodeType]:
    return (each for each in code.co_consts if isinstance(each, CodeType))


def _by_key(code: CodeType) -> dict[Key, list[CodeType]]:
    found: dict[Key, list[CodeType]] = {}
    pending = [code]
    while pending:
        each = pending.pop()
        found.setdefault((each.co_qualname, each.co_firstlineno), []).append(each)
        pending += _codes_in(each)
    return found


def _by_file(
    functions: Iterable[FunctionType], is_wanted: Callable[[str], bool]
) -> dict[str, list[FunctionType]]:
    files: dict[str, list[FunctionType]] = {}
    for function in functions:
        path = function.__code__.co_filename
        if path in files or is_wanted(path):
            files.setdefault(path, []).append(function)
    return files


def _loaded_functions() -> list[FunctionType]:
    if gc.get_freeze_count() == 0:
        return [each for each in gc.get_objects() if type(each) is FunctionType]
    return [each for each in _reachable() if type(each) is FunctionType]


def _reachable() -> Iterator[object]:
    """What the modules lead to: the collector does not list what was frozen."""
    pending: list[object] = [sys.modules, *gc.get_objects()]
    seen = {id(each) for each in pending}
    while pending:
        each = pending.pop()
        yield each
        new = [other for other in _referents(each) if id(other) not in seen]
        seen.update(map(id, new))
        pending += new


def _referents(each: object) -> list[object]:
    """Of a module, its names alone: the state behind it may lead to objects that are free already
    (3.12's `_asyncio` keeps some for later use), and referring to those frees them once more."""
    return [vars(each)] if issubclass(type(each), ModuleType) else gc.get_referents(each)
