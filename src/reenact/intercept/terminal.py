"""`input()`: the line that somebody typed is an input; what a script is fed comes as reads do."""

from __future__ import annotations

import posix
import sys

from reenact import _core
from reenact.intercept.table import WAITS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

_native_write = posix.write


def patch(module: ModuleType) -> None:
    native = module.input
    asked = False

    def ask(prompt: str) -> str:
        nonlocal asked
        asked = True
        answer: str = native(prompt)
        return answer

    typed = _core.call("builtins.input", ask, "recorded", WAITS)

    def from_terminal(prompt: str) -> str:
        """A replay asks nobody, and shows what was asked and answered."""
        nonlocal asked
        asked = False
        answer: str = typed(prompt)
        if not asked:
            shown = f"{prompt}{answer}\n".encode(errors="replace")
            _core.quietly(_native_write, 1, shown)
        return answer

    def from_stream(prompt: str) -> str:
        sys.stderr.flush()
        if prompt:
            sys.stdout.write(prompt)
        sys.stdout.flush()
        line = sys.stdin.readline()
        if not line:
            raise EOFError("EOF when reading a line")
        return line.removesuffix("\n")

    def input(prompt: object = "", /) -> str:
        """Read a line from standard input, without its newline."""
        for name in ("stdin", "stdout", "stderr"):
            if getattr(sys, name, None) is None:
                raise RuntimeError(f"input(): lost sys.{name}")
        return from_terminal(str(prompt)) if _is_terminal() else from_stream(str(prompt))

    module.input = input  # type: ignore[attr-defined]


def _is_terminal() -> bool:
    if sys.stdin is not sys.__stdin__ or sys.stdout is not sys.__stdout__:
        return False
    return posix.isatty(0) and posix.isatty(1)
