"""How a session begins and ends, whatever the editor does; and that nothing is left of it."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .client import PATIENCE_S, Adapter, Client, RequestFailed
from .conftest import Recorded

Start = Callable[[str], Adapter]
PORT = "import sys; from reenact.debug.dap.server import serve_port; sys.exit(serve_port(None, 0))"


def are_gone(numbers: list[int]) -> bool:
    return not any(Path(f"/proc/{each}").exists() for each in numbers)


def test_what_is_promised(turns: Client) -> None:
    said = turns.ask("initialize", adapterID="reenact", unknown={"more": 1})
    for name in ("StepBack", "DataBreakpoints", "ConditionalBreakpoints", "ExceptionInfoRequest"):
        assert said[f"supports{name}"] is True
    assert [each["filter"] for each in said["exceptionBreakpointFilters"]] == ["uncaught"]


@pytest.mark.parametrize(
    ("stop_at", "reason"), [("failure", "exception"), ("end", "end"), ("beginning", "entry")]
)
def test_where_it_begins(stop_at: str, reason: str, turns: Client) -> None:
    stopped = turns.begin(stopAt=stop_at)
    assert stopped["reason"] == reason
    assert stopped["allThreadsStopped"] is True


def test_the_recording_may_come_with_the_launch(recorded: Recorded) -> None:
    with Adapter() as adapter:
        stopped = adapter.client.begin(recording=str(recorded("turns")), stopAt="beginning")
        assert stopped["reason"] == "entry"


@pytest.mark.parametrize("command", ["threads", "continue", "configurationDone", "setBreakpoints"])
def test_nothing_goes_without_a_recording(command: str) -> None:
    with Adapter() as adapter:
        source = {"source": {"path": "x.py"}}
        with pytest.raises(RequestFailed, match="no recording is open; send launch"):
            adapter.client.ask(command, **source)


BAD: list[tuple[str, dict[str, Any], str]] = [
    ("dance", {}, "does not know the request 'dance'"),
    ("launch", {"recording": 5}, "'recording', a string"),
    ("launch", {"stopAt": "lunch"}, "stopAt is 'lunch'"),
    ("launch", {"justMyCode": "yes"}, "true or false"),
    ("launch", {"recording": "/nowhere.reenact"}, "recording-missing"),
    ("launch", {"recording": __file__}, "recording-foreign"),
    ("initialize", {"pathFormat": "uri"}, "pathFormat"),
]


@pytest.mark.parametrize(("command", "arguments", "words"), BAD)
def test_bad_requests_say_what_to_do(
    command: str, arguments: dict[str, Any], words: str, turns: Client
) -> None:
    with pytest.raises(RequestFailed, match=words):
        turns.ask(command, **arguments)
    assert turns.begin(stopAt="beginning")["reason"] == "entry"


BAD_LATER: list[tuple[str, dict[str, Any], str]] = [
    ("launch", {}, "open already"),
    ("stackTrace", {}, "'threadId', a number"),
    ("next", {"threadId": True}, "'threadId', a number"),
    ("setBreakpoints", {}, "'source', an object"),
    ("setBreakpoints", {"source": {"path": "turns.py"}, "breakpoints": 1}, "list of objects"),
    ("setBreakpoints", {"source": {"path": "turns.py"}, "breakpoints": [{}]}, "'line', a number"),
    ("setExceptionBreakpoints", {"filters": [1]}, "list of strings"),
    ("evaluate", {}, "'expression', a string"),
]


def test_bad_requests_leave_the_stop_as_it_is(turns: Client) -> None:
    turns.begin(stopAt="failure")
    for command, arguments, words in BAD_LATER:
        with pytest.raises(RequestFailed, match=words):
            turns.ask(command, **arguments)
    assert turns.value("account.balance") == "4"


def test_a_launch_that_fails_can_be_tried_again(recorded: Recorded) -> None:
    with Adapter() as adapter:
        with pytest.raises(RequestFailed, match="launch needs 'recording'"):
            adapter.client.ask("launch")
        assert adapter.client.begin(recording=str(recorded("turns")))["reason"] == "exception"


def test_a_changed_source_is_said(recorded: Recorded, tmp_path: Path) -> None:
    (tmp_path / "small.py").write_text("print(1)\n")
    command = [sys.executable, "-m", "reenact", "record", "-o", "small.reenact", "small.py"]
    subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
    (tmp_path / "small.py").write_text("print(1)  # later\n")
    with Adapter(tmp_path / "small.reenact") as adapter:
        adapter.client.ask("launch")
        assert "small.py has changed" in adapter.client.await_event("output")["output"]


# ---- ends ----


def test_terminate_then_disconnect(adapter: Start) -> None:
    started = adapter("turns")
    client = started.client
    client.begin()
    children = started.children()
    assert children
    client.ask("terminate")
    assert client.await_event("exited") == {"exitCode": 1}
    client.await_event("terminated")
    with pytest.raises(RequestFailed, match="the session has ended"):
        client.ask("threads")
    client.ask("disconnect")
    assert (started.end(), client.is_silent()) == ((0, ""), True)
    assert are_gone(children)


def test_disconnect_in_the_middle_of_a_move(adapter: Start) -> None:
    started = adapter("long")
    started.client.begin(stopAt="beginning")
    children = started.children()
    assert started.client.ask("continue") == {"allThreadsContinued": True}
    assert started.client.ask("disconnect") == {}
    assert started.end() == (0, "")
    assert are_gone(children)


def test_disconnect_in_the_middle_of_a_long_evaluation(adapter: Start) -> None:
    started = adapter("long")
    started.client.begin(stopAt="beginning")
    children = started.children()
    asked = started.client.send("evaluate", expression="[1 for _ in iter(int, 1)]")
    leaving = started.client.send("disconnect")
    with pytest.raises(RequestFailed, match="interrupted"):
        started.client.answer(asked)
    started.client.answer(leaving)
    assert started.end() == (0, "")
    assert are_gone(children)


def test_an_editor_that_is_gone(adapter: Start) -> None:
    started = adapter("turns")
    started.client.begin()
    children = started.children()
    started.stdin.close()
    assert started.end() == (0, "")
    assert are_gone(children)


def test_a_pause_leaves_the_program_where_it_was(adapter: Start) -> None:
    client = adapter("long").client
    began = client.begin(stopAt="beginning")
    moving, pausing = client.send("continue"), client.send("pause", threadId=1)
    client.answer(moving)
    stopped = client.await_event("stopped")
    client.answer(pausing)
    assert stopped["reason"] == "pause"
    assert client.where(stopped) == client.where(began)
    # nothing of it is left for the next move
    assert client.move("next", threadId=1)["reason"] == "step"
    client.ask("pause", threadId=1)
    assert client.move("next", threadId=1)["reason"] == "step"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"Content-Length: 2\r\n\r\n[]", "no JSON object"),
        (b"Content-Length: 3\r\n\r\n{,}", "not JSON"),
        (b"Content-Length: many\r\n\r\n", "not a number"),
        (b"Hello\r\n\r\n", "is no header"),
        (b"Other: 1\r\n\r\n", "no Content-Length"),
    ],
)
def test_a_malformed_message_ends_it_all(data: bytes, words: str, adapter: Start) -> None:
    started = adapter("turns")
    started.client.begin()
    children = started.children()
    started.stdin.write(data)
    started.stdin.flush()
    code, said = started.end()
    assert (code, said.count("\n")) == (2, 1)
    assert said.startswith("reenact: the editor sent what is no message: ")
    assert words in said
    assert started.client.is_silent()
    assert are_gone(children)


def test_on_a_port(recorded: Recorded) -> None:
    command = [sys.executable, "-c", PORT]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stderr is not None and process.stdout is not None
        address = process.stderr.readline().decode().split()[-1]
        host, _, port = address.partition(":")
        with (
            socket.create_connection((host, int(port))) as connection,
            connection.makefile("rb") as reader,
            connection.makefile("wb") as writer,
        ):
            client = Client(reader, writer)
            assert client.begin(recording=str(recorded("turns")))["reason"] == "exception"
            client.ask("disconnect")
        assert (process.wait(PATIENCE_S), process.stdout.read()) == (0, b"")
