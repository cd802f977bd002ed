"""Imports are the interpreter's own business: sources and packages are there in a replay too.

The import system gets functions of the operating system that nothing watches, and a module that
cannot be controlled is refused as it is imported.
"""

from __future__ import annotations

import _frozen_importlib_external
import _io
import posix
import sys

from reenact import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import IO


def stay_native() -> None:
    """Before anything is patched."""
    native = type(sys)("posix")
    native.__dict__.update(posix.__dict__)
    _frozen_importlib_external._os = native  # type: ignore[attr-defined]
    _io.open_code = _open_code


_native_open_code = _io.open_code


def _open_code(path: str) -> IO[bytes]:
    return _core.quietly(_native_open_code, path)


class _Refuser:
    """A finder of modules that are not to be found."""

    def __init__(self, reasons: Mapping[str, str]) -> None:
        self.reasons = reasons

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name in self.reasons:
            raise ImportError(f"reenact cannot record {name}: {self.reasons[name]}", name=name)
        return None


def refuse(reasons: Mapping[str, str]) -> None:
    sys.meta_path.insert(0, _Refuser(reasons))
