"""Looking for races: in a run of a program, or in a replay of a recording.

Both give the *raw findings* of `engine/detecting.py`; what they mean to people is told by
`reenact.analysis`. A replay runs with the sites of accesses put in, which are no points: it stays
in step with a recording that was made without them.
"""

from __future__ import annotations

import marshal
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from reenact.engine import launch, record, replay
from reenact.engine.launch import Choices, Ended, Program
from reenact.instrument.loader import ON_TRUST, RACES, UNKEPT
from reenact.recordings import format
from reenact.recordings.reader import Recording

FINDINGS = "findings"


@dataclass(frozen=True, slots=True)
class Looked:
    """What came of it: `raw` is None if the process ended without a word."""

    raw: dict[str, Any] | None
    ended: Ended
    notes: tuple[str, ...] = ()  # what was not under control


def live(
    program: Program,
    choices: Choices,
    sample: float = 1.0,
    path: Path | None = None,
    is_heuristic: bool = False,
) -> Looked:
    """Run a program, and look for races meanwhile; with a *path*, leave a recording there, which
    says nothing of the detector: it is replayed as if there had been none."""
    with _directory(path) as directory:
        head = record.header(program, choices)
        (directory / format.HEADER).write_text(head.to_json(), "utf-8")
        started = time.monotonic()
        looked_at = _with_detector(program, sample, is_heuristic, is_kept=path is not None)
        ended = launch.run(record.to_record(looked_at, choices, directory))
        raw = _raw(directory)
        notes = tuple(note.kind for note in Recording.open(directory).notes())
        if path is not None:
            (directory / FINDINGS).unlink(missing_ok=True)
            record.keep(directory, path, ended, time.monotonic() - started)
        return Looked(raw, ended, notes)


@contextmanager
def _directory(path: Path | None) -> Iterator[Path]:
    if path is None:
        with tempfile.TemporaryDirectory(prefix="reenact-") as name:
            yield Path(name)
    else:
        directory = record.directory_of(path)
        directory.mkdir(mode=0o700, parents=True)
        yield directory


def over(
    recording: Recording, sample: float = 1.0, is_heuristic: bool = False
) -> tuple[Looked, replay.Replayed]:
    """Replay a recording, and look for races meanwhile."""
    raw: list[dict[str, Any] | None] = []
    replayed = replay.replay(
        recording,
        change=lambda program: _with_detector(program, sample, is_heuristic),
        look=lambda directory: raw.append(_raw(directory)),
    )
    notes = tuple(note.kind for note in recording.notes())
    return Looked(raw[0], replayed.ended, notes), replayed


def _with_detector(
    program: Program, sample: float, is_heuristic: bool, is_kept: bool = True
) -> Program:
    seed = int.from_bytes(os.urandom(4), "little") if sample < 1 else 0
    marks = [f"{RACES}{sample:g}:{seed}", *([ON_TRUST] if is_heuristic else [])]
    marks += [] if is_kept else [UNKEPT]
    return replace(program, packages=(*(program.packages or ()), *marks))


def _raw(directory: Path) -> dict[str, Any] | None:
    """None if there is none, or it was not written to its end."""
    try:
        found: dict[str, Any] = marshal.loads((directory / FINDINGS).read_bytes())
    except (OSError, EOFError, ValueError, TypeError):
        return None
    return found
