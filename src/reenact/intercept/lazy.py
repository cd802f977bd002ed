"""Calls back whenever a module is loaded that is to be patched then.

A finder at the front of sys.meta_path that finds nothing itself: for the few names it knows it
asks the finders behind it and wraps the loader's exec_module.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any

    Callback = Callable[[ModuleType], None]


class Finder:
    def __init__(self, callbacks: dict[str, Callback]) -> None:
        self.callbacks = callbacks

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name not in self.callbacks:
            return None
        behind = sys.meta_path.index(self) + 1
        for finder in sys.meta_path[behind:]:
            spec = finder.find_spec(name, path, target)
            if spec is not None and spec.loader is not None:
                loader: Any = Loader(spec.loader, self.callbacks[name])
                spec.loader = loader
                return spec
        return None


class Loader:
    """Its module is loaded by the loader it wraps, and then shown to the callback."""

    def __init__(self, loader: Any, callback: Callback) -> None:
        self.loader = loader
        self.callback = callback

    def create_module(self, spec: ModuleSpec) -> Any:
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self.loader.exec_module(module)
        module.__loader__ = self.loader
        if module.__spec__ is not None:
            module.__spec__.loader = self.loader
        self.callback(module)


def call_when_loaded(callbacks: dict[str, Callback]) -> None:
    sys.meta_path.insert(0, Finder(callbacks))
