"""Recordings of earlier formats, stored in tests/recordings: what becomes of each."""

from __future__ import annotations

from pathlib import Path

import pytest

from reenact.errors import RecordingError
from reenact.recordings.reader import Recording

STORED = Path(__file__).parents[2] / "recordings"


def test_format_1_is_refused_with_what_to_do() -> None:
    with pytest.raises(RecordingError) as caught:
        Recording.open(STORED / "format-1.reenact")
    assert caught.value.fault == "older"
    assert "format 1" in str(caught.value) and "Record again" in str(caught.value)


def test_format_2_is_read() -> None:
    recording = Recording.open(STORED / "format-2.reenact")
    assert (recording.header.format, recording.header.engine) == (2, "serial")
    assert (recording.last_step, recording.thread_count) == (153, 3)
    assert len(list(recording.events())) == recording.operation_count == 135
    assert b"".join(recording.output(1)).startswith(b"a 0\na 1\n")
    assert recording.problems == ()
