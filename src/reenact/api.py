"""The functions of the public API that are more than a name: see `reenact.__init__`."""

from __future__ import annotations

import os

from reenact.engine import tries
from reenact.errors import Divergence
from reenact.recordings.outcome import Outcome
from reenact.recordings.reader import Recording


def replay(path: str | os.PathLike[str]) -> int:
    """Replay a recording in a process of its own; returns the program's exit code.

    Raises `Divergence` if the replay did not do what was recorded, and `RecordingError` if the
    recording cannot be used.
    """
    recording = Recording.open(path)
    before = os.getcwd()
    try:
        tried = tries.replayed(recording)
    finally:
        os.chdir(before)
    result = tried.result
    if result.has_diverged:
        outcome = result.outcome or Outcome(reason="output", step=result.last_step)
        raise Divergence(
            reason=outcome.reason,
            step=outcome.step,
            thread=recording.thread_path(outcome.thread) if outcome.thread >= 0 else "",
            report="\n".join(tried.words),
        )
    return result.ended.exit_code
