"""A stop in the words of the protocol: why, and what there is to know of it."""

from __future__ import annotations

from reenact.debug.dap.breakpoints import Breakpoints
from reenact.debug.dap.messages import Document, Refused
from reenact.debug.dap.views import Views
from reenact.debug.traveller import Failure, Stop, Traveller

_REASONS = {
    "step": "step",
    "breakpoint": "breakpoint",
    "watch": "data breakpoint",
    "beginning": "entry",
    "end": "end",
    "deadlock": "exception",
    "divergence": "exception",
    "failure": "exception",
    "place": "goto",
}


class Stops:
    def __init__(self, traveller: Traveller, breakpoints: Breakpoints, views: Views) -> None:
        self._traveller = traveller
        self._breakpoints = breakpoints
        self._views = views

    def described(self, reason: str = "", text: str = "") -> Document:
        """The body of the event; `reason` if it is not that of the traveller's stop."""
        stop = self._traveller.stop
        reason = reason or self._reason(stop)
        hits = self._breakpoints.ids(stop.hits)
        return {
            "reason": reason,
            "description": f"{_capital(self._words(stop, reason))} (step {stop.place})",
            "threadId": stop.thread + 1,
            "allThreadsStopped": True,
            "text": text or self._text(stop),
            **({"hitBreakpointIds": hits} if hits else {}),
        }

    def _reason(self, stop: Stop) -> str:
        if stop.why == "breakpoint" and self._breakpoints.are_functions(stop.hits):
            return "function breakpoint"
        return _REASONS[stop.why]

    def _words(self, stop: Stop, reason: str) -> str:
        words = {
            "beginning": "at the beginning",
            "end": f"the program has ended{self._exit()}",
            "deadlock": "deadlock: all threads wait for ever",
            "divergence": "the replay is not as recorded from here on",
            "failure": "an exception that nobody catches is raised here",
            "place": "stopped",
        }
        if reason == "pause":
            return "paused"
        return words.get(stop.why, f"paused on {reason}")

    def _exit(self) -> str:
        end = self._traveller.recording.end
        return "" if end is None else f" with exit code {end.exit_code}"

    def _text(self, stop: Stop) -> str:
        if stop.changed is not None:
            return f"{stop.changed[0]} -> {stop.changed[1]}"
        watches = [self._traveller.watches.get(each) for each in stop.hits]
        if stop.why == "watch":
            return ", ".join(f"{each.text} is written" for each in watches if each is not None)
        return ""

    def exception(self, thread: int) -> Document:
        """What exceptionInfo asks for."""
        stop = self._traveller.stop
        if stop.why == "deadlock":
            return _informed("deadlock", "\n".join(self._views.waits()))
        if stop.why == "divergence":
            return _informed("divergence", "the replay did not do what was recorded")
        failure = self._failure(stop)
        if stop.why != "failure" or thread != stop.thread or failure is None:
            raise Refused(f"thread {thread + 1} has not stopped because of an exception")
        details = {
            "message": failure.message,
            "typeName": failure.kind.rpartition(".")[2],
            "fullTypeName": failure.kind,
            "stackTrace": failure.trace,
        }
        return {**_informed(failure.kind, failure.message), "details": details}

    def _failure(self, stop: Stop) -> Failure | None:
        if stop.why != "failure":
            return None
        failures = self._traveller.failures()
        return next((each for each in failures if each.place == stop.place), None)


def _informed(kind: str, words: str) -> Document:
    return {"exceptionId": kind, "description": words, "breakMode": "unhandled"}


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
