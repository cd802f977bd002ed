"""Baselines: findings of a project that were known when it began to look for them.

A JSON file, to be kept beside the sources: `version`, and `findings` with the key of each and, for
those who read it, what it is and where it was. Only keys count. Lines are sorted, so that changes
of it can be reviewed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from reenact.analysis.findings import Finding
from reenact.errors import UsageError

VERSION = 1
Entry = dict[str, Any]


def read(path: str | os.PathLike[str]) -> dict[str, Entry]:
    """Entries by key; a file that is no baseline is an error of whoever named it."""
    try:
        document = json.loads(Path(path).read_text("utf-8"))
    except OSError as error:
        raise _unusable(path, f"it cannot be read: {error.strerror}") from None
    except ValueError:
        raise _unusable(path, "it is not JSON") from None
    try:
        version, entries = document["version"], document["findings"]
        known = {str(each["key"]): dict(each) for each in entries}
    except (TypeError, KeyError, ValueError):
        raise _unusable(path, "it is not a baseline") from None
    if version != VERSION:
        raise _unusable(path, f"it is a baseline of version {version}, and not {VERSION}")
    return known


def write(
    path: str | os.PathLike[str], findings: Iterable[Finding], before: dict[str, Entry]
) -> int:
    """Leave what was found, and what was known `before`: not every run meets everything.

    Returns the number of entries.
    """
    entries = {**before, **{each.key: _entry(each) for each in findings}}
    listed = sorted(entries.values(), key=lambda each: (each.get("where", []), each["key"]))
    document = {"version": VERSION, "findings": listed}
    Path(path).write_text(json.dumps(document, indent=2) + "\n", "utf-8")
    return len(listed)


def _entry(finding: Finding) -> Entry:
    """No addresses, and no numbers of lines: they would change without need."""
    where = sorted(f"{place.file} in {place.function}" for place in finding.places)
    what = finding.subject or finding.kind
    return {"key": finding.key, "kind": finding.kind, "what": what, "where": where}


def _unusable(path: str | os.PathLike[str], what: str) -> UsageError:
    return UsageError(
        what, where=os.fspath(path), advice="Write a new one with --write-baseline PATH."
    )
