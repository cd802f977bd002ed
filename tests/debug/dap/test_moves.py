"""Where the moves of an editor lead, there and back again."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from .client import Adapter, Client, Document
from .conftest import Recorded, line_of

Start = Callable[[str], Adapter]
Seen = tuple[int, str, int, str]


def at(text: str) -> int:
    return line_of("turns", text)


def seen(client: Client, stopped: Document) -> Seen:
    return *client.where(stopped), stopped["description"].rpartition("(")[2]


def begin_in_worker(client: Client) -> Document:
    client.begin(stopAt="beginning", functions=("deposit",))
    stopped = client.move("continue")
    assert stopped["reason"] == "function breakpoint"
    return stopped


def test_next_goes_over_calls_and_step_in_into_them(turns: Client) -> None:
    stopped = turns.begin(stopAt="beginning")
    assert turns.where(stopped) == (1, "<module>", 1)
    begin = {"source": {"path": "turns.py"}, "breakpoints": [{"line": at("account = Account")}]}
    turns.ask("setBreakpoints", **begin)
    assert turns.where(turns.move("continue")) == (1, "main", at("account = Account"))
    assert turns.where(turns.move("next", threadId=1)) == (1, "main", at('print("begin")'))
    assert turns.where(turns.move("stepBack", threadId=1))[1:] == ("main", at("account = Account"))
    stopped = turns.move("stepIn", threadId=1)
    assert turns.where(stopped) == (1, "Account.__init__", at("self.balance = 0"))
    assert turns.where(turns.move("stepOut", threadId=1)) == (1, "main", at('print("begin")'))


def test_step_out_of_a_call_in_a_thread(turns: Client) -> None:
    turns.begin(stopAt="beginning", functions=("add",))
    stopped = turns.move("continue")
    assert turns.where(stopped) == (2, "add", at("result = amount"))
    assert turns.where(turns.move("stepOut", threadId=2)) == (2, "deposit", at("log.append"))


def test_back_from_the_first_line_of_a_thread_is_the_thread_that_started_it(turns: Client) -> None:
    stopped = begin_in_worker(turns)
    assert turns.where(stopped) == (2, "deposit", at("for number"))
    stopped = turns.move("stepBack", threadId=2)
    thread, function, _ = turns.where(stopped)
    assert (stopped["reason"], thread, function) == ("step", 1, "main")


def test_a_breakpoint_further_back_does_not_hide_the_thread_that_started_it(turns: Client) -> None:
    turns.begin(stopAt="beginning", functions=("deposit",))
    first = {"source": {"path": "turns.py"}, "breakpoints": [{"line": at("def main")}]}
    turns.ask("setBreakpoints", **first)
    turns.move("continue")
    assert turns.where(turns.move("continue")) == (2, "deposit", at("for number"))
    assert turns.where(turns.move("stepBack", threadId=2))[:2] == (1, "main")


def test_the_end_has_no_frames_and_one_can_go_back_from_it(turns: Client) -> None:
    stopped = turns.begin(stopAt="end")
    assert (stopped["reason"], stopped["threadId"]) == ("end", 1)
    assert "exit code 1" in stopped["description"]
    assert turns.stack(1) == []
    assert turns.move("continue")["reason"] == "end"
    stopped = turns.move("stepBack", threadId=1)
    assert turns.where(stopped) == (1, "main", at("assert account"))


def test_back_at_the_beginning(turns: Client) -> None:
    entry = seen(turns, turns.begin(stopAt="beginning"))
    for command in ("reverseContinue", "stepBack", "restart"):
        stopped = turns.move(command, threadId=1)
        assert (stopped["reason"], seen(turns, stopped)) == ("entry", entry)


def test_libraries_are_gone_over_but_what_they_call_is_not(adapter: Start) -> None:
    client = adapter("values").client
    client.begin(stopAt="beginning", functions=("look",))
    client.move("continue")
    wanted = {"line": line_of("values", "smallest = nsmallest")}
    client.ask("setBreakpoints", source={"path": "values.py"}, breakpoints=[wanted])
    client.move("continue")
    assert client.where(client.move("stepIn", threadId=1))[1] == "key"


def test_libraries_are_stepped_into_if_wanted(adapter: Start) -> None:
    client = adapter("values").client
    client.begin(stopAt="beginning", justMyCode=False, functions=("look",))
    client.move("continue")
    wanted = {"line": line_of("values", "smallest = nsmallest")}
    client.ask("setBreakpoints", source={"path": "values.py"}, breakpoints=[wanted])
    client.move("continue")
    stopped = client.move("stepIn", threadId=1)
    top = client.stack(1)[0]
    assert (client.where(stopped)[1], top["presentationHint"]) == ("nsmallest", "subtle")


def test_steps_forwards_and_back_see_the_same_lines(turns: Client) -> None:
    turns.begin(stopAt="beginning", stepBackInto=True, functions=("deposit",))
    there = [seen(turns, turns.move("continue"))]
    turns.ask("setFunctionBreakpoints", breakpoints=[])
    for _ in range(14):
        there.append(seen(turns, turns.move("stepIn", threadId=2)))
    assert len({each[:3] for each in there}) > 5
    back = [seen(turns, turns.move("stepBack", threadId=2)) for _ in there[1:]]
    assert back == there[-2::-1]


def test_stops_forwards_and_back_are_the_same(turns: Client) -> None:
    wanted = [{"line": at("before = acc")}, {"line": at("log.append"), "condition": "before > 1"}]
    stopped = turns.begin(stopAt="failure")
    frame = turns.stack(1)[0]["id"]
    info = turns.ask("dataBreakpointInfo", name="account.balance", frameId=frame)
    entry = seen(turns, turns.move("restart"))
    turns.ask("setBreakpoints", source={"path": "turns.py"}, breakpoints=wanted)
    turns.ask("setDataBreakpoints", breakpoints=[{"dataId": info["dataId"]}])
    turns.ask("setExceptionBreakpoints", filters=["uncaught"])

    there = []
    while (stopped := turns.move("continue"))["reason"] != "end":
        there.append((stopped["reason"], stopped["text"], seen(turns, stopped)))
    # four reads, two logs of more than 1, five writes with the first one, and the failure
    assert len(there) == 12
    back = []
    while (stopped := turns.move("reverseContinue"))["reason"] != "entry":
        back.append((stopped["reason"], stopped["text"], seen(turns, stopped)))
    assert back == there[::-1]
    assert seen(turns, stopped) == entry


@pytest.mark.parametrize("command", ["next", "stepIn", "stepOut", "stepBack"])
def test_a_step_of_another_thread_than_the_stopped_one(
    command: str, turns: Client, recorded: Recorded
) -> None:
    turns.begin(stopAt="beginning")
    wanted = [{"line": at("before = acc"), "condition": "account.balance == 2"}]
    turns.ask("setBreakpoints", source={"path": "turns.py"}, breakpoints=wanted)
    assert turns.move("continue")["threadId"] == 2
    turns.ask("setBreakpoints", source={"path": "turns.py"}, breakpoints=[])
    assert turns.move(command, threadId=3)["threadId"] in (1, 3)
