"""A program that calls one function, as a search called it: so that what was found can be recorded.

Run as `python -m reenact.explore.called MODULE:NAME RUN` under the gate; MODULE may be the path of
a script, whose main part is then not run. The run begins where the function is called.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import reduce
from importlib import import_module
from types import ModuleType
from typing import Any

from reenact.engine import following

_NAME_OF_SCRIPT = "__reenact_script__"
is_loading = False  # a script that explores, and does so as it is loaded, must not begin again


def target_of(function: Callable[..., object]) -> str:
    """How `find` finds the function again; "" if it cannot."""
    module = getattr(function, "__module__", None)
    name = getattr(function, "__qualname__", "")
    if module is None or not name or "<" in name:
        return ""
    home = sys.modules.get(module)
    place = module
    if module == "__main__":
        path = getattr(home, "__file__", None)
        place = os.path.abspath(path) if path else ""
    try:
        found: Any = reduce(getattr, name.split("."), home)
    except AttributeError:
        return ""
    return f"{place}:{name}" if place and found is function else ""


def find(target: str) -> Callable[[], object]:
    place, _, name = target.rpartition(":")
    module = _load(place) if place.endswith(".py") else import_module(place)
    found: Callable[[], object] = reduce(getattr, name.split("."), module)  # type: ignore[assignment]
    return found


def _load(path: str) -> ModuleType:
    """The script as a module, with the points that the import hook gives to modules."""
    module = ModuleType(_NAME_OF_SCRIPT)
    module.__file__ = path
    sys.modules[_NAME_OF_SCRIPT] = module
    sys.path.insert(0, os.path.dirname(path))
    with open(path, "rb") as file:
        source = file.read()
    for finder in sys.meta_path:
        instrumenter = getattr(finder, "instrumenter", None)
        if instrumenter is not None:
            exec(instrumenter.code(source, path), vars(module))
            return module
    exec(compile(source, path, "exec"), vars(module))
    return module


def main() -> None:
    from reenact.explore import called  # this file runs as `__main__`

    called.is_loading = True
    function = find(sys.argv[1])
    following.prepare()
    following.begin_text(sys.argv[2])
    function()


if __name__ == "__main__":
    main()
