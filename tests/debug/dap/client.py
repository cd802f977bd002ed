"""An editor in a few lines: speaks the protocol with an adapter in a process of its own."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from ...children import children_of

PATIENCE_S = 120  # only for what would never come

Document = dict[str, Any]


def framed(data: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(data), data)


class RequestFailed(Exception):
    """The adapter said no."""


class Client:
    """Sends requests, and keeps the events that come meanwhile in `events`."""

    def __init__(self, reader: IO[bytes], writer: IO[bytes]) -> None:
        self._writer = writer
        self._sent = 0
        self._received: queue.SimpleQueue[Document | None] = queue.SimpleQueue()
        self._seen = 0
        self.events: list[Document] = []
        threading.Thread(target=self._read_all, args=(reader,), daemon=True).start()

    def _read_all(self, reader: IO[bytes]) -> None:
        while header := reader.readline():
            name, _, size = header.partition(b":")
            assert (name, reader.readline()) == (b"Content-Length", b"\r\n")
            self._received.put(json.loads(reader.read(int(size))))
        self._received.put(None)

    def _receive(self) -> Document:
        document = self._received.get(timeout=PATIENCE_S)
        assert document is not None, "the adapter has gone"
        self._seen += 1
        assert document["seq"] == self._seen
        return document

    def send(self, command: str, **arguments: Any) -> int:
        self._sent += 1
        request = {"seq": self._sent, "type": "request", "command": command}
        self._writer.write(framed(json.dumps({**request, "arguments": arguments}).encode()))
        self._writer.flush()
        return self._sent

    def answer(self, number: int) -> Document:
        """The body of the answer to a request."""
        while (document := self._receive())["type"] == "event":
            self.events.append(document)
        assert document["request_seq"] == number
        if not document["success"]:
            assert document["body"]["error"]["variables"]["text"] == document["message"]
            raise RequestFailed(document["message"])
        body: Document = document.get("body", {})
        return body

    def ask(self, command: str, **arguments: Any) -> Document:
        return self.answer(self.send(command, **arguments))

    def await_event(self, name: str) -> Document:
        """The body of the next such event, taken out of `events`."""
        while True:
            for event in self.events:
                if event["event"] == name:
                    self.events.remove(event)
                    body: Document = event.get("body", {})
                    return body
            document = self._receive()
            assert document["type"] == "event"
            self.events.append(document)

    def is_silent(self) -> bool:
        """Whether the adapter has said all, and closed its side."""
        document = self._received.get(timeout=PATIENCE_S)
        return document is None

    # ---- what every test does ----

    def begin(
        self, functions: tuple[str, ...] = (), filters: tuple[str, ...] = (), **given: Any
    ) -> Document:
        """From the first request to the first stop."""
        self.ask("initialize", adapterID="reenact")
        self.ask("launch", **given)
        self.await_event("initialized")
        if functions:
            wanted = [{"name": each} for each in functions]
            self.ask("setFunctionBreakpoints", breakpoints=wanted)
        self.ask("setExceptionBreakpoints", filters=list(filters))
        self.ask("configurationDone")
        return self.await_event("stopped")

    def move(self, command: str, **arguments: Any) -> Document:
        self.ask(command, **arguments)
        return self.await_event("stopped")

    def stack(self, thread: int) -> list[Document]:
        frames: list[Document] = self.ask("stackTrace", threadId=thread)["stackFrames"]
        return frames

    def where(self, stopped: Document) -> tuple[int, str, int]:
        """Thread, function and line of a stop."""
        stack = self.stack(stopped["threadId"])
        top = (stack[0]["name"], stack[0]["line"]) if stack else ("", 0)
        return (stopped["threadId"], *top)

    def value(self, text: str, frame: int | None = None) -> str:
        more = {} if frame is None else {"frameId": frame}
        result: str = self.ask("evaluate", expression=text, **more)["result"]
        return result


class Adapter:
    """An adapter in a process of its own, with a client. Nothing of it is left afterwards."""

    def __init__(self, *arguments: str | Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "reenact.debug.dap", *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert self.process.stdin is not None and self.process.stdout is not None
        self.stdin = self.process.stdin
        self.client = Client(self.process.stdout, self.process.stdin)

    def __enter__(self) -> Adapter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stdin.close()
        try:
            self.process.wait(PATIENCE_S)
        finally:
            self.process.kill()

    def end(self) -> tuple[int, str]:
        """The exit code, and what it said on standard error."""
        code = self.process.wait(PATIENCE_S)
        assert self.process.stderr is not None
        return code, self.process.stderr.read().decode()

    def children(self) -> list[int]:
        """The processes that the adapter has started."""
        return children_of(self.process.pid)
