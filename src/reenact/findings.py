"""What a search finds: a failure, in which thread, with what to show of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

Kind = Literal[
    "assertion", "exception", "deadlock", "livelock", "exit", "property", "race", "lock-order"
]
_FOUND_BY_LOOKING = ("race", "lock-order")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a stack."""

    file: str
    line: int
    function: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """A thread that waits for ever: for what, who holds it ("" if nobody), where it stands."""

    thread: str
    what: str
    owner: str
    stack: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a run failed. `summary` is one line; `traceback` is what Python would print; of a race,
    the report."""

    kind: Kind
    summary: str
    thread: str = "0"
    traceback: str = ""
    waiting: tuple[Waiting, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Failure:
        waiting = tuple(
            Waiting(
                each["thread"],
                each["what"],
                each["owner"],
                tuple(Line(**line) for line in each["stack"]),
            )
            for each in fields["waiting"]
        )
        return cls(**{**fields, "waiting": waiting})

    @property
    def is_found_by_looking(self) -> bool:
        """The run went well, but was seen to have a race, or locks that are taken in a cycle."""
        return self.kind in _FOUND_BY_LOOKING

    @property
    def cycle(self) -> tuple[str, ...]:
        """Threads of which each waits for the next, and the last for the first."""
        owners = {each.thread: each.owner for each in self.waiting if each.owner}
        for start in owners:
            path = [start]
            while (following := owners.get(path[-1], "")) and following not in path:
                path.append(following)
            if following == start:
                return tuple(path)
        return ()

    def is_like(self, other: Failure | None) -> bool:
        """Is it the same failure, as far as a user would say so?"""
        if other is None or self.kind != other.kind:
            return False
        return self.kind in ("deadlock", "livelock") or _first(self) == _first(other)


def _first(failure: Failure) -> str:
    """What kind of exception it is; its words may differ from run to run."""
    return failure.summary.partition(":")[0]
