"""What becomes of a program when its failure cannot be looked at."""

from __future__ import annotations

from pathlib import Path

import pytest

from reenact.debug.process import Reason
from reenact.errors import ReenactError
from reenact.guard import failing
from reenact.guard.failing import Looker
from reenact.guard.keeper import Failure


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ReenactError("it was lost"), "not looked at: it was lost"),
        (KeyError("ours"), "not looked at: internal error: KeyError: 'ours'"),
    ],
)
def test_a_program_that_is_to_go_on_does_so(
    error: Exception, told: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fails(*unused: object) -> None:
        raise error

    shown: list[str] = []
    monkeypatch.setattr(failing.Recording, "open", lambda directory: None)
    monkeypatch.setattr(failing, "run_again", fails)
    looker = Looker(
        "continue", lambda rows: shown.extend("".join(text for _, text in row) for row in rows)
    )
    failure = Failure("ValueError: x", 5, 0, Reason.PLACE, None, tmp_path, 0)
    assert looker.handle(failure)
    assert shown[0] == "FAILED: ValueError: x"
    assert shown[1].startswith(told)
