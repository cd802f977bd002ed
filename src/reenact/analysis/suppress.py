"""Findings that somebody has looked at and let be: by a comment, by configuration, by a baseline.

A comment `# reenact: benign` stands on a line of the statement of one of the places, or alone on
the line above it. Configuration names files or variables (`races.ignore`). The first of the three
that holds is the one that is told. Suppressed findings are counted, never silently dropped.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal

from reenact.analysis.findings import Finding
from reenact.analysis.sources import Sources, head_of
from reenact.findings import Line

How = Literal["comment", "configuration", "baseline"]
_BENIGN = re.compile(r"#\s*reenact:\s*benign\b")


@dataclass(frozen=True, slots=True)
class Suppressed:
    """`why` names the place of the comment, the entry, or the baseline's key."""

    finding: Finding
    how: How
    why: str


def sift(
    findings: Sequence[Finding], sources: Sources, ignored: Sequence[str], known: Collection[str]
) -> tuple[list[Finding], list[Suppressed]]:
    """What is left to tell, and what is suppressed; `known` are keys of a baseline."""
    left, suppressed = [], []
    for finding in findings:
        reason = _reason(finding, sources, ignored, known)
        if reason is None:
            left.append(finding)
        else:
            suppressed.append(reason)
    return left, suppressed


def _reason(
    finding: Finding, sources: Sources, ignored: Sequence[str], known: Collection[str]
) -> Suppressed | None:
    for place in finding.places:
        line = _comment(place, sources)
        if line:
            return Suppressed(finding, "comment", f"{place.file}:{line}")
    for entry in ignored:
        if _is_meant(entry, finding):
            return Suppressed(finding, "configuration", entry)
    if finding.key in known:
        return Suppressed(finding, "baseline", finding.key)
    return None


def _comment(place: Line, sources: Sources) -> int:
    """The line of a comment that is about a place; 0 if there is none."""
    benign = [line for line, text in sources.comments(place.file).items() if _BENIGN.match(text)]
    if not benign:
        return 0
    statement = sources.statement(place.file, place.line)
    own = range(place.line, place.line + 1) if statement is None else head_of(statement)
    for line in benign:
        is_alone = sources.line(place.file, line).lstrip().startswith("#")
        if line in own or line == place.line or (is_alone and line in (own[0] - 1, place.line - 1)):
            return line
    return 0


def _is_meant(entry: str, finding: Finding) -> bool:
    """An entry with a slash, or of a Python file, is about files; any other about variables."""
    if "/" in entry or entry.endswith(".py"):
        return any(fnmatchcase(place.file, entry) for place in finding.places)
    subject = finding.subject
    return fnmatchcase(subject, entry) or fnmatchcase(subject.rpartition(".")[2], entry)
