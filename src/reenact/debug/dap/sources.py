"""The program's files: what the program calls them, what an editor does, and their lines of code.

The program has names as they were given to Python, often relative to the directory it ran in; an
editor has full paths.
"""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType
from typing import Any

from reenact.recordings.reader import Recording
from reenact.recordings.sources import read_lines

_LIBRARIES = tuple(
    sorted(
        {
            sysconfig.get_path(name) + os.sep
            for name in ("stdlib", "platstdlib", "purelib", "platlib")
        }
    )
)


class Sources:
    """The files of a recording."""

    def __init__(self, recording: Recording) -> None:
        self._cwd = recording.header.cwd
        self._known = tuple(recording.definitions.sources)
        # Code without a file is Python's, as a rule; but a program may be typed in.
        no_file = "<frozen " if recording.header.mode == "command" else "<"
        self.libraries = (no_file, *_LIBRARIES)

    def is_library(self, file: str) -> bool:
        """Whether a file is Python's, or of an installed package."""
        return file.startswith(self.libraries)

    def full(self, file: str) -> str:
        return os.path.normpath(os.path.join(self._cwd, file))

    def spellings(self, path: str) -> list[str]:
        """What the program may call a file of the editor's."""
        full = self.full(path)
        real = os.path.realpath(full)
        names = {path, full, real, os.path.relpath(full, self._cwd)}
        names.update(
            each for each in self._known if os.path.realpath(os.path.join(self._cwd, each)) == real
        )
        return sorted(names)

    def described(self, file: str) -> dict[str, Any] | None:
        """As the protocol has it; None for what is no file."""
        full = self.full(file)
        if file.startswith("<") or not os.path.isfile(full):
            return {"name": file, "presentationHint": "deemphasize"}
        hint = {"presentationHint": "deemphasize"} if self.is_library(file) else {}
        return {"name": os.path.basename(full), "path": full, **hint}

    def functions(self, name: str) -> list[tuple[str, int]]:
        """Files and first lines of the program's functions of a name; `Class.method` is exact."""
        found = [
            (code, os.path.join(self._cwd, file))
            for file in self._known
            for code in _codes_in(self.full(file))
        ]
        exact = [each for each in found if each[0].co_qualname == name]
        fitting = exact or [each for each in found if each[0].co_qualname.endswith(f".{name}")]
        return [(file, first_line(code)) for code, file in fitting]


def lines_of(path: str) -> list[int]:
    """The numbers of lines that have code; none if it cannot be compiled."""
    numbers = {line for code in _codes_in(path) for _, _, line in code.co_lines() if line}
    return sorted(numbers)


def first_line(code: CodeType) -> int:
    """The line that a call of a function begins with, after the definition itself."""
    lines = [line for _, _, line in code.co_lines() if line]
    return next((each for each in lines if each > code.co_firstlineno), code.co_firstlineno)


def first_line_of(path: str, function: str, defined: int) -> int:
    """The same, of a function that is known by its name and where it is defined."""
    for code in _codes_in(path):
        if code.co_qualname == function and code.co_firstlineno == defined:
            return first_line(code)
    return defined


@lru_cache(256)
def _codes_in(path: str) -> tuple[CodeType, ...]:
    text = "\n".join(read_lines(path))
    try:
        code = compile(text, path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError):
        return ()
    return tuple(_all_codes(code)) if text else ()


def _all_codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _all_codes(each)
