"""Measures the programs and servers of races.py, and keeps what was seen. Judges nothing.

Each round runs stock and reenact one after the other, so that a slow phase of the machine meets
both. The peers run a small part of the work, and are compared to stock Python of the version that
they run on, with as little work.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from peers.tools import Installed
from races_cases import Case, Server
from races_run import (
    Lines,
    Run,
    RunFailed,
    Way,
    lines_by_peer,
    lines_by_reenact,
    peer,
    reenact,
    run_program,
    run_server,
    stock,
)

PEER_ENOUGH_S = 5.0
PEER_REQUESTS = 100

T = TypeVar("T")


@dataclass
class Compared:
    """A tool's runs next to stock ones; `trouble` is why there are none."""

    stock: list[Run] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    trouble: str | None = None

    def ratio(self, figure: str) -> float | None:
        """The best run to the best stock one."""
        if self.trouble is not None:
            return None
        return best(self.runs, figure) / best(self.stock, figure)

    @property
    def noise(self) -> float:
        """The median stock run to the best."""
        return statistics.median(run.judged_s for run in self.stock) / best(self.stock, "judged_s")


def best(runs: list[Run], figure: str) -> float:
    """The least."""
    return min(float(getattr(run, figure)) for run in runs)


@dataclass
class Row:
    """All that was seen of one program or server."""

    case: Case | Server
    reenact: Compared = field(default_factory=Compared)
    peers: dict[str, Compared] = field(default_factory=dict)


@dataclass
class Said:
    """What each tool says of a seeded program: the lines of its races, or why it says nothing."""

    program: Path
    by_tool: dict[str, Lines | str] = field(default_factory=dict)


@dataclass(frozen=True)
class Bench:
    """What is compared, and how often it is run."""

    python: str
    peers: list[Installed]
    rounds: int
    requests: int

    def program(self, case: Case) -> Row:
        """Time and memory of a program."""
        small = case.words(case.scale * case.small)
        return self.measure(
            case,
            lambda way, number: run_program(way, case.words(case.scale), number),
            lambda way, number: run_program(way, small, number),
        )

    def server(self, server: Server) -> Row:
        """Processor time of a request, and memory of the server."""
        return self.measure(
            server,
            lambda way, number: run_server(way, server.words, self.requests, number),
            lambda way, number: run_server(way, server.words, PEER_REQUESTS, number),
        )

    def measure(self, case: Case | Server, whole: OneRun, small: OneRun) -> Row:
        """Everybody; `small` is for the peers."""
        print(f"{case.name} ...", file=sys.stderr, flush=True)
        row = Row(case)
        in_turn(row.reenact, (stock(self.python), reenact(self.python)), self.rounds, whole)
        for tool in self.peers:
            compared = row.peers[tool.tool.name] = Compared()
            in_turn(compared, (stock(tool.python, True), peer(tool)), self.rounds, small)
        return row

    def seeded(self, program: Path) -> Said:
        """Who reports what."""
        print(f"{program.stem} ...", file=sys.stderr, flush=True)
        said = Said(program, {"reenact": told(lines_by_reenact, program, self.python)})
        for tool in self.peers:
            said.by_tool[tool.tool.name] = told(lines_by_peer, program, tool)
        return said


OneRun = Callable[[Way, int], Run]


def in_turn(compared: Compared, ways: tuple[Way, Way], rounds: int, run: OneRun) -> None:
    """Stock and tool, `rounds` times; a peer that is slow fewer times, one that fails once."""
    started = time.monotonic()
    for number in range(rounds):
        try:
            compared.stock.append(run(ways[0], number))
            compared.runs.append(run(ways[1], number))
        except RunFailed as failure:
            compared.trouble = str(failure)
            return
        if ways[1].is_peer and time.monotonic() - started > PEER_ENOUGH_S:
            return


def told(ask: Callable[[Path, T], Lines], program: Path, tool: T) -> Lines | str:
    """Lines, or why there are none."""
    try:
        return ask(program, tool)
    except RunFailed as failure:
        return str(failure)
