"""What the documentation says of races is tried: the transcript, the fields, the labels."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from reenact.analysis import sarif, text
from reenact.analysis.report import Report, report_of
from reenact.analysis.sources import Sources
from tests.docs.transcripts import difference, shown
from tests.unit.analysis.raws import Program, document, race, variable
from tests.unit.analysis.test_report import SOURCE, others, raw

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs/reference/races.md"
EXPLANATION = ROOT / "docs/races.md"


def test_the_race_of_the_bank_is_told_as_shown(tmp_path: Path) -> None:
    shutil.copy(ROOT / "examples/bank.py", tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "reenact", "races", "bank.py"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    (expected,) = shown(REFERENCE, "cd examples; reenact races bank.py")
    assert difference(expected, done.stdout) == ""


def names(value: Any) -> set[str]:
    """All names of fields, at any depth."""
    if isinstance(value, dict):
        return set(value).union(*map(names, value.values()))
    return set().union(*map(names, value)) if isinstance(value, list) else set()


def test_every_field_is_in_the_reference(tmp_path: Path) -> None:
    app = Program(tmp_path, SOURCE)
    found = report_of(raw(app), tmp_path, ignored=["balance"])
    report = Report(Sources(tmp_path), others(tmp_path), found.suppressed)
    page = REFERENCE.read_text("utf-8")
    told = set(re.findall(r"`([a-z_]+)`", page))
    assert names(report.as_dict()) - told == set()


def test_every_mode_and_every_kind_is_in_the_reference() -> None:
    told = set(re.findall(r"`([a-z_-]+)`", REFERENCE.read_text("utf-8")))
    assert set(text._DOES) <= told
    assert {finding.kind for finding, *_ in sarif.RULES} <= told
    assert f"At most {text.MOST} findings" in REFERENCE.read_text("utf-8")


def test_the_table_of_updates_is_right(tmp_path: Path) -> None:
    rows = re.findall(r"^\| (`.*?`) \| (yes|no)\b", EXPLANATION.read_text("utf-8"), re.MULTILINE)
    statements = [(each, word) for cell, word in rows for each in re.findall("`(.*?)`", cell)]
    assert len(statements) == 11
    for statement, word in statements:
        source = f"async def work():\n    global x, d\n    {statement}\n"
        app = Program(tmp_path, source)
        item = statement.startswith("d[")
        target = app.access(statement, kind="i" if item else "", writes=True)
        (found,) = report_of(
            document(race(variable("global", "x", "app"), target, target)), tmp_path
        ).findings
        label = "free-threaded only" if word == "yes" else "reachable with the GIL"
        assert found.label == label, statement  # type: ignore[attr-defined]
