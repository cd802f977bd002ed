"""Races and cycles of locks as failures of a search: which findings of a run are one.

A run of a search that is to find races has the detector on. What it saw, the *raw findings*, is
judged here, in the process that searches: findings that are suppressed - by comment, configuration
or baseline - are none, and neither are warnings. A failure is told as `reenact races` tells it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from reenact import config
from reenact.analysis import baseline, text
from reenact.analysis.findings import Finding, Label, LockOrder, Race
from reenact.analysis.report import Report, report_of
from reenact.analysis.sources import Sources
from reenact.errors import UsageError
from reenact.findings import Failure

KINDS = ("races",)  # what a search can be asked to find, besides what it finds anyway
_HARM: tuple[Label, ...] = ("reachable with the GIL", "unknown", "free-threaded only")
_Key = tuple[object, ...]


class Judge:
    """Judges what runs saw; `ignored` are entries of the configuration, `known` a baseline's keys.

    Files are told relative to `root`. What is suppressed once is known from then on, so that it
    costs nothing in the runs to come.
    """

    def __init__(
        self, root: str | os.PathLike[str], ignored: Sequence[str] = (), known: Iterable[str] = ()
    ) -> None:
        self.root = os.path.abspath(root)
        self.ignored = tuple(ignored)
        self.known = frozenset(known)
        self._sources = Sources(self.root)
        self._benign: set[_Key] = set()

    def as_dict(self) -> dict[str, Any]:
        """What another process needs to make one that judges alike."""
        return {"root": self.root, "ignored": list(self.ignored), "known": sorted(self.known)}

    def report(self, raw: dict[str, Any], is_whole: bool = True) -> Report:
        """`is_whole`: the run came to its end, and was not given up."""
        return report_of(
            raw,
            self.root,
            ignored=self.ignored,
            known=self.known,
            is_whole=is_whole,
            sources=self._sources,
        )

    def failure_of(self, raw: dict[str, Any], paths: Sequence[str] = ()) -> Failure | None:
        """The failure that a run is for what it saw; `paths` are those of its threads."""
        keys = {*map(_key, raw["races"]), *_lock_keys(raw.get("locks"))}
        if keys <= self._benign:
            return None
        report = self.report(raw)
        worst = worst_of(report)
        if worst is None:
            self._benign |= keys
            return None
        count = sum(each.level == "error" for each in report.findings)
        return Failure(
            "race" if isinstance(worst, Race) else "lock-order",
            f"{_summary(worst)}{f', and {count - 1} more' if count > 1 else ''}",
            _thread(worst, paths),
            told(report),
        )

    def tell(self, raw: dict[str, Any]) -> tuple[str, str, dict[str, Any]]:
        """What was seen as text, its label, and the same in its parts."""
        report = self.report(raw)
        return told(report), label_of(report), report.as_dict()


def judge_of(
    find: Sequence[str], points: str, known_in: str | os.PathLike[str] | None, root: Path
) -> Judge | None:
    """For what a search is asked to find; None if that is nothing for us. Says what is wrong."""
    for name in find:
        if name not in KINDS:
            raise UsageError(f"nothing called {name!r} can be found", advice="Use races.")
    if not find:
        if known_in is not None:
            raise UsageError(
                "a baseline is for races", advice="Look for them, or leave out the baseline."
            )
        return None
    if points != "accesses":
        raise UsageError(
            f"races are found at accesses, and points are {points!r}",
            advice="Use accesses as points.",
        )
    known = () if known_in is None else baseline.read(known_in)
    return Judge(root, ignored_in(root), known)


def ignored_in(directory: Path) -> tuple[str, ...]:
    """What the nearest pyproject.toml says under races.ignore."""
    path = config.find(directory)
    return () if path is None else config.settle({}, config.read(path)).ignored


def worst_of(report: Report) -> Finding | None:
    """The error that matters most, of those that nobody has let be."""
    errors = [each for each in report.findings if each.level == "error"]
    return min(errors, key=harm, default=None)


def label_of(report: Report) -> str:
    """Of the worst: a cycle of locks can be run into with the GIL, too."""
    worst = worst_of(report)
    if worst is None:
        return ""
    return worst.label if isinstance(worst, Race) else _HARM[0]


def told(report: Report) -> str:
    return text.plain(report).rstrip()


def harm(finding: Finding) -> int:
    """How much it matters; the less, the more."""
    return _HARM.index(finding.label) if isinstance(finding, Race) else 0


def _summary(finding: Finding) -> str:
    """One line that begins alike for what a user would call the same."""
    first, *others = reversed([f"{each.file}:{each.line}" for each in finding.places])
    places = " and ".join([first, *others])
    if isinstance(finding, LockOrder):
        return f"{len(finding.takings)} locks are taken in a cycle: {places}"
    return f"{finding.kind} on {finding.subject}: {places}"


def _thread(finding: Finding, paths: Sequence[str]) -> str:
    """The one that came second, if it is about one."""
    if not isinstance(finding, Race):
        return "0"
    number = finding.second.thread.number
    return paths[number] if number < len(paths) else "?"


def _lock_keys(locks: dict[str, Any] | None) -> list[_Key]:
    """What decides whether there are cycles, and which; it takes two edges to make one."""
    if not locks or len(locks["edges"]) < 2:
        return []
    edges = [{**each, "count": 0} for each in locks["edges"]]
    return [(hash(repr((edges, locks["lives"], locks["stacks"]))),)]


def _key(race: dict[str, Any]) -> _Key:
    """Of a raw race, all that decides whether it is suppressed."""
    variable = race["variable"]
    places = [
        (each["line"], each["column"], each["mode"], *map(tuple, each["stack"][:1]))
        for each in (race["first"], race["second"])
    ]
    return variable["kind"], variable["name"], variable["type"], *places
