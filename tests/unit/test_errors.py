"""Every error says where, what and what to do, and its slug is documented."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from reenact import errors

MESSAGES = Path(__file__).parents[2] / "docs" / "messages.md"


def test_every_slug_is_documented() -> None:
    documented = set(re.findall(r"^## `([a-z-]+)`", MESSAGES.read_text(), re.MULTILINE))
    assert documented == set(errors.slugs())


def test_slugs_covers_every_class() -> None:
    classes = {each for each in vars(errors).values() if isinstance(each, type)}
    named = {each.slug for each in classes if issubclass(each, BaseException)}
    assert named - {"error"} <= set(errors.slugs())


@pytest.mark.parametrize("fault", errors.RecordingError.advices)
def test_a_recording_error_carries_its_fields(fault: errors.Fault) -> None:
    error = errors.RecordingError("run.reenact", fault, "it is odd")
    assert (error.path, error.fault, error.reason) == ("run.reenact", fault, "it is odd")
    advice = errors.RecordingError.advices[fault]
    assert str(error) == f"run.reenact: it is odd. {advice} [recording-{fault}]"


def test_a_divergence_carries_its_report() -> None:
    error = errors.Divergence(reason="operation", step=7, thread="0.1", report="diverged at step 7")
    assert "diverged at step 7" in str(error)
    assert (error.reason, error.step, error.thread) == ("operation", 7, "0.1")


def test_abortion_passes_by_except_exception() -> None:
    assert not issubclass(errors.ExecutionAborted, Exception)


def test_an_internal_error_is_called_a_bug() -> None:
    assert "bug in reenact" in str(errors.InternalError("the baton is held twice"))
