"""The words that can be typed: each with its other names, its usage, its help, and what it does.

The commands register themselves here; a command is a function that is given the session and what
came after the word, and gives rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reenact.analysis.text import Row

if TYPE_CHECKING:
    from reenact.debug.terminal.session import Session

Run = Callable[["Session", str], Iterator[Row]]


class Refused(Exception):
    """What was typed cannot be done; the text says why, and what can."""


@dataclass(frozen=True, slots=True)
class Command:
    """`usage` begins with the name; `repeats`: an empty line does it again."""

    name: str
    aliases: tuple[str, ...]
    usage: str
    help: str
    run: Run
    group: str
    repeats: bool

    @property
    def summary(self) -> str:
        """The help's first sentence."""
        return self.help.partition(". ")[0].partition("\n\n")[0].replace("\n", " ").rstrip(".")


COMMANDS: dict[str, Command] = {}  # by name
NAMES: dict[str, Command] = {}  # by name and by all other names
_WORD = re.compile(r"([A-Za-z][\w-]*)(?:\s+|$|(?=\())(.*)", re.DOTALL)


def command(usage: str, *aliases: str, group: str, repeats: bool = True) -> Callable[[Run], Run]:
    """Registers a command; its help is what its docstring says."""

    def register(run: Run) -> Run:
        name = usage.split()[0]
        lines = (run.__doc__ or "").strip().splitlines()
        text = "\n".join(line.strip() for line in lines)
        made = Command(name, aliases, usage, text, run, group, repeats)
        COMMANDS[name] = made
        for each in (name, *aliases):
            assert each not in NAMES, each
            NAMES[each] = made
        return run

    return register


def split(typed: str) -> tuple[Command, str] | None:
    """A command with what comes after its name; None if it is none, but an expression. A word that
    is followed by an operator or a dot is a variable of the program's."""
    found = _WORD.fullmatch(typed.strip())
    if found is None or found[1] not in NAMES:
        return None
    rest = found[2].strip()
    is_assigned = rest.startswith("=") and not rest.startswith("==")
    is_called = rest.startswith("(") and found[1] not in ("p", "pp", "print")
    return None if is_assigned or is_called else (NAMES[found[1]], rest)


def number_of(text: str, what: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise Refused(f"{text!r} is no number of {what}") from None
