"""Commands about the session itself: help, what there is, and the end."""

from __future__ import annotations

from collections.abc import Iterator

from reenact.analysis.text import Row
from reenact.debug.terminal import stops
from reenact.debug.terminal.session import Session
from reenact.debug.terminal.words import COMMANDS, NAMES, Refused, command

_GROUP = "session"
_GROUPS = ("moving", "stopping", "looking", "finding out", "session")


@command("help [COMMAND]", "h", group=_GROUP, repeats=False)
def help_(session: Session, argument: str) -> Iterator[Row]:
    """What a command does, or which commands there are."""
    if argument:
        yield from _about(argument)
        return
    for group in _GROUPS:
        yield [("cyan", group)]
        for each in COMMANDS.values():
            if each.group == group:
                names = ", ".join((each.name, *each.aliases))
                yield [("", f"  {names:<24} {each.summary}")]
    yield [("", "An empty line does the last command again. Whatever is no command is evaluated.")]


def _about(name: str) -> Iterator[Row]:
    if name not in NAMES:
        raise Refused(f"there is no command {name!r}; `help` shows all")
    found = NAMES[name]
    yield [("cyan", found.usage)]
    for line in found.help.split("\n"):
        yield [("", f"  {line}")]
    if found.aliases:
        yield [("", f"  Also: {', '.join(found.aliases)}")]


@command("info", group=_GROUP, repeats=False)
def info(session: Session, argument: str) -> Iterator[Row]:
    """Where you are, in what, and all breakpoints, watches and displays."""
    traveller = session.traveller
    yield [("", session.summary)]
    yield [("", f"at {traveller.stop.place}, thread {session.thread}")]
    kept = ", ".join(f"{each:,}" for each in traveller.checkpoints)
    yield [("", f"checkpoints at steps {kept}" if kept else "no checkpoints")]
    yield from stops.listed(session)
    for each in session.displays:
        yield [("", f"display {each.text}")]


@command("quit", "q", "exit", group=_GROUP, repeats=False)
def quit_(session: Session, argument: str) -> Iterator[Row]:
    """End the session; the recording stays as it is."""
    session.is_over = True
    yield from ()
