"""A recording that an editor has open, and all that belongs to it."""

from __future__ import annotations

from contextlib import ExitStack

from reenact.debug.dap.arguments import Arguments
from reenact.debug.dap.breakpoints import Breakpoints
from reenact.debug.dap.messages import Refused
from reenact.debug.dap.moving import Moves
from reenact.debug.dap.printed import Printed
from reenact.debug.dap.sources import Sources
from reenact.debug.dap.stops import Stops
from reenact.debug.dap.views import Views
from reenact.debug.process import Interruption
from reenact.debug.traveller import Stop, Traveller
from reenact.engine import convert, replay

STOPS = ("failure", "end", "beginning")


class Opened:
    """Made by `launch` or `attach`."""

    def __init__(self, path: str, arguments: Arguments, interruption: Interruption) -> None:
        self._stop_at = arguments.text("stopAt", "failure")
        if self._stop_at not in STOPS:
            raise Refused(f"stopAt is {self._stop_at!r}, and has to be one of {', '.join(STOPS)}")
        just_mine = arguments.flag("justMyCode", True)
        goes_into = arguments.flag("stepBackInto", False)
        self._resources = ExitStack()
        recording = self._resources.enter_context(
            convert.opened(path, arguments.text("process", ""))
        )
        self.traveller = Traveller(recording, interruption=interruption)
        self.sources = Sources(recording)
        self.views = Views(self.traveller, self.sources)
        self.breakpoints = Breakpoints(self.traveller, self.sources)
        self.moves = Moves(self.traveller, self.sources, just_mine, goes_into)
        self.stops = Stops(self.traveller, self.breakpoints, self.views)
        self.printed = Printed(self.traveller)

    @property
    def exit_code(self) -> int:
        end = self.traveller.recording.end
        return 0 if end is None else end.exit_code

    def warnings(self) -> list[str]:
        changed = replay.changed_sources(self.traveller.recording)
        return [
            f"{path} has changed since it was recorded; the replay may diverge" for path in changed
        ]

    def go(self) -> Stop:
        """To where the editor wants to begin."""
        if self._stop_at == "beginning":
            return self.moves.go_to_beginning()
        return self.traveller.open() if self._stop_at == "failure" else self.traveller.go_to_end()

    def close(self) -> None:
        self.traveller.close()
        self._resources.close()
