"""A whole program as a function: what tests written for a script call.

`program("app.py", "--fast")` returns a function that runs the script as Python would, as `__main__`
and with the points that a search needs, in this process. Modules of the user's own that it imports
are forgotten afterwards, so that the next call begins anew.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from types import CodeType, ModuleType

from reenact import _core
from reenact.errors import UsageError
from reenact.explore import instrumented


def program(script: str | os.PathLike[str], *args: str) -> Callable[[], None]:
    """A function that runs the script with these arguments."""
    path = os.path.abspath(script)
    if not os.path.isfile(path):
        raise UsageError(f"there is no file {os.fspath(script)}", advice="Name the script to run.")
    return _Program(path, path, args, "")


def module(name: str, *args: str) -> Callable[[], None]:
    """A function that runs the module as `python -m` does."""
    spec = find_spec(name)
    if spec is not None and spec.submodule_search_locations is not None:
        spec = find_spec(f"{name}.__main__")
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        raise UsageError(f"there is no module {name} to run")
    return _Program(spec.origin, spec.origin, args, spec.parent or "")


class _Program:
    def __init__(self, path: str, shown: str, args: tuple[str, ...], package: str) -> None:
        self.path = path
        self.argv = [shown, *args]
        self.package = package
        self.code: CodeType | None = None
        self.__qualname__ = self.__name__ = os.path.basename(path)

    def __call__(self) -> None:
        if self.code is None:
            self.code = _core.quietly(instrumented.code_of, self.path)
        main = ModuleType("__main__")
        main.__file__ = self.path
        main.__package__ = self.package or None
        with _as_main(main, self.argv, os.path.dirname(self.path)):
            exec(self.code, vars(main))


@contextmanager
def _as_main(main: ModuleType, argv: list[str], directory: str) -> Iterator[None]:
    before = sys.modules["__main__"], sys.argv, sys.path[:]
    loaded = set(sys.modules)
    sys.modules["__main__"], sys.argv = main, argv
    sys.path.insert(0, directory)
    try:
        yield
    finally:
        sys.modules["__main__"], sys.argv, sys.path[:] = before
        for name in set(sys.modules) - loaded:
            if instrumented.is_users(sys.modules[name]):
                del sys.modules[name]
