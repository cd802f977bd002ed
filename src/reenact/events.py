"""What happened in a run, as plain values: sites, objects, events, schedule entries, notes.

A leaf: the reader makes these, analyses and front ends consume them. The names of operation
and object kinds belong to the C core and come in as `Names`; a kind that is not in the table
is shown by its number, so that no reader fails on one. How these are stored is not known here.
"""

from __future__ import annotations

from dataclasses import dataclass

# Operations whose object is the index of a thread, not the number of an object.
THREAD_OPERATIONS = frozenset({"start", "begin", "end", "join", "join timeout"})

SCHEDULE_KINDS = ("preempt", "yield", "steal", "collect", "signal", "end", "interrupt", "between")
# The argument of `collect` is a generation, or from here on something that happens to an object.
GENERATIONS = 3
DEATHS = (
    *("died", "died in a collection", "was found dead"),
    *("called back", "finalized", "let go"),
)
SWITCHES = frozenset({"preempt", "yield", "steal", "between"})

NOTE_KINDS = (
    "none",
    "foreign thread",
    "stolen baton",
    "fork",
    "log stopped",
    "unblocked signal handler",
    "unlisted call",
    "native module",
)


def name_of(kind: int, names: tuple[str, ...], noun: str) -> str:
    return names[kind] if 0 <= kind < len(names) else f"{noun} {kind}"


@dataclass(frozen=True, slots=True)
class Names:
    """The core's tables of kinds; position is kind."""

    operations: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()

    def operation(self, kind: int) -> str:
        return name_of(kind, self.operations, "operation")

    def object(self, kind: int) -> str:
        return name_of(kind, self.objects, "object kind")


@dataclass(frozen=True, slots=True)
class Call:
    """A call to the outside, as the inputs know it: `posix.read`. `opens`: it opens files."""

    number: int
    name: str
    opens: bool = False


@dataclass(frozen=True, slots=True)
class Site:
    """A place in the program that performs one kind of operation. Number 0 is nowhere."""

    number: int
    operation: str
    file: str
    function: str
    line: int


@dataclass(frozen=True, slots=True)
class Object:
    """Something threads operate on. `path` is set for threads alone, the rest for others."""

    kind: str
    number: int
    site: Site | None = None
    address: int = 0
    path: str = ""

    @property
    def name(self) -> str:
        """As people read it: `lock 3`, `thread 0.1`, or nothing."""
        if self.path:
            return f"{self.kind} {self.path}"
        return f"{self.kind} {self.number}" if self.number else ""


# A recording holds millions of these, so they are made in half the time a frozen dataclass
# takes: the operation is that of the site rather than a field, and the fields are set through
# their slots, past the check that keeps others from setting them.
@dataclass(frozen=True, slots=True, init=False)
class Event:
    """An operation that happened."""

    step: int
    thread: str
    object: Object
    site: Site

    def __init__(self, step: int, thread: str, object: Object, site: Site) -> None:
        _set_step(self, step)
        _set_thread(self, thread)
        _set_object(self, object)
        _set_site(self, site)

    @property
    def operation(self) -> str:
        return self.site.operation


_set_step = Event.__dict__["step"].__set__
_set_thread = Event.__dict__["thread"].__set__
_set_object = Event.__dict__["object"].__set__
_set_site = Event.__dict__["site"].__set__


@dataclass(frozen=True, slots=True)
class ScheduleEntry:
    """One decision; the argument is a thread index for switches, else see docs/format.md.

    A steal or a stop between two points can fall between two operations of one step: `operations`
    says how many came before.
    """

    step: int
    kind: str
    argument: int
    operations: int | None = None

    @property
    def is_switch(self) -> bool:
        return self.kind in SWITCHES

    @property
    def is_collection(self) -> bool:
        return self.kind == "collect" and self.argument < GENERATIONS


@dataclass(frozen=True, slots=True)
class Note:
    """Something that was not under control."""

    kind: str
    step: int
    thread: str
    value: int
    text: str
