"""What happens at a failure: the epoch is run again, and told; perhaps somebody looks further."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Literal

from reenact.analysis.report import report_of
from reenact.analysis.text import Row
from reenact.debug.process import Reason
from reenact.debug.terminal import loop
from reenact.debug.terminal.session import Given, Session
from reenact.debug.traveller import TravelError, Traveller
from reenact.errors import ReenactError
from reenact.guard import report
from reenact.guard.epoch import EpochTraveller
from reenact.guard.keeper import Failure
from reenact.recordings.reader import Recording

OnFailure = Literal["stop", "continue", "debug"]
Show = Callable[[Iterable[Row]], None]


def handle(failure: Failure, on_failure: OnFailure, show: Show) -> bool:
    """Look, and say whether the program is to go on."""
    sys.stdout.flush()
    recording = Recording.open(failure.directory)
    try:
        with EpochTraveller(
            recording,
            frozen=failure.frozen,
            until=failure.step,
            is_failure=failure.reason is Reason.PLACE,
        ) as traveller:
            session = _open(traveller, recording)
            if failure.damages:
                show(report.memory(failure, session))
            else:
                show(report.rows(failure, session, tries=1))
            if on_failure == "debug":
                loop.run(session, show, _typed(session))
    except (ReenactError, OSError) as error:
        show([[("red", f"FAILED: {failure.text}")], [("yellow", f"not run again: {error}")]])
    return on_failure != "stop"


def _open(traveller: Traveller, recording: Recording) -> Session:
    def races() -> object:
        return report_of(traveller.races(), recording.header.cwd, is_whole=False)

    def events(first: int, last: int) -> object:
        raise TravelError("events are told of recordings, not of epochs")

    session = Session(traveller, Given(events, races, "it has failed"))  # type: ignore[arg-type]
    traveller.open()
    session.select(traveller.stop.thread)
    return session


def _typed(session: Session) -> Iterable[str]:
    if sys.stdin.isatty():
        return loop.asked(session, None)
    return loop.given(session, sys.stdin, print)
