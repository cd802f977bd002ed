"""Findings of the raw document: each pair of lines once, with its names, label and advice.

The core has one entry for each pair of sites. A statement like `x += 1` has two sites on the same
variable, so that one mistake would be told three times: what is on the same two lines, and of the
same name, is one finding here, and counted.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from reenact.analysis import advice, locks, names, reach
from reenact.analysis.findings import Finding, Race, key_of
from reenact.analysis.locking import Locking
from reenact.analysis.raw import Raw, Reader
from reenact.analysis.sources import Sources
from reenact.findings import Line

_OVERFLOW = "there were more threads at once than can be kept apart"


def findings_of(raw: dict[str, Any], root: str | os.PathLike[str]) -> list[Finding]:
    """What a raw document tells, errors first; files are looked for below `root`."""
    return gather(raw, Sources(root))[0]


def gather(
    raw: dict[str, Any], sources: Sources, is_whole: bool = True
) -> tuple[list[Finding], tuple[str, ...]]:
    """The findings, and why there may be more; `is_whole`: the program came to its end."""
    reader = Reader(raw, sources.shown)
    found: list[Finding] = [*_merged(_race(each, sources) for each in reader.races())]
    problems = [_OVERFLOW] if raw["overflow"] else []
    if raw["left_out"]:
        problems.append(f"{raw['left_out']:,} more races were seen than could be kept")
    problems += raw.get("unseen", ())
    if raw.get("locks"):
        about_locks = locks.analyse(raw["locks"], is_whole)
        found += Locking(reader, sources).findings(about_locks)
        problems += about_locks.problems
    return sorted(found, key=order), tuple(problems)


def order(finding: Finding) -> tuple[bool, str, str, list[tuple[str, int]]]:
    """What is about the same variable comes together."""
    places = [(place.file, place.line) for place in finding.places]
    return finding.level != "error", finding.kind, finding.subject, places


def _race(raw: Raw, sources: Sources) -> Race:
    first, second = raw.first, raw.second
    called = names.call_it(raw.variable, (first, second), sources)
    return Race(
        key=key_of("race", called.short, [_site(each.place, sources) for each in (first, second)]),
        advice=advice.advise(raw.variable, first, second),
        variable=raw.variable,
        called=called,
        first=first,
        second=second,
        label=reach.label_of(first, second, sources),
        count=raw.count,
    )


def _site(place: Line, sources: Sources) -> tuple[Line, str]:
    return place, sources.line(place.file, place.line).strip()


def _merged(races: Iterable[Race]) -> list[Race]:
    """Of those on the same lines the first is kept, or rather the first that matters most."""
    found: dict[tuple[str, frozenset[tuple[str, int]]], Race] = {}
    for race in races:
        lines = frozenset((place.file, place.line) for place in race.places)
        before = found.setdefault((race.called.short, lines), race)
        if before is race:
            continue
        worse = min(before, race, key=_harm)
        found[race.called.short, lines] = replace(worse, count=before.count + race.count)
    return list(found.values())


def _harm(race: Race) -> int:
    return ("reachable with the GIL", "unknown", "free-threaded only").index(race.label)
