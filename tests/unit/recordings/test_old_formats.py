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
