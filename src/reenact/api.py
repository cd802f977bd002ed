"""The functions of the public API that are more than a name: see `reenact.__init__`."""

from __future__ import annotations

import os

from reenact.engine import convert, report
from reenact.engine import replay as engine
from reenact.errors import Divergence
from reenact.recordings.outcome import Outcome
from reenact.recordings.reader import Recording


def replay(path: str | os.PathLike[str]) -> int:
    """Replay a recording in a process of its own; returns the program's exit code.

    Raises `Divergence` if the replay did not do what was recorded, and `RecordingError` if the
    recording cannot be used.
    """
    with convert.opened(path) as recording:
        return _replay(recording)


def _replay(recording: Recording) -> int:
    before = os.getcwd()
    try:
        result = engine.replay(recording)
    finally:
        os.chdir(before)
    if result.has_diverged:
        outcome = result.outcome or Outcome(reason="output", step=result.last_step)
        raise Divergence(
            reason=outcome.reason,
            step=outcome.step,
            thread=recording.thread_path(outcome.thread) if outcome.thread >= 0 else "",
            report="\n".join(report.replayed(recording, result)),
        )
    return result.ended.exit_code
