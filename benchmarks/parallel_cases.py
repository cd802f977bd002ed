"""What parallel.py measures: programs by group, points of the microbenchmark, recorders, targets.

A new program is a file in programs/parallel/ and a line here; a new recorder is a line here, or an
option of the command line.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE / "programs" / "parallel"
BASELINES = HERE / "baselines"


# A run of one of these groups takes about a second: what `sync` spends on code that is new to its
# threads, some hundredths, is spent once.
SIZES = {"compute": 3, "locks": 3}


@dataclass(frozen=True)
class Case:
    """A program that takes THREADS and SCALE; racy ones do not always give the same result."""

    group: str
    program: str
    is_racy: bool = False

    @property
    def name(self) -> str:
        """What it is called in tables."""
        return self.program

    def words(self, threads: int, scale: float) -> list[str]:
        """The program and its arguments."""
        scale *= SIZES.get(self.group, 1)
        return [str(PROGRAMS / f"{self.program}.py"), str(threads), str(scale)]


@dataclass(frozen=True)
class Point:
    """The microbenchmark with one option at another value than by default."""

    axis: str
    value: str
    group: str = "micro"
    is_racy: bool = True

    @property
    def name(self) -> str:
        """What it is called in messages."""
        return f"{self.axis} {self.value}"

    def words(self, threads: int, scale: float) -> list[str]:
        """The program and its arguments; it has its own number of threads, whatever is said."""
        options = dict(MICRO, **{self.axis: self.value})
        options["operations"] = str(max(1, round(int(options["operations"]) * scale)))
        words = [str(PROGRAMS / "ditto_micro.py")]
        for name, value in options.items():
            words += [f"--{name}", value]
        return words


CASES = (
    Case("compute", "moldyn"),
    Case("compute", "montecarlo"),
    Case("compute", "raytracer"),
    Case("compute", "blackscholes"),
    Case("compute", "fluidanimate"),
    Case("compute", "streamcluster"),
    Case("compute", "parallel_bzip2"),
    Case("compute", "text_indexer"),
    Case("compute", "text_searcher"),
    Case("locks", "lock_counter"),
    Case("locks", "lock_buckets"),
    Case("locks", "lock_relay"),
    Case("shared", "counters", is_racy=True),
    Case("shared", "producer_consumer"),
    Case("shared", "matrix_rows"),
    Case("shared", "relaxation"),
    Case("shared", "bank_locked"),
    Case("shared", "bank_unlocked", is_racy=True),
    Case("shared", "work_stealing"),
    Case("shared", "stencil"),
    Case("shared", "histogram"),
    Case("shared", "memo_table"),
    Case("shared", "block_sort"),
    Case("shared", "tour"),
)

# Threads that share nothing: if two of these are not near twice as fast as one, others are running.
CONTROL = Case("control", "control")
CONTROL_SPEED_UP = 1.7

MICRO = {
    "threads": "4",
    "operations": "1000000",
    "ratio": "1:1",
    "fields": "4",
    "objects": "8",
    "processors": "2",
}
AXES = {
    "threads": ("1", "2", "4", "8", "16"),
    "operations": ("250000", "500000", "1000000", "2000000"),
    "ratio": ("1:4", "1:1", "4:1", "16:1", "64:1"),
    "fields": ("1", "2", "4", "8", "16"),
    "objects": ("1", "4", "16", "64", "256"),
    "processors": ("1", "2"),
}
POINTS = tuple(Point(axis, value) for axis, values in AXES.items() for value in values)

# Which table or figure of which paper a group or an axis mirrors.
MIRRORED = {
    "compute": "Ditto's tables 5.3 to 5.6, iReplayer's table 3",
    "locks": "iReplayer's table 3, of whose rows fluidanimate locks most",
    "shared": "Light's figures 4 (time) and 5 (space)",
    "threads": "Ditto's figure 5.1",
    "operations": "Ditto's figure 5.2",
    "ratio": "Ditto's figure 5.3",
    "fields": "Ditto's figure 5.4",
    "objects": "Ditto's figure 5.5",
    "processors": "Ditto's figure 5.6",
}


@dataclass(frozen=True)
class Recorder:
    """Words after the interpreter: PROGRAM is the program with its arguments, RECORDING a new path.

    `info` is how to ask how large the parts of the recording are; without it RECORDING is a file
    that is the trace, and packed for the comparison.
    """

    name: str
    record: str
    replay: str | None = None
    info: str | None = None
    micro: str | None = None  # how to record the microbenchmark, if otherwise
    micro_replay: str | None = None  # and to replay it; not at all if empty


REENACT_REPLAY = "-m reenact replay RECORDING"
REENACT_INFO = "-m reenact info --json RECORDING"


def reenact(name: str, options: str) -> Recorder:
    """One of ours."""
    record = f"-m reenact record {options} -o RECORDING PROGRAM"
    return Recorder(name, record, REENACT_REPLAY, REENACT_INFO)


def baseline(name: str) -> Recorder:
    """One of the papers'. Their replayers are for the microbenchmark alone."""
    how = BASELINES / "run.py"
    return Recorder(
        name,
        f"{how} {name} RECORDING PROGRAM",
        micro=f"{how} --accesses {name} RECORDING PROGRAM",
        micro_replay=f"{how} --replay {name} RECORDING PROGRAM",
    )


def without(name: str, what: str) -> Recorder:
    """Light without one of its optimisations, or both."""
    record = f"{HERE / 'light_without.py'} {what} RECORDING PROGRAM"
    return Recorder(name, record, REENACT_REPLAY, REENACT_INFO)


# The microbenchmark races: no replay of `sync` is like its recording. That of `ditto` is replayed
# in parallel, as the earlier systems do it.
RECORDERS = (
    replace(reenact("sync", "--engine parallel --order sync"), micro_replay=""),
    replace(
        reenact("ditto", "--engine parallel --order ditto"),
        micro_replay="-m reenact replay --engine parallel RECORDING",
    ),
    reenact("light", "--engine parallel --order light"),
    reenact("serial", ""),
    baseline("dejavu"),
    baseline("jarec"),
    baseline("leap"),
    baseline("stride"),
)
WITHOUT = (without("no O1", "O1"), without("no O2", "O2"), without("neither", "O1,O2"))
STOCK = Recorder("stock", "PROGRAM", "PROGRAM")

# Parts of a recording that have nothing to do with the order of events.
NOT_ORDER = frozenset(
    [
        "header.json",
        "end.json",
        "state",
        "definitions",
        "clock",
        "output",
        "notes",
        "outcome",
        "inputs",
        "files",
    ]
)


@dataclass(frozen=True)
class Target:
    """The most that a recorder may cost in a group, as a ratio to stock with two threads."""

    recorder: str
    group: str
    ratio: float
    is_for_each: bool


TARGETS = (
    Target("sync", "compute", 1.15, True),
    Target("sync", "locks", 1.2, True),
    Target("light", "shared", 1.6, False),
    Target("ditto", "shared", 2.0, False),
)
SPEED_UP_KEPT = 0.8


@dataclass(frozen=True)
class Claim:
    """How many times as much as `ditto` an earlier system takes at least, over the microbenchmark:
    bytes of the trace, or seconds."""

    system: str
    figure: str  # a column of the report: of_accesses, record_s, replay_s
    times: float


EARLIER = ("dejavu", "jarec", "leap", "stride")
CLAIMS = (
    *(Claim(system, "of_accesses", 10) for system in ("dejavu", "leap")),
    *(Claim(system, figure, 1) for figure in ("record_s", "replay_s") for system in EARLIER),
)
# With one thread nothing is shared, and no system has an order to record.
UNSHARED = "threads 1"
# Where stock Python itself gains less, what is kept of it is noise.
LEAST_SPEED_UP = 1.3
