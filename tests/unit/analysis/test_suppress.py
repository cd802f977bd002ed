"""Findings that are let be: by comment, by configuration, by a baseline; and all are counted."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from reenact.analysis import baseline, findings_of
from reenact.analysis.report import Report, report_of
from reenact.errors import UsageError

from .raws import Program, document, race, variable

SOURCE = """\
class Stats:
    def one(self):
        self.hits = 1{same}
{above}        self.hits = (
            self.misses){below}
        self.hits = 3

    def two(self):
        if self.hits:{head}
            self.hits = 4{inner}
        text = "# reenact: benign"; self.hits = 5
"""
COMMENT = "  # reenact: benign"


def app(root: Path, **comments: str) -> Program:
    places = ("same", "above", "below", "head", "inner")
    return Program(root, SOURCE.format(**dict.fromkeys(places, "") | comments))


def raw(app: Program, first: str, second: str = "self.hits = 3", name: str = "hits") -> Any:
    of = variable("attribute", name, "Stats")
    return document(race(of, app.access(first), app.access(second)))


def how(report: Report) -> list[tuple[str, str]]:
    return [(each.how, each.why) for each in report.suppressed]


@pytest.mark.parametrize(
    ("where", "comment", "text", "line"),
    [
        ("same", COMMENT, "self.hits = 1", 3),
        ("same", "  #reenact:benign, for it is a statistic", "self.hits = 1", 3),
        ("above", "        # reenact: benign\n", "self.misses", 4),
        ("below", COMMENT, "self.misses", 5),
        ("head", COMMENT, "if self.hits", 9),
    ],
)
@pytest.mark.parametrize("is_first", [True, False])
def test_a_comment(
    tmp_path: Path, where: str, comment: str, text: str, line: int, is_first: bool
) -> None:
    program = app(tmp_path, **{where: comment})
    both = (text, "self.hits = 3")
    report = report_of(raw(program, *(both if is_first else both[::-1])), tmp_path)
    assert (report.findings, how(report)) == ((), [("comment", f"app.py:{line}")])
    assert report.verdict == "none"


@pytest.mark.parametrize(
    ("where", "comment", "text"),
    [
        ("same", "  # benign", "self.hits = 1"),
        ("same", "  # reenact: benignant", "self.hits = 1"),
        ("same", COMMENT, "self.misses"),  # behind another statement, on the line above
        ("inner", COMMENT, "if self.hits"),
        ("head", COMMENT, "self.hits = 4"),
        ("same", "", "self.hits = 5"),  # a text is no comment
    ],
)
def test_comments_about_something_else(tmp_path: Path, where: str, comment: str, text: str) -> None:
    report = report_of(raw(app(tmp_path, **{where: comment}), text), tmp_path)
    assert (len(report.findings), report.suppressed) == (1, ())
    assert report.verdict == "found"


@pytest.mark.parametrize(
    "entry", ["Stats.hits", "Stats.*", "hits", "app.py", "./*.py", "*/app.py", "lib/../app.py"]
)
def test_configuration(tmp_path: Path, entry: str) -> None:
    report = report_of(raw(app(tmp_path), "self.hits = 1"), tmp_path, ignored=[entry])
    is_meant = entry in ("Stats.hits", "Stats.*", "hits", "app.py")
    assert how(report) == ([("configuration", entry)] if is_meant else [])
    assert len(report.findings) == (not is_meant)


@pytest.mark.parametrize("entry", ["Stats", "hit", "Stats.misses", "Account.hits", "stats.hits"])
def test_configuration_about_something_else(tmp_path: Path, entry: str) -> None:
    assert report_of(raw(app(tmp_path), "self.hits = 1"), tmp_path, ignored=[entry]).findings


def test_files_below_a_directory(tmp_path: Path) -> None:
    program = Program(
        tmp_path, SOURCE.format(same="", above="", below="", head="", inner=""), "app/x/stats.py"
    )
    found = raw(program, "self.hits = 1")
    for entry, is_meant in (("app/*", True), ("app/x/stats.py", True), ("x/stats.py", False)):
        assert bool(report_of(found, tmp_path, ignored=[entry]).suppressed) == is_meant


def test_a_baseline_goes_round(tmp_path: Path) -> None:
    program = app(tmp_path)
    found = raw(program, "self.hits = 1")
    path = tmp_path / "races.json"
    assert baseline.write(path, findings_of(found, tmp_path), {}) == 1
    known = baseline.read(path)
    report = report_of(found, tmp_path, known=known)
    assert [each[0] for each in how(report)] == ["baseline"]

    moved = app(tmp_path, above="\n        # something else\n")
    assert not report_of(raw(moved, "self.hits = 1"), tmp_path, known=known).findings
    new = report_of(raw(moved, "self.hits = 4"), tmp_path, known=known)
    assert (len(new.findings), new.suppressed) == (1, ())


def test_what_a_baseline_says_to_its_readers(tmp_path: Path) -> None:
    program = app(tmp_path)
    path = tmp_path / "races.json"
    baseline.write(path, findings_of(raw(program, "self.hits = 1"), tmp_path), {})
    (entry,) = json.loads(path.read_text())["findings"]
    assert entry.pop("key")
    assert entry == {"kind": "race", "what": "Stats.hits", "where": ["app.py in work"] * 2}


def test_a_baseline_keeps_what_was_known_before(tmp_path: Path) -> None:
    program = app(tmp_path)
    path = tmp_path / "races.json"
    baseline.write(path, findings_of(raw(program, "self.hits = 1"), tmp_path), {})
    before = baseline.read(path)
    again = findings_of(raw(program, "self.hits = 4"), tmp_path)
    assert baseline.write(path, again, before) == 2
    assert set(baseline.read(path)) == {*before, again[0].key}
    first = path.read_bytes()
    baseline.write(path, reversed(again), baseline.read(path))
    assert path.read_bytes() == first


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"version": 1, "findings": [1]}', '{"version": 2, "findings": []}', "\xff"],
)
def test_what_is_no_baseline_is_said(tmp_path: Path, text: str) -> None:
    path = tmp_path / "races.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(UsageError) as caught:
        baseline.read(path)
    assert str(path) in str(caught.value) and "--write-baseline" in str(caught.value)


def test_a_baseline_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        baseline.read(tmp_path / "none.json")


def ways(report: Report) -> Sequence[str]:
    return [each.how for each in report.suppressed]


def test_each_way_comes_before_the_next(tmp_path: Path) -> None:
    program = app(tmp_path, same=COMMENT)
    found = raw(program, "self.hits = 1")
    known = {each.key for each in findings_of(found, tmp_path)}
    assert ways(report_of(found, tmp_path, ignored=["hits"], known=known)) == ["comment"]
    found = raw(program, "self.hits = 4")
    known = {each.key for each in findings_of(found, tmp_path)}
    assert ways(report_of(found, tmp_path, ignored=["hits"], known=known)) == ["configuration"]
