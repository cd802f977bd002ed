"""What races.py measures, and what is asked of each group. A new program is a line here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

PROGRAMS = Path(__file__).resolve().parent / "programs"
CONNECTIONS = 8


@dataclass(frozen=True)
class Case:
    """One program whose work is done by several threads. `scale` is its share of the whole work,
    `small` the share of it that slow tools get."""

    group: str
    program: str
    threads: int = 2
    scale: float = 1.0
    small: float = 0.02

    @property
    def name(self) -> str:
        """What it is called in tables."""
        return f"{self.program} {self.threads}"

    @property
    def path(self) -> Path:
        """Where its source is."""
        return PROGRAMS / f"{self.program}.py"

    def words(self, scale: float) -> list[str]:
        """The program with its arguments."""
        return [str(self.path), str(self.threads), str(scale)]


@dataclass(frozen=True)
class Server:
    """One kind of server; each of them has a race."""

    kind: str
    group: str = "servers"

    @property
    def name(self) -> str:
        """What it is called in tables."""
        return {"cache": "flask, cache"}.get(self.kind, self.kind)

    @property
    def words(self) -> list[str]:
        """The program with its arguments."""
        return [str(PROGRAMS / "server.py"), self.kind]


CASES = (
    Case("compute", "nbody", scale=0.5),
    Case("compute", "fannkuch", scale=0.5),
    Case("compute", "task_simulation", scale=0.5),
    Case("compute", "json_parser", scale=0.5),
    Case("compute", "nested_loops", scale=0.5),
    Case("objects", "orbits"),
    Case("objects", "tree"),
    Case("objects", "bank"),
    Case("locks", "lock_heavy", 2, small=0.005),
    Case("locks", "lock_heavy", 8, small=0.005),
)
SERVERS = (Server("http.server"), Server("flask"), Server("cache"))
SEEDED = tuple(sorted((PROGRAMS / "seeded").glob("*.py")))
SEEDED_GROUP = "seeded"

COMPUTE_MEAN_RATIO = 1.4
WORST_RATIOS = {"objects": 2.2, "locks": 1.3, "servers": 1.3}
MEMORY_RATIO = 2.5
