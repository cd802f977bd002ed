"""Reports of what pytest has no report for: deadlocks, errors of threads, inconclusive tests.

Every item's call report (the setup's, if there was no call) has an attribute `reenact`, a dict of
plain values that xdist can send; `summary.py` reads it.
"""

from __future__ import annotations

import linecache
from collections.abc import Sequence
from typing import Any

import pytest
from _pytest._code.code import ReprEntryNative, ReprExceptionInfo, ReprFileLocation, ReprTraceback

from reenact.findings import Failure, Line
from reenact_pytest.schedules import Played

_MACHINERY = ("/_pytest/", "/pluggy/", "/reenact_pytest/")
_SHOWN_FRAMES = 5


def note(report: pytest.TestReport, **facts: Any) -> None:
    """Keep facts about the exploration on a report."""
    report.__dict__.setdefault("reenact", {}).update(facts)


def main_report(played: Played) -> pytest.TestReport:
    phase = played.of("call") or played.phases[0]
    return phase.report


def of_failure(item: pytest.Item, failure: Failure) -> pytest.TestReport:
    """For a failure that pytest itself did not see."""
    path, line, _ = item.location
    message = failure.summary
    if failure.thread != "0" and not failure.is_found_by_looking:
        message += f" (in thread {failure.thread})"
    text = "\n".join((message, *waiting(failure))) if failure.waiting else failure.traceback
    entries: list[Any] = [ReprEntryNative([(text or message).rstrip() + "\n"])]
    return pytest.TestReport(
        item.nodeid,
        item.location,
        dict.fromkeys(item.keywords, 1),
        "failed",
        ReprExceptionInfo(
            reprtraceback=ReprTraceback(entries, None, "native"),
            reprcrash=ReprFileLocation(path, (line or 0) + 1, message),
        ),
        "call",
        sections=[(f"Captured {key} {when}", text) for when, key, text in item._report_sections],
        user_properties=list(item.user_properties),
    )


def make_inconclusive(report: pytest.TestReport, reasons: Sequence[str]) -> None:
    """No tool that reads reports may take it for passed."""
    path, line, _ = report.location
    report.outcome = "skipped"
    report.longrepr = (path, (line or 0) + 1, "Inconclusive: " + "; ".join(reasons))
    note(report, status="inconclusive", reasons=list(reasons))


def waiting(failure: Failure) -> list[str]:
    lines = []
    for each in failure.waiting:
        holder = f", held by thread {each.owner}" if each.owner else ""
        lines.append(f"  thread {each.thread} waits for {each.what}{holder}")
        lines += [_frame(line) for line in _theirs(each.stack)]
    return lines


def _theirs(stack: tuple[Line, ...]) -> list[Line]:
    """Innermost first, without pytest's own."""
    lines: list[Line] = []
    for line in stack:
        if any(part in line.file for part in _MACHINERY):
            break
        lines.append(line)
    return lines[:_SHOWN_FRAMES]


def _frame(line: Line) -> str:
    source = linecache.getline(line.file, line.line).strip()
    return f"      {line.file}:{line.line} in {line.function}: {source}"
