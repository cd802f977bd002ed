"""What happens at a failure: the epoch is run again, and told; perhaps somebody looks further."""

from __future__ import annotations

import signal
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from reenact.analysis.report import report_of
from reenact.analysis.text import Row
from reenact.debug.process import Reason
from reenact.debug.terminal import loop
from reenact.debug.terminal.session import Given, Session
from reenact.debug.traveller import TravelError, Traveller
from reenact.engine import record
from reenact.engine.launch import Ended
from reenact.errors import InternalError, ReenactError
from reenact.guard import report
from reenact.guard.again import Again, run_again
from reenact.guard.epoch import EpochTraveller
from reenact.guard.keeper import FATAL, Failure
from reenact.recordings.reader import Recording

OnFailure = Literal["stop", "continue", "debug"]
Show = Callable[[Iterable[Row]], None]


@dataclass
class Looker:
    """Looks at each failure as it comes, and counts the tries that it took to see it again."""

    on_failure: OnFailure
    show: Show
    agreed: Counter[int] = field(default_factory=Counter)  # failures, by the number of tries
    disagreed: int = 0

    def handle(self, failure: Failure) -> bool:
        """Look, and say whether the program is to go on."""
        sys.stdout.flush()
        try:
            self._look(failure, Recording.open(failure.directory))
        except (ReenactError, OSError) as error:
            self._give_up(failure, error)
        except Exception as error:  # of ours: the program must not end of it
            traceback.print_exc()
            self._give_up(failure, InternalError(f"{type(error).__name__}: {error}"))
        return self.on_failure != "stop"

    def _give_up(self, failure: Failure, error: Exception) -> None:
        failed, not_looked = f"FAILED: {failure.text}", f"not looked at: {error}"
        self.show([[("red", failed)], [("yellow", not_looked)]])

    def _look(self, failure: Failure, recording: Recording) -> None:
        again = run_again(failure)
        self.disagreed += bool(again.disagreement)
        self.agreed[again.tries] += not again.disagreement
        with EpochTraveller(
            recording,
            frozen=failure.frozen,
            until=failure.step,
            is_failure=failure.reason is Reason.PLACE,
        ) as traveller:
            session = _open(traveller, recording)
            report_it = report.memory if failure.damages else report.rows
            self.show(report_it(failure, session, again))
            if self.on_failure == "debug":
                loop.run(session, self.show, _typed(session))

    def look_from_the_start(self, directory: Path, ended: Ended) -> bool:
        """Of a program that had no epochs all is run again, once it has ended; has it failed?"""
        sys.stdout.flush()
        try:
            record.note_end(directory, ended, 0.0)
            return self._look_at_all(Recording.open(directory), directory, ended)
        except (ReenactError, OSError) as error:
            self.show([[("yellow", f"not looked at: {error}")]])
            return ended.exit_code != 0

    def _look_at_all(self, recording: Recording, directory: Path, ended: Ended) -> bool:
        with Traveller(recording) as traveller:
            session = _open(traveller, recording)
            stop = traveller.stop
            if stop.why == "end" and ended.signal not in FATAL:
                return False
            differs = "it diverged" if stop.why == "divergence" else ""
            self.disagreed += bool(differs)
            self.agreed[1] += not differs
            text, until = _what_failed(traveller, ended), recording.last_step
            failure = Failure(text, until, stop.thread, Reason.END, None, directory, 0)
            self.show(report.rows(failure, session, Again(1, differs)))
            if self.on_failure == "debug":
                loop.run(session, self.show, _typed(session))
        return True


def _what_failed(traveller: Traveller, ended: Ended) -> str:
    if ended.signal is not None:
        return f"killed by {signal.Signals(ended.signal).name}"
    if traveller.stop.why != "failure":
        return traveller.stop.why
    last = traveller.failures()[-1]
    return f"{last.kind}: {last.message}"


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
