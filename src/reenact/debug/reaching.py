"""Processes of a replay, each brought to a place: they are what everything is asked of.

The program is always looked at in a copy that was brought to a place (`checkpoints.py`); to go
through its lines is to have such a copy *hunt* (`_core/trace.c`). Who wants to know what, and where
somebody is, is told by `finding.py` and `traveller.py`.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, Self

from reenact.debug.checkpoints import Checkpoints
from reenact.debug.places import LAST, Place, TravelError
from reenact.debug.process import Interruption, Process, Reason
from reenact.engine import launch, replay
from reenact.recordings.reader import Recording

LIMIT_MB = 1024


@dataclass
class Reaching:
    """A recording, whose places can be reached."""

    recording: Recording
    limit_mb: int = LIMIT_MB
    interruption: Interruption = field(default_factory=Interruption)

    def __post_init__(self) -> None:
        self._exits = ExitStack()
        self._prepare()
        self._copies = Checkpoints(self._start, self.limit_mb)
        self._exits.callback(self._copies.close)
        self._end: Place | None = None
        self._diverges = False  # the replay itself does, at its end
        self._starts = 0

    def _prepare(self) -> None:
        """What `_start` needs."""
        replay.check_usable(self.recording)
        replay.check_modules(self.recording)
        self._read, self._write = self._exits.enter_context(replay.directories(self.recording))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()

    def close(self) -> None:
        """End all processes."""
        self._exits.close()

    @property
    def refusal(self) -> str:
        """Why there are no checkpoints, so that everything is done from the beginning; or empty."""
        return self._copies.refusal

    @property
    def beginning(self) -> Place:
        return Place(self._copies.first)

    @property
    def checkpoints(self) -> list[int]:
        return self._copies.steps

    @property
    def last_step(self) -> int:
        return self.recording.last_step

    def _start(self) -> Process:
        """A new replay, stopped at its beginning."""
        header = self.recording.header
        ours, theirs = socket.socketpair()
        self._starts += 1
        write = self._write / f"p{self._starts}"
        write.mkdir()
        (write / "header.json").write_text(header.to_json(), "utf-8")
        replay.enter(header.cwd, self.recording)
        to_start = replay.to_replay(self.recording, self._read, write)
        pid = launch.start_replay(to_start, theirs.detach())
        return Process(ours, pid, self.interruption, write)

    def _hunt(self, process: Process, **request: Any) -> dict[str, Any]:
        """Have a process go on; where it is then."""
        end = request.pop("end", None)
        if end is not None:
            request["end"] = list(end)
        process.say({"do": "hunt", **request})
        said = process.hear()
        if said["reason"] == Reason.DIVERGED and self._end is not None and not self._diverges:
            what = said.get("outcome", "").replace("\t", " ").splitlines()[:4]
            raise TravelError("the replay diverged while it was looked at: " + "; ".join(what))
        return said

    @contextmanager
    def _copy_at(self, place: Place) -> Iterator[Process]:
        """A process that talks, at a place; it is ended afterwards."""
        process = self._copies.at(place.step)
        try:
            process.talk()
            if place.line:
                self._hunt(process, end=place)
            yield process
        finally:
            process.close()

    def _stretches_before(self, here: Place) -> Iterator[tuple[int, Place]]:
        """Stretches of steps, the latest first, each from a copy on."""
        until = here
        if here.line > 0 and here.line < LAST:
            yield here.step, here
            until = Place(here.step)
        while until > self.beginning:
            base = self._copies.before(until.step) if until.line < LAST else until.step
            if until.line >= LAST:
                base = self._copies.before(until.step + 1)
            yield base, until
            until = Place(base)

    def _hunted(self, base: int, until: Place, **request: Any) -> dict[str, Any]:
        with self._copy_at(Place(base)) as process:
            return self._hunt(process, end=until, backward=True, **request)

    def _began_before(self, base: int, found: list[int]) -> bool:
        """Whether the line had begun already where the hunt began: then it is not known where."""
        return base > self.beginning.step and found[0] == base and found[1] == 0


def asked(process: Process, request: dict[str, Any], is_short: bool = False) -> dict[str, Any]:
    process.say(request)
    said = process.hear(is_short)
    if "error" in said:
        raise TravelError(said["error"])
    return said
