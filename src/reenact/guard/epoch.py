"""The last epoch of a running program, to be travelled through like a recording.

It begins at a frozen copy of the process, and goes as far as the process has come; what happened in
between is in the log, which the copies replay.
"""

from __future__ import annotations

from dataclasses import dataclass

from reenact.debug.process import Process
from reenact.debug.traveller import Traveller


@dataclass
class EpochTraveller(Traveller):
    """Closing it leaves the frozen copy as it is."""

    frozen: Process | None = None
    until: int = 0  # the step at which the process stands
    is_failure: bool = True  # of an exception

    def _prepare(self) -> None:
        """All is there: the log is that of the process."""

    def _start(self) -> Process:
        assert self.frozen is not None
        copied = self.frozen.copy()
        if copied is None:
            raise RuntimeError(self.frozen.refusal)
        copied.become_replay(self.until)
        self._starts += 1
        return copied

    @property
    def last_step(self) -> int:
        return self.until

    def _has_failed(self) -> bool:
        return self.is_failure
