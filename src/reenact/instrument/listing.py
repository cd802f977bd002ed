"""Directories on `sys.path` are asked file by file, not listed.

Python keeps the names of all files in a directory that it has looked into for a module. Where the
program's objects lie would then depend on every file beside its sources: recordings are often
left there, so that the first one would not replay as exactly as before once there is a second.
Called by `engine/child.py` before the program starts. What was listed by then stays.
"""

from __future__ import annotations

from importlib.machinery import FileFinder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class _Everything:
    """In place of the names: any may be there, and the finder goes on to look for it."""

    def __contains__(self, name: object) -> bool:
        return True


_EVERYTHING = _Everything()


def _fill_cache(finder: Any) -> None:
    finder._path_cache = finder._relaxed_path_cache = _EVERYTHING


def avoid() -> None:
    FileFinder._fill_cache = _fill_cache  # type: ignore[attr-defined]
