"""Directories: `os.scandir`, and which of them belong to the interpreter and its packages."""

from __future__ import annotations

import os
import posix
import sys

from reenact import _core
from reenact.intercept.table import ON_PATH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType, TracebackType
    from typing import Any, Self

_SITES = ("site-packages", "dist-packages")


def passed() -> Iterator[str]:
    """What lies below these is there when a recording is replayed, as the sources are."""
    yield os.path.dirname(os.__file__)
    yield os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if sys.prefix != sys.base_prefix:
        yield sys.prefix
    for path in sys.path:
        if os.path.basename(path) in _SITES:
            yield path


class Entry:
    """What os.DirEntry offers; it takes its place, so that isinstance() finds what it should."""

    __slots__ = ("_facts", "name", "path")
    __class_getitem__: Any = classmethod(type(list[int]))

    def __init__(self, directory: Any, facts: tuple[Any, ...]) -> None:
        self.name = facts[0]
        self.path = self.name if isinstance(directory, int) else os.path.join(directory, self.name)
        self._facts = facts

    def inode(self) -> int:
        return self._facts[1]  # type: ignore[no-any-return]

    def is_symlink(self) -> bool:
        return self._facts[2]  # type: ignore[no-any-return]

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        return self._facts[3] if follow_symlinks else self._facts[4]  # type: ignore[no-any-return]

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        return self._facts[5] if follow_symlinks else self._facts[6]  # type: ignore[no-any-return]

    def is_junction(self) -> bool:
        return False

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        return posix.stat(self.path, follow_symlinks=follow_symlinks)

    def __fspath__(self) -> Any:
        return self.path

    def __repr__(self) -> str:
        return f"<DirEntry {self.name!r}>"


Entry.__name__ = Entry.__qualname__ = "DirEntry"


class Entries:
    """What os.scandir returns: an iterator that can be closed."""

    def __init__(self, directory: Any, found: list[tuple[Any, ...]]) -> None:
        self._left = iter([Entry(directory, facts) for facts in found])

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Entry:
        return next(self._left)

    def close(self) -> None:
        self._left = iter(())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def patch(module: ModuleType) -> None:
    native = module.scandir

    def facts(entry: os.DirEntry[Any]) -> tuple[Any, ...]:
        return (
            entry.name,
            entry.inode(),
            entry.is_symlink(),
            entry.is_dir(),
            entry.is_dir(follow_symlinks=False),
            entry.is_file(),
            entry.is_file(follow_symlinks=False),
        )

    def listed(path: Any) -> list[tuple[Any, ...]]:
        with native(path) as entries:
            return [facts(entry) for entry in entries]

    recorded = _core.call("posix.scandir", listed, "recorded", ON_PATH)

    def scandir(path: Any = None) -> Any:
        directory = "." if path is None else path if isinstance(path, int) else os.fspath(path)
        return Entries(directory, recorded(directory))

    module.scandir = scandir  # type: ignore[attr-defined]
    module.DirEntry = Entry  # type: ignore[attr-defined]
