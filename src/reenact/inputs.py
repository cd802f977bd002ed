"""Which outside inputs are recorded: the choice, as it travels to the program's process.

`config.py` makes it, `header.json` keeps it, `engine/launch.py` hands it to the process as text and
`engine/child.py` to what intercepts calls. Loaded in the program's process: so it imports nothing,
and `Inputs` is a plain class. What the sources cover is said by `intercept/table.py`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

SOURCES = ("clock", "random", "system", "files", "terminal", "sockets", "processes", "signals")

RECORDED = "recorded"  # a replay returns what was returned
PASSED = "passed"  # performed in a replay as well
REFUSED = "refused"  # an error in the program


def treatments(source: str) -> tuple[str, ...]:
    """A signal cannot be refused: nobody asked for it."""
    return (RECORDED, PASSED) if source == "signals" else (RECORDED, PASSED, REFUSED)


def is_module(text: str) -> bool:
    return all(part.isidentifier() for part in text.split("."))


def is_boundary(text: str) -> bool:
    """`module:name` or `module:*`."""
    module, _, name = text.partition(":")
    return is_module(module) and (name == "*" or name.isidentifier())


class Inputs:
    """The treatment of every source, calls whose outcome is recorded besides, and strictness."""

    __slots__ = ("boundary", "sources", "strict")

    def __init__(
        self,
        sources: Mapping[str, str] | None = None,
        boundary: tuple[str, ...] = (),
        strict: bool = False,
    ) -> None:
        chosen = sources or {}
        self.sources = {source: chosen.get(source, RECORDED) for source in SOURCES}
        self.boundary = boundary
        self.strict = strict

    def text(self) -> str:
        """Words that `parse` understands; no word for what is as ever."""
        chosen = [f"{name}={how}" for name, how in self.sources.items() if how != RECORDED]
        return " ".join((*chosen, *self.boundary, *(("strict",) if self.strict else ())))

    @classmethod
    def parse(cls, text: str) -> Inputs:
        words = text.split()
        sources = {}
        for word in words:
            name, is_choice, how = word.partition("=")
            if is_choice:
                sources[name] = how
        return cls(sources, tuple(word for word in words if ":" in word), "strict" in words)

    def as_dict(self) -> dict[str, object]:
        """The field `inputs` of header.json."""
        return {
            "sources": dict(self.sources),
            "boundary": list(self.boundary),
            "strict": self.strict,
        }

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Inputs) and self.as_dict() == other.as_dict()

    def __hash__(self) -> int:
        return hash(self.text())

    def __repr__(self) -> str:
        return f"Inputs.parse({self.text()!r})"
