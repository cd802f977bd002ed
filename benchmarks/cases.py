"""The programs that are measured, by group, and what is asked of each group.

Read by record.py. A new benchmark is a file in programs/ and a line here.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

PROGRAMS = Path(__file__).resolve().parent / "programs"


@dataclass(frozen=True)
class Case:
    """One program with its arguments."""

    group: str
    program: str
    args: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What it is called in tables."""
        return " ".join((self.program, *self.args))

    @property
    def path(self) -> Path:
        """Where its source is."""
        return PROGRAMS / f"{self.program}.py"


CASES = (
    Case("compute", "nbody"),
    Case("compute", "fannkuch"),
    Case("compute", "task_simulation"),
    Case("compute", "json_parser"),
    Case("compute", "nested_loops"),
    Case("threads", "lock_heavy", ("2",)),
    Case("threads", "lock_heavy", ("8",)),
    Case("threads", "lock_heavy", ("32",)),
    Case("threads", "queue_pipeline"),
    Case("threads", "pool_small_tasks"),
    Case("inputs", "cheap_call", ("time_time",)),
    Case("inputs", "cheap_call", ("urandom16",)),
    Case("inputs", "cheap_call", ("recv64",)),
    Case("inputs", "cheap_call", ("file64k",)),
    Case("inputs", "cheap_call", ("asyncio_tasks",)),
    Case("size", "contended"),
    Case("size", "contended", ("pairs",)),
    Case("startup", "startup"),
)

COMPUTE_MEAN_RATIO = 1.12
COMPUTE_WORST_RATIO = 1.4
THREADS_RATIO = 1.1
INPUTS_RATIOS = {
    "time_time": 1.2,
    "urandom16": 1.15,
    "recv64": 1.15,
    "file64k": 1.3,
    "asyncio_tasks": 1.2,
}
STARTUP_MORE_S = 0.150
REPLAY_RATIO = 1.2
SIZE_BYTES = 100_000
