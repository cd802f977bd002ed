"""Turns what the drivers answered into tables, verdicts and JSON, for explore.py. Runs nothing."""

from __future__ import annotations

import statistics
from dataclasses import asdict, dataclass, field
from typing import Any

from peers.tools import Answer, Installed
from peers.workloads import INCREMENTS, ITERATIONS, WORKLOADS

TARGETS = {"locked": 10.0, "compute": 50.0}
SCALING_TARGET = 1.7
CONTROL_LIMITS = (0.87, 1.15)
WHAT = {
    "locked": f"two threads, {INCREMENTS} increments each, under a lock",
    "compute": f"two threads, {ITERATIONS:,} private iterations and one locked update each",
    "bare": f"two threads, {INCREMENTS} increments each, no lock",
    "check_then_act": "if key not in dict: dict[key] = ..., by two threads",
    "inner_threads": "the race of `bare`, between threads that a worker starts",
    "pool": "the race of `bare`, between the threads of one pool",
    "two_pools": "correct: two threads, each with a pool of its own, count under a lock",
}


@dataclass
class Row:
    """All answers of one way of one tool on one workload. `group` is the table it belongs to."""

    group: str
    tool: Installed
    way: str
    workload: str
    jobs: int = 1
    label: str = ""
    answers: list[Answer] = field(default_factory=list)
    trouble: str | None = None

    @property
    def name(self) -> str:
        """What it is called in tables."""
        return f"{self.tool.tool.name} {self.way} {self.label}".rstrip()

    @property
    def is_peer(self) -> bool:
        """Not reenact."""
        return bool(self.tool.tool.package)

    @property
    def rate(self) -> float:
        """Schedules per second of the best round; zero if there is none."""
        return 0.0 if self.trouble else max(answer.rate for answer in self.answers)

    @property
    def noise(self) -> float:
        """The best round to the median one."""
        return self.rate / statistics.median(answer.rate for answer in self.answers)


@dataclass(frozen=True)
class Said:
    """What one way of one tool said of a program; text in place of an answer is why it did not."""

    tool: Installed
    way: str
    workload: str
    answer: Answer | str

    @property
    def verdict(self) -> str:
        """In words; MISSED and WRONG where it is not so."""
        if isinstance(self.answer, str):
            return f"nothing: {self.answer}"
        if self.answer.note is not None:
            return f"no verdict: {self.answer.note}"
        has_bug = WORKLOADS[self.workload].has_bug
        schedules = f"{self.answer.schedules} schedules"
        if self.answer.failure is not None:
            return (
                f"{'' if has_bug else 'WRONG: '}failure within {schedules}: {self.answer.failure}"
            )
        return f"{'MISSED: ' if has_bug else ''}holds, {schedules}"


def title(installed: Installed) -> str:
    """The tool, its version and its Python."""
    return f"{installed.tool.package or installed.tool.name} on Python {installed.version}"


def blocks(rows: list[Row]) -> list[list[str]]:
    """All tables, and the verdicts."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.group, []).append(row)
    tables = []
    for name, group in groups.items():
        make = first_failure_table if name == "bare" else rates_table
        tables.append([f"{name}: {WHAT.get(name, 'reenact alone')}", *make(group)])
    return [*tables, verdicts(groups)]


def rates_table(rows: list[Row]) -> list[str]:
    """Schedules per second, one line a way."""
    lines = [f"{'tool, way':28} {'schedules/s':>12} {'noise':>7}"]
    for row in rows:
        figures = f"{row.rate:12.1f} {row.noise:6.2f}x" if not row.trouble else row.trouble
        lines.append(f"{row.name:28} {figures}")
    return lines


def first_failure_table(rows: list[Row]) -> list[str]:
    """How long until the failure is found: medians of the searches that found it."""
    lines = [f"{'tool, way':28} {'found':>8} {'schedules':>10} {'ms':>9}"]
    for row in rows:
        found = [answer for answer in row.answers if answer.failure is not None]
        cells = f"{len(found):4} of {len(row.answers):<2}"
        if found:
            schedules = statistics.median(answer.schedules for answer in found)
            seconds = statistics.median(answer.seconds for answer in found)
            cells += f" {schedules:9.0f} {seconds * 1000:10.1f}"
        lines.append(f"{row.name:28} {row.trouble or cells}")
    return lines


def verdicts(groups: dict[str, list[Row]]) -> list[str]:
    """The figures that have a target; a dash where one side is missing."""
    lines = []
    for name, target in TARGETS.items():
        ratio = to_better_peer(groups.get(name, []))
        lines.append(verdict(f"{name}, reenact to the better peer", ratio, target))
    return [*lines, *scaling_verdict(groups.get("scaling", []))]


def scaling_verdict(rows: list[Row]) -> list[str]:
    """What the second job brings: the median over the rounds, each round by itself.

    Best rounds would not do: on a noisy machine one lucky round of jobs=2 makes a tool scale that
    ignores the setting. So jobs=1 is also run a second time, as a control, which must give 1.
    """
    what = "jobs=2 to jobs=1"
    if len(rows) != 3 or any(row.trouble for row in rows):
        return [verdict(what, None, SCALING_TARGET)]
    one, two, again = rows
    ratios, control = ratios_by_round(two, one), ratios_by_round(again, one)
    lowest, highest = CONTROL_LIMITS
    line = verdict(what, statistics.median(ratios), SCALING_TARGET)
    if not lowest <= statistics.median(control) <= highest:
        line = f"{what:40} {statistics.median(ratios):9.2f}x  UNSURE: too noisy, see the control"
    return [line, spread("by round", ratios), spread("control, jobs=1 to jobs=1", control)]


def ratios_by_round(rows: Row, base: Row) -> list[float]:
    """The rates of two rows, round by round."""
    pairs = zip(rows.answers, base.answers, strict=True)
    return [answer.rate / other.rate for answer, other in pairs]


def spread(what: str, ratios: list[float]) -> str:
    """Lowest, median and highest."""
    middle = statistics.median(ratios)
    return f"  {what:38} {min(ratios):.2f} .. {middle:.2f} .. {max(ratios):.2f}"


def verdict(what: str, ratio: float | None, target: float) -> str:
    """One line, as report.py has them."""
    if ratio is None:
        return f"{what:40} {'-':>10} >= {target:.1f}x"
    mark = "ok" if ratio >= target else "MISSED"
    return f"{what:40} {ratio:9.2f}x >= {target:.1f}x  {mark}"


def to_better_peer(rows: list[Row]) -> float | None:
    """The best way of reenact to the best way of any peer."""
    own = max((row.rate for row in rows if not row.is_peer), default=0.0)
    peer = max((row.rate for row in rows if row.is_peer), default=0.0)
    return own / peer if own and peer else None


def truth_table(said: list[Said]) -> list[str]:
    """Program by program, what each way said."""
    lines: list[str] = []
    for name in dict.fromkeys(each.workload for each in said):
        truth = "has a failing schedule" if WORKLOADS[name].has_bug else "has none"
        lines += ["", f"{name}: {WHAT[name]} ({truth})"]
        for each in said:
            if each.workload == name:
                lines.append(f"  {each.tool.tool.name + ' ' + each.way:28} {each.verdict}")
    return lines[1:]


def as_json(rows: list[Row]) -> list[dict[str, Any]]:
    """Everything, the single runs too."""
    return [
        {
            "group": row.group,
            "tool": title(row.tool),
            "way": row.way,
            "workload": row.workload,
            "jobs": row.jobs,
            "label": row.label,
            "trouble": row.trouble,
            "answers": [asdict(answer) for answer in row.answers],
        }
        for row in rows
    ]


def truth_as_json(said: list[Said]) -> list[dict[str, Any]]:
    """What each way said."""
    return [
        {
            "tool": title(each.tool),
            "way": each.way,
            "workload": each.workload,
            "has_bug": WORKLOADS[each.workload].has_bug,
            "verdict": each.verdict,
        }
        for each in said
    ]
