"""A report in SARIF 2.1.0, the form that code-scanning services read.

Each kind of finding is a rule. A result has the later access as its location, the other places as
related ones, and the stacks as flows of threads, from the outermost call to the place itself. Files
are relative to %SRCROOT%, the root of the analysis. Suppressed findings are there, too, and say so.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

from reenact.analysis.findings import (
    Access,
    Finding,
    HeldWaiting,
    LockOrder,
    Race,
    Stack,
    Unreleased,
)
from reenact.analysis.report import Report
from reenact.analysis.sources import Sources
from reenact.analysis.suppress import Suppressed
from reenact.analysis.text import their
from reenact.findings import Line
from reenact.version import VERSION

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
ROOT = "%SRCROOT%"

RULES = (
    (Race, "DataRace", "Two threads access the same thing, one of them writes, and nothing orders"),
    (LockOrder, "LockOrderCycle", "Locks are taken in a cycle, so that threads may deadlock"),
    (HeldWaiting, "LockHeldWhileWaiting", "A lock is held while waiting for something else"),
    (Unreleased, "LockNeverReleased", "A lock is taken and never released"),
)
Node = dict[str, Any]


def document_of(report: Report) -> Node:
    results = [_result(each, None, report.sources) for each in report.findings]
    results += [_result(each.finding, each, report.sources) for each in report.suppressed]
    run = {
        "tool": {"driver": _driver()},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {ROOT: {"uri": Path(report.sources.root).as_uri() + "/"}},
        "invocations": [_invocation(report)],
        "results": results,
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _driver() -> Node:
    return {"name": "reenact", "version": VERSION, "rules": [_rule(*each) for each in RULES]}


def _rule(finding: type[Finding], name: str, words: str) -> Node:
    return {
        "id": f"reenact/{finding.kind}",
        "name": name,
        "shortDescription": {"text": f"{words}."},
        "help": {"text": "See docs/reference/races.md of reenact."},
        "defaultConfiguration": {"level": finding.level},
    }


def _invocation(report: Report) -> Node:
    """What was out of control is a notification: a service then knows that results may miss."""
    notes = [{"level": "warning", "message": {"text": each}} for each in report.reasons]
    return {"executionSuccessful": not report.reasons, "toolExecutionNotifications": notes}


def _result(finding: Finding, suppressed: Suppressed | None, sources: Sources) -> Node:
    rule = next(number for number, each in enumerate(RULES) if isinstance(finding, each[0]))
    first, *others = _locations(finding, sources)
    result = {
        "ruleId": f"reenact/{finding.kind}",
        "ruleIndex": rule,
        "level": finding.level,
        "message": {"text": f"{_sentence(finding)}. {finding.advice}".strip()},
        "locations": [first],
        "relatedLocations": [{**each, "id": number} for number, each in enumerate(others, 1)],
        "codeFlows": [{"threadFlows": _flows(finding, sources)}],
        "partialFingerprints": {"reenact/v1": finding.key},
        "occurrenceCount": getattr(finding, "count", 1),
        "properties": _properties(finding),
    }
    if suppressed is not None:
        result["suppressions"] = [_suppression(suppressed)]
    return result


def _sentence(finding: Finding) -> str:
    title = finding.title
    return title[:1].upper() + title[1:]


def _properties(finding: Finding) -> Node:
    if not isinstance(finding, Race):
        return {}
    return {"variable": finding.called.short, "gil": finding.label}


def _suppression(suppressed: Suppressed) -> Node:
    is_inside = suppressed.how == "comment"
    return {
        "kind": "inSource" if is_inside else "external",
        "status": "accepted",
        "justification": f"{suppressed.how}: {suppressed.why}",
    }


# ---- places ----


def _locations(finding: Finding, sources: Sources) -> list[Node]:
    if isinstance(finding, Race):
        return [_access(each, sources) for each in (finding.second, finding.first)]
    return [_location(place, "", 0) for place in finding.places]


def _access(access: Access, sources: Sources) -> Node:
    place = access.place
    text = sources.line(place.file, place.line)
    column = len(text.encode()[: access.column].decode(errors="ignore")) + 1
    return _location(place, f"{access.mode.replace('_', ' ')} by {access.thread}", column)


def _location(place: Line, words: str, column: int) -> Node:
    region = {"startLine": max(1, place.line)}
    if column:
        region["startColumn"] = column
    physical = {"artifactLocation": _artifact(place.file), "region": region}
    location: Node = {
        "physicalLocation": physical,
        "logicalLocations": [{"fullyQualifiedName": place.function, "kind": "function"}],
    }
    return {**location, "message": {"text": words}} if words else location


def _artifact(file: str) -> Node:
    if file.startswith("/"):
        return {"uri": Path(file).as_uri()}
    return {"uri": quote(file), "uriBaseId": ROOT}


def _flows(finding: Finding, sources: Sources) -> list[Node]:
    return [
        {"id": name, "message": {"text": name}, "locations": _frames(stack)}
        for name, stack in _stacks(finding)
    ]


def _stacks(finding: Finding) -> list[tuple[str, Stack]]:
    if isinstance(finding, Race):
        both = (("earlier", finding.first), ("later", finding.second))
        return [
            (f"{when}, {access.thread}", (access.place, *access.stack[1:])) for when, access in both
        ]
    if isinstance(finding, LockOrder):
        takings = enumerate(finding.takings, 1)
        return [(f"{number}, {each.thread}", each.taken.stack) for number, each in takings]
    if isinstance(finding, HeldWaiting):
        taken = [(f"takes {each.lock.number}", each.stack) for each in finding.held]
        return [*taken, ("waits", finding.stack)]
    assert isinstance(finding, Unreleased)
    return [("taken", finding.held.stack)]


def _frames(stack: Stack) -> list[Node]:
    """At least one is required: a stack that nobody saw is at the beginning of nowhere."""
    lines = their(stack) or (Line("unknown", 1, "unknown"),)
    return [{"location": _location(each, each.function, 0)} for each in reversed(lines)]
