"""Answers the requests of an editor, one after another.

A request that moves is answered before the move begins, as the protocol wants it; a `stopped` event
follows in any case, at the old place if the move came to nothing.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable

from reenact.debug.dap.arguments import Arguments
from reenact.debug.dap.breakpoints import FILTERS
from reenact.debug.dap.messages import Document, Refused, Sender
from reenact.debug.dap.opened import Opened
from reenact.debug.dap.sources import lines_of
from reenact.debug.process import Interrupted, Interruption
from reenact.debug.traveller import Stop
from reenact.errors import ReenactError
from reenact.recordings.sources import read_lines

CAPABILITIES = {
    "supportsConfigurationDoneRequest": True,
    "supportsStepBack": True,
    "supportsConditionalBreakpoints": True,
    "supportsFunctionBreakpoints": True,
    "supportsDataBreakpoints": True,
    "supportsBreakpointLocationsRequest": True,
    "supportsExceptionInfoRequest": True,
    "exceptionBreakpointFilters": FILTERS,
    "supportsEvaluateForHovers": True,
    "supportsClipboardContext": True,
    "supportsCompletionsRequest": True,
    "completionTriggerCharacters": ["."],
    "supportsDelayedStackTraceLoading": True,
    "supportsRestartRequest": True,
    "supportsTerminateRequest": True,
}
IN_A_COPY = "It ran in a copy of the program that is thrown away; the program is as it was.\n"


class Adapter:
    """`is_over` after the editor has said good-bye."""

    def __init__(self, path: str | None, sender: Sender) -> None:
        self._path = path
        self._sender = sender
        self._interruption = Interruption()
        self._opened: Opened | None = None
        self._base = 1  # what the editor calls the first line
        self._column_base = 1
        self._then: Callable[[], None] | None = None  # to be done after the answer
        self._has_ended = False
        self.is_over = False

    # ---- from another thread ----

    def notice(self, command: str) -> None:
        """A request has come that may not have to wait for those before it."""
        if command == "pause":
            self._interruption.ask()
        elif command in ("disconnect", "terminate"):
            self._interruption.ask_all()

    # ---- all requests ----

    def handle(self, request: Document) -> None:
        if request.get("type") != "request":
            return
        try:
            body = self._answer(request)
        except (Refused, ReenactError) as error:
            self._sender.refuse(request, str(error))
            return
        except Exception as error:
            traceback.print_exc(file=sys.stderr)
            self._sender.refuse(request, f"internal error: {type(error).__name__}: {error}")
            return
        self._sender.answer(request, body)
        then, self._then = self._then, None
        if then is not None:
            then()

    def _answer(self, request: Document) -> Document | None:
        command, given = request.get("command"), request.get("arguments") or {}
        handler = _HANDLERS.get(command) if isinstance(command, str) else None
        if handler is None:
            raise Refused(f"this adapter does not know the request {command!r}")
        if not isinstance(given, dict):
            raise Refused("the arguments of a request have to be an object")
        return handler(self, Arguments(given))

    @property
    def _here(self) -> Opened:
        if self._has_ended:
            raise Refused("the session has ended")
        if self._opened is None:
            raise Refused("no recording is open; send launch with 'recording' first")
        return self._opened

    def close(self) -> None:
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    # ---- the session ----

    def _initialize(self, arguments: Arguments) -> Document:
        if arguments.text("pathFormat", "path") != "path":
            raise Refused("only the pathFormat 'path' is supported")
        self._base = 1 if arguments.flag("linesStartAt1", True) else 0
        self._column_base = 1 if arguments.flag("columnsStartAt1", True) else 0
        return CAPABILITIES

    def _launch(self, arguments: Arguments) -> None:
        if self._opened is not None:
            raise Refused("a recording is open already; disconnect first")
        path = arguments.text("recording", self._path or "")
        if not path:
            raise Refused("launch needs 'recording', the path of a recording")
        self._opened = Opened(path, arguments, self._interruption)
        self._then = self._introduce

    def _introduce(self) -> None:
        for warning in self._here.warnings():
            self._say(warning)
        self._sender.event("initialized")

    def _configuration_done(self, arguments: Arguments) -> None:
        self._move(self._here.go)

    def _restart(self, arguments: Arguments) -> None:
        self._here.printed.begin_again()
        self._move(self._here.moves.go_to_beginning)

    def _terminate(self, arguments: Arguments) -> None:
        self._then = self._end

    def _end(self) -> None:
        if not self._has_ended:
            if self._opened is not None:
                self._sender.event("exited", {"exitCode": self._opened.exit_code})
            self._sender.event("terminated")
        self._has_ended = True
        self.close()

    def _disconnect(self, arguments: Arguments) -> None:
        self.close()
        self.is_over = True

    # ---- moves ----

    def _move(self, move: Callable[[], Stop]) -> None:
        here = self._here
        self._then = lambda: self._moved(here, move)

    def _moved(self, here: Opened, move: Callable[[], Stop]) -> None:
        reason = text = ""
        try:
            move()
        except Interrupted:
            reason = "pause"
        except (Refused, ReenactError) as error:
            reason, text = "pause", str(error)
            self._say(text)
        here.views.forget()
        try:
            self._tell(here, reason, text)
        except Interrupted:
            return  # the editor is about to leave
        except ReenactError as error:
            self._say(str(error))
            self._end()

    def _tell(self, here: Opened, reason: str, text: str) -> None:
        for category, printed in here.printed.news():
            self._sender.event("output", {"category": category, "output": printed})
        self._sender.event("stopped", here.stops.described(reason, text))
        for each in here.breakpoints.look_again():
            self._sender.event("breakpoint", {"reason": "changed", "breakpoint": each})

    def _say(self, text: str) -> None:
        self._sender.event("output", {"category": "console", "output": f"reenact: {text}\n"})

    def _continue(self, arguments: Arguments) -> Document:
        self._move(self._here.moves.forward)
        return {"allThreadsContinued": True}

    def _reverse_continue(self, arguments: Arguments) -> None:
        self._move(self._here.moves.backward)

    def _next(self, arguments: Arguments) -> None:
        here, thread = self._here, self._here.views.thread(arguments)
        self._move(lambda: here.moves.step_over(thread))

    def _step_in(self, arguments: Arguments) -> None:
        here, thread = self._here, self._here.views.thread(arguments)
        self._move(lambda: here.moves.step_in(thread))

    def _step_out(self, arguments: Arguments) -> None:
        here, thread = self._here, self._here.views.thread(arguments)
        self._move(lambda: here.moves.step_out(thread))

    def _step_back(self, arguments: Arguments) -> None:
        here, thread = self._here, self._here.views.thread(arguments)
        self._move(lambda: here.moves.step_back(thread))

    def _pause(self, arguments: Arguments) -> None:
        """What was to be interrupted has ended by now: by this, or by itself."""
        self._interruption.take()

    # ---- breakpoints ----

    def _set_breakpoints(self, arguments: Arguments) -> Document:
        path = arguments.inner("source").text("path")
        wanted = arguments.all("breakpoints")
        return {"breakpoints": self._here.breakpoints.set_lines(path, wanted, self._base)}

    def _breakpoint_locations(self, arguments: Arguments) -> Document:
        path = self._here.sources.full(arguments.inner("source").text("path"))
        first = arguments.number("line") - self._base + 1
        last = arguments.number("endLine", first - 1 + self._base) - self._base + 1
        lines = [each for each in lines_of(path) if first <= each <= last]
        return {"breakpoints": [{"line": each - 1 + self._base} for each in lines]}

    def _set_functions(self, arguments: Arguments) -> Document:
        return {"breakpoints": self._here.breakpoints.set_functions(arguments.all("breakpoints"))}

    def _set_exceptions(self, arguments: Arguments) -> Document:
        return {"breakpoints": self._here.breakpoints.set_exceptions(arguments.texts("filters"))}

    def _data_info(self, arguments: Arguments) -> Document:
        here = self._here
        try:
            text, thread, frame = here.views.written_as(arguments)
            name = here.breakpoints.offer_watch(text, thread, frame)
        except Refused as error:
            return {"dataId": None, "description": str(error)}
        return {"dataId": name, "description": name, "accessTypes": ["write"]}

    def _set_data(self, arguments: Arguments) -> Document:
        return {"breakpoints": self._here.breakpoints.set_watches(arguments.all("breakpoints"))}

    def _exception_info(self, arguments: Arguments) -> Document:
        return self._here.stops.exception(self._here.views.thread(arguments))

    # ---- looking ----

    def _threads(self, arguments: Arguments) -> Document:
        return {"threads": self._here.views.threads()}

    def _stack_trace(self, arguments: Arguments) -> Document:
        views = self._here.views
        first, most = arguments.number("startFrame", 0), arguments.number("levels", 0)
        return views.stack(views.thread(arguments), first, most, self._base)

    def _scopes(self, arguments: Arguments) -> Document:
        arguments.number("frameId")
        return {"scopes": self._here.views.scopes(arguments)}

    def _variables(self, arguments: Arguments) -> Document:
        return {"variables": self._here.views.variables(arguments)}

    def _evaluate(self, arguments: Arguments) -> Document:
        views = self._here.views
        found, changes = views.evaluate(arguments.text("expression"), *views.frame(arguments))
        if changes and arguments.text("context", "") == "repl":
            self._sender.event("output", {"category": "console", "output": IN_A_COPY})
        return found

    def _completions(self, arguments: Arguments) -> Document:
        views = self._here.views
        lines = arguments.text("text").split("\n")
        line = arguments.number("line", self._base) - self._base
        text = lines[line] if 0 <= line < len(lines) else ""
        before = text[: max(arguments.number("column") - self._column_base, 0)]
        return {"targets": views.completions(before, *views.frame(arguments))}

    def _source(self, arguments: Arguments) -> Document:
        source = arguments.inner("source") if arguments.has("source") else arguments
        path = self._here.sources.full(source.text("path", ""))
        lines = read_lines(path)
        if not lines:
            raise Refused(f"the source {path} cannot be read here")
        return {"content": "\n".join(lines), "mimeType": "text/x-python"}


_HANDLERS: dict[str, Callable[[Adapter, Arguments], Document | None]] = {
    "initialize": Adapter._initialize,
    "launch": Adapter._launch,
    "attach": Adapter._launch,
    "configurationDone": Adapter._configuration_done,
    "restart": Adapter._restart,
    "terminate": Adapter._terminate,
    "disconnect": Adapter._disconnect,
    "continue": Adapter._continue,
    "reverseContinue": Adapter._reverse_continue,
    "next": Adapter._next,
    "stepIn": Adapter._step_in,
    "stepOut": Adapter._step_out,
    "stepBack": Adapter._step_back,
    "pause": Adapter._pause,
    "setBreakpoints": Adapter._set_breakpoints,
    "breakpointLocations": Adapter._breakpoint_locations,
    "setFunctionBreakpoints": Adapter._set_functions,
    "setExceptionBreakpoints": Adapter._set_exceptions,
    "dataBreakpointInfo": Adapter._data_info,
    "setDataBreakpoints": Adapter._set_data,
    "exceptionInfo": Adapter._exception_info,
    "threads": Adapter._threads,
    "stackTrace": Adapter._stack_trace,
    "scopes": Adapter._scopes,
    "variables": Adapter._variables,
    "evaluate": Adapter._evaluate,
    "completions": Adapter._completions,
    "source": Adapter._source,
}
