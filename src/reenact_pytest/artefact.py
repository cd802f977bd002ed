"""A failure kept in a file, for `--reenact-replay`. docs/reference/pytest.md has the fields."""

from __future__ import annotations

import hashlib
import json
import platform
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from reenact.explore.runs import PATIENCE_S, Settings
from reenact.findings import Failure
from reenact.strategies.searching import Switch

FORMAT = 1
DIRECTORY = ".reenact"


@dataclass(frozen=True, slots=True)
class Artefact:
    test: str
    points: str
    switches: tuple[Switch, ...]
    failure: Failure
    ignored: tuple[str, ...] = ()
    instrument: tuple[str, ...] = ()
    schedule: str = ""
    patience: float = PATIENCE_S
    python: str = platform.python_version()

    @property
    def settings(self) -> Settings:
        """How the run that failed was made."""
        points: Any = self.points
        return Settings(
            points, self.instrument, patience_s=self.patience, ignored=frozenset(self.ignored)
        )

    def as_dict(self) -> dict[str, Any]:
        return {
            "reenact_pytest": FORMAT,
            "test": self.test,
            "python": self.python,
            "points": self.points,
            "instrument": list(self.instrument),
            "patience": self.patience,
            "ignored": list(self.ignored),
            "switches": [list(switch) for switch in self.switches],
            "schedule": self.schedule,
            "failure": self.failure.as_dict(),
        }

    def save(self, root: Path) -> Path:
        """The same schedule of the same test has the same name."""
        directory = root / DIRECTORY
        directory.mkdir(exist_ok=True)
        ignore = directory / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n", "utf-8")
        identity = json.dumps([self.test, self.switches]).encode()
        digest = hashlib.sha256(identity).hexdigest()[:8]
        name = re.sub(r"[^\w.-]+", "_", self.test)[-100:].lstrip("_")
        path = directory / f"{name}-{digest}.json"
        path.write_text(json.dumps(self.as_dict(), indent=1) + "\n", "utf-8")
        return path


def load(path: str) -> Artefact:
    try:
        fields = json.loads(Path(path).read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise pytest.UsageError(f"--reenact-replay: {path} cannot be read: {error}") from None
    if not isinstance(fields, dict) or fields.get("reenact_pytest") != FORMAT:
        raise pytest.UsageError(f"--reenact-replay: {path} is no failure that this version knows")
    try:
        return Artefact(
            fields["test"],
            fields["points"],
            tuple(Switch(*switch) for switch in fields["switches"]),
            Failure.from_dict(fields["failure"]),
            tuple(fields["ignored"]),
            tuple(fields["instrument"]),
            fields["schedule"],
            fields.get("patience", PATIENCE_S),  # older ones do not say
            fields["python"],
        )
    except (KeyError, TypeError) as error:
        raise pytest.UsageError(f"--reenact-replay: {path} is damaged: {error!r}") from None
