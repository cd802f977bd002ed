"""A report: all findings of a run, which of them are suppressed, and what they come to.

`as_dict` is the object that `reenact races --json` prints, described in docs/reference/races.md.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from reenact.analysis.build import gather
from reenact.analysis.findings import (
    Access,
    Finding,
    Held,
    HeldWaiting,
    Lock,
    LockOrder,
    Race,
    Stack,
    Thread,
    Unreleased,
)
from reenact.analysis.sources import Sources
from reenact.analysis.suppress import Suppressed, sift
from reenact.findings import Line

VERSION = 1
Verdict = Literal["none", "found", "inconclusive"]


@dataclass(frozen=True, slots=True)
class Report:
    """`findings` are those that are not suppressed; `reasons` say what was out of control."""

    sources: Sources
    findings: tuple[Finding, ...]
    suppressed: tuple[Suppressed, ...] = ()
    reasons: tuple[str, ...] = ()
    sample: float = 1.0
    exit_code: int | None = None  # of the program
    is_heuristic: bool = False  # with fewer sites, on trust
    forgotten: int = 0  # threads that had ended long before

    @property
    def verdict(self) -> Verdict:
        if any(each.level == "error" for each in self.findings):
            return "found"
        return "inconclusive" if self.reasons else "none"

    @property
    def everything(self) -> tuple[Finding, ...]:
        """Suppressed or not."""
        return (*self.findings, *(each.finding for each in self.suppressed))

    def counts(self) -> dict[str, int]:
        """How many of each kind."""
        return dict(Counter(each.kind for each in self.findings))

    def as_dict(self) -> dict[str, Any]:
        return {
            "version": VERSION,
            "verdict": self.verdict,
            "reasons": list(self.reasons),
            "root": self.sources.root,
            "sample": self.sample,
            "heuristic": self.is_heuristic,
            "forgotten": self.forgotten,
            "exit_code": self.exit_code,
            "findings": [_finding(each, self.sources) for each in self.findings],
            "suppressed": [
                {"how": each.how, "why": each.why, **_finding(each.finding, self.sources)}
                for each in self.suppressed
            ],
        }


def report_of(
    raw: dict[str, Any],
    root: str | os.PathLike[str],
    *,
    ignored: Sequence[str] = (),
    known: Collection[str] = (),
    reasons: Sequence[str] = (),
    exit_code: int | None = None,
    is_whole: bool = True,
    is_heuristic: bool = False,
    sources: Sources | None = None,
) -> Report:
    """`ignored` are entries of the configuration, `known` keys of a baseline, `reasons` what was
    out of control in the run, besides what the raw document says itself; `is_whole`: the program
    came to its end, so that what it still holds it never releases; `is_heuristic`: with fewer
    sites, on trust; `sources` those below `root`,
    if they have been read already."""
    sources = sources or Sources(root)
    found, problems = gather(raw, sources, is_whole)
    left, suppressed = sift(found, sources, ignored, known)
    everything = (*reasons, *problems)
    return Report(
        sources,
        tuple(left),
        tuple(suppressed),
        everything,
        raw["sample"],
        exit_code,
        is_heuristic,
        raw.get("forgotten", 0),
    )


# ---- as plain values ----


def _finding(finding: Finding, sources: Sources) -> dict[str, Any]:
    common = {
        "kind": finding.kind,
        "level": finding.level,
        "key": finding.key,
        "title": finding.title,
        "advice": finding.advice,
    }
    return common | _details(finding, sources)


def _details(finding: Finding, sources: Sources) -> dict[str, Any]:
    if isinstance(finding, Race):
        return _race(finding, sources)
    if isinstance(finding, LockOrder):
        return {
            "takings": [
                {
                    "thread": _thread(each.thread),
                    "held": _held(each.held, sources),
                    "taken": _held(each.taken, sources),
                    "count": each.count,
                }
                for each in finding.takings
            ]
        }
    if isinstance(finding, HeldWaiting):
        return {
            "thread": _thread(finding.thread),
            "locks": [_held(each, sources) for each in finding.held],
            "what": finding.what,
            "timed": finding.is_timed,
            "stack": _stack(finding.stack, sources),
            "waker": None if finding.waker is None else _thread(finding.waker),
            "needed": list(finding.needed),
        }
    assert isinstance(finding, Unreleased)
    return {
        "thread": _thread(finding.thread),
        "locks": [_held(finding.held, sources)],
        "count": finding.count,
    }


def _race(race: Race, sources: Sources) -> dict[str, Any]:
    variable = race.variable
    made = None
    if variable.creator is not None:
        made = {"thread": _thread(variable.creator), "stack": _stack(variable.created, sources)}
    return {
        "variable": {
            "kind": variable.kind,
            "name": variable.name,
            "type": variable.type,
            "address": variable.address,
            "short": race.called.short,
            "full": race.called.full,
            "created": made,
        },
        "label": race.label,
        "count": race.count,
        "first": _access(race.first, sources),
        "second": _access(race.second, sources),
    }


def _access(access: Access, sources: Sources) -> dict[str, Any]:
    return {
        "thread": _thread(access.thread),
        "mode": access.mode,
        **_line(access.place, sources),
        "column": access.column,
        "stack": _stack(access.stack, sources),
        "locks": [_lock(each, (), sources) for each in access.locks],
    }


def _thread(thread: Thread) -> dict[str, Any]:
    return {"number": thread.number, "name": thread.name}


def _held(held: Held, sources: Sources) -> dict[str, Any]:
    return _lock(held.lock, held.stack, sources)


def _lock(lock: Lock, stack: Stack, sources: Sources) -> dict[str, Any]:
    where = None if lock.where is None else _line(lock.where, sources)
    return {
        "number": lock.number,
        "kind": lock.kind,
        "where": where,
        "stack": _stack(stack, sources),
    }


def _stack(stack: Stack, sources: Sources) -> list[dict[str, Any]]:
    return [_line(each, sources) for each in stack]


def _line(line: Line, sources: Sources) -> dict[str, Any]:
    source = sources.line(line.file, line.line).strip()
    return {"file": line.file, "line": line.line, "function": line.function, "source": source}
