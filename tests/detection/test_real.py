"""Bugs of released packages: `reenact explore` finds each, and does not report the cured release.

Packages are installed once, pinned, below `build/real`. On Python 3.11 only: that is what the
pinned releases run on. A test whose packages cannot be installed is skipped, and says so.
`REENACT_FULL=1` runs what takes long, too.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.detection.real.table import REAL_BUGS, RealBug

ROOT = Path(__file__).parents[2]
PLACE = ROOT / "build" / "real"
KINDS = {"hang": ("deadlock",), "assertion": ("assertion", "exception")}
SLOW = ("aiohttp_limit", "rpyc_reply")  # nothing happens in them for seconds before it is a hang
IS_FULL = os.environ.get("REENACT_FULL") == "1"

pytestmark = pytest.mark.skipif(
    sys.version_info[:2] != (3, 11), reason="the pinned releases of the packages are for 3.11"
)


def installed(bug: RealBug, packages: tuple[str, ...]) -> str:
    """The directory in which the packages are, "" if they are of the standard library."""
    if not packages:
        return ""
    name = hashlib.sha256(" ".join(packages).encode()).hexdigest()[:8]
    place = PLACE / f"{bug.name}-{name}"
    if not (place / "complete").exists():
        pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(place)]
        done = subprocess.run(
            [*pip, *packages], capture_output=True, text=True, timeout=240, check=False
        )
        if done.returncode != 0:
            last = (done.stderr.strip() or "pip failed").splitlines()[-1]
            pytest.skip(f"{' '.join(packages)} could not be installed: {last}")
        (place / "complete").touch()
    return str(place)


def told(
    bug: RealBug, packages: tuple[str, ...], *words: str, place: Path | None = None
) -> dict[str, Any]:
    """What a command of reenact says of the program with these packages, as JSON."""
    paths = [installed(bug, packages), os.environ.get("PYTHONPATH", "")]
    options = ("--instrument", bug.instrument, "--json")
    done = subprocess.run(
        [sys.executable, "-m", "reenact", *words, *options, str(bug.path)],
        cwd=place,
        env={**os.environ, "PYTHONPATH": ":".join(path for path in paths if path)},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.stdout, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def explored(bug: RealBug, packages: tuple[str, ...], place: Path, runs: int) -> dict[str, Any]:
    options = ("--runs", str(runs), "--shrink", "10")
    return told(bug, packages, "explore", *options, place=place)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("bug", REAL_BUGS, ids=lambda bug: bug.name)
def test_the_bug_is_found(bug: RealBug, tmp_path: Path) -> None:
    if bug.name in SLOW and not IS_FULL:
        pytest.skip("takes long: set REENACT_FULL=1")
    result = explored(bug, bug.buggy, tmp_path, 2000)
    assert result["verdict"] == "failed", result["reasons"]
    assert result["failure"]["kind"] in KINDS.get(bug.kind, (bug.kind,)), result["failure"]


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "bug", [bug for bug in REAL_BUGS if bug.fixed is not None], ids=lambda bug: bug.name
)
def test_the_cured_release_is_not_reported(bug: RealBug, tmp_path: Path) -> None:
    assert bug.fixed is not None
    if bug.name == "aiohttp_limit" and not IS_FULL:
        pytest.skip("takes long: set REENACT_FULL=1")
    result = explored(bug, bug.fixed, tmp_path, 60)
    assert result["verdict"] != "failed", result["failure"]
    assert result["coverage"]["runs"] > 0
