"""Breakpoints of all kinds, as an editor sets, moves and removes them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .client import Adapter, Client, Document
from .conftest import Recorded, line_of

Start = Callable[[str], Adapter]


def set_lines(client: Client, path: str | Path, *wanted: Document) -> list[Document]:
    source = {"path": str(path)}
    points: list[Document] = client.ask("setBreakpoints", source=source, breakpoints=list(wanted))[
        "breakpoints"
    ]
    return points


def stops(client: Client) -> list[tuple[str, int]]:
    """Reasons and lines of all stops up to the end."""
    found = []
    while (stopped := client.move("continue"))["reason"] != "end":
        found.append((stopped["reason"], client.where(stopped)[2]))
    return found


def at(text: str) -> int:
    return line_of("turns", text)


def test_lines_without_code_move_to_the_next_that_has(turns: Client) -> None:
    turns.begin(stopAt="beginning")
    empty, last = at("def main") - 1, at("    main()")
    points = set_lines(turns, "turns.py", {"line": empty}, {"line": last + 1}, {"line": last})
    assert [each["verified"] for each in points] == [True, False, True]
    assert points[0]["line"] == at("def main")
    assert "no code" in points[1]["message"]
    assert stops(turns) == [("breakpoint", at("def main")), ("breakpoint", last)]


def test_what_cannot_be_a_breakpoint_says_why(turns: Client, tmp_path: Path) -> None:
    turns.begin(stopAt="beginning")
    (point,) = set_lines(turns, "turns.py", {"line": at("before = acc"), "condition": "1 +"})
    assert (point["verified"], "no expression" in point["message"]) == (False, True)
    (tmp_path / "bad.py").write_text("def\n")
    for path in (tmp_path / "bad.py", tmp_path / "missing.py"):
        (point,) = set_lines(turns, path, {"line": 1})
        assert (point["verified"], "no Python source" in point["message"]) == (False, True)
    assert stops(turns) == []


@pytest.mark.parametrize("spelling", ["relative", "absolute", "linked"])
def test_a_file_by_any_name(
    spelling: str, turns: Client, recorded: Recorded, tmp_path: Path
) -> None:
    path = recorded("turns").with_name("turns.py")
    link = tmp_path / "linked.py"
    link.symlink_to(path)
    name = {"relative": "turns.py", "absolute": str(path), "linked": str(link)}[spelling]
    turns.begin(stopAt="beginning")
    assert set_lines(turns, name, {"line": at("before = acc")})[0]["verified"]
    assert stops(turns) == [("breakpoint", at("before = acc"))] * 4


def test_setting_a_file_again_replaces_its_breakpoints(turns: Client) -> None:
    turns.begin(stopAt="beginning")
    set_lines(turns, "turns.py", {"line": at("before = acc")})
    set_lines(turns, "turns.py", {"line": at('print("total'), "condition": "account.balance == 4"})
    assert stops(turns) == [("breakpoint", at('print("total'))]
    turns.move("restart")
    set_lines(turns, "turns.py")
    assert stops(turns) == []


def test_lines_may_be_counted_from_zero(turns: Client) -> None:
    turns.ask("initialize", linesStartAt1=False)
    turns.ask("launch", stopAt="beginning")
    turns.ask("configurationDone")
    assert turns.where(turns.await_event("stopped"))[2] == 0
    (point,) = set_lines(turns, "turns.py", {"line": at("before = acc") - 1})
    assert point["line"] == at("before = acc") - 1
    assert turns.where(turns.move("continue"))[2] == at("before = acc") - 1


def test_locations(turns: Client) -> None:
    turns.begin(stopAt="beginning")
    first, last = at("def main") - 2, at("account = Account")
    source = {"path": "turns.py"}
    found = turns.ask("breakpointLocations", source=source, line=first, endLine=last)
    assert found["breakpoints"] == [{"line": at("def main")}, {"line": last}]
    assert turns.ask("breakpointLocations", source=source, line=first)["breakpoints"] == []


def test_functions(turns: Client) -> None:
    turns.begin(stopAt="beginning")
    wanted: list[dict[str, Any]] = [
        {"name": "__init__"},
        {"name": "add", "condition": "amount == 2"},
        {"name": "no_such_function"},
    ]
    points = turns.ask("setFunctionBreakpoints", breakpoints=wanted)["breakpoints"]
    assert [each["verified"] for each in points] == [True, True, False]
    assert "no_such_function" in points[2]["message"]
    lines = [at("self.balance = 0"), at("result = am")]
    assert stops(turns) == [("function breakpoint", each) for each in lines]


def test_a_function_of_a_library_is_found_once_the_program_knows_it(turns: Client) -> None:
    turns.begin(stopAt="beginning")
    wanted = [{"name": "threading.Thread.join"}]
    (point,) = turns.ask("setFunctionBreakpoints", breakpoints=wanted)["breakpoints"]
    assert not point["verified"]
    set_lines(turns, "turns.py", {"line": at("account = Account")})
    turns.move("continue")
    assert turns.await_event("breakpoint")["breakpoint"] == {"id": point["id"], "verified": True}
    stopped = turns.move("continue")
    assert (stopped["reason"], turns.where(stopped)[1]) == ("function breakpoint", "Thread.join")
    assert stopped["hitBreakpointIds"] == [point["id"]]


# ---- data ----


def info(client: Client, **arguments: Any) -> Document:
    return client.ask("dataBreakpointInfo", **arguments)


def test_data_by_a_variable_of_a_scope(turns: Client) -> None:
    turns.begin()
    scopes = turns.ask("scopes", frameId=turns.stack(1)[0]["id"])["scopes"]
    (account,) = [
        each
        for each in turns.ask("variables", variablesReference=scopes[0]["variablesReference"])[
            "variables"
        ]
        if each["name"] == "account"
    ]
    inside = account["variablesReference"]
    data = info(turns, variablesReference=inside, name="balance")
    assert "account.balance in main" in data["description"]
    turns.ask("setDataBreakpoints", breakpoints=[{"dataId": data["dataId"], "accessType": "write"}])
    stopped = turns.move("reverseContinue")
    assert turns.where(stopped) == (3, "deposit", at("account.balance = add"))
    assert stopped["text"] == "account.balance is written"
    turns.ask("setDataBreakpoints", breakpoints=[])
    assert turns.move("reverseContinue")["reason"] == "entry"


def test_data_that_cannot_be_watched(turns: Client) -> None:
    turns.begin()
    frame = turns.stack(1)[0]["id"]
    data = info(turns, name="account.", frameId=frame)
    assert (data["dataId"], "no expression" in data["description"]) == (None, True)
    data = info(turns, name="missing.name", frameId=frame)
    assert (data["dataId"], "NameError" in data["description"]) == (None, True)
    data = info(turns, name="account.log[missing]", frameId=frame)
    assert (data["dataId"], "NameError" in data["description"]) == (None, True)
    data = info(turns, name="account.balance", frameId=frame)
    wanted = [
        {"dataId": "nothing"},
        {"dataId": data["dataId"], "accessType": "read"},
        {"dataId": data["dataId"], "condition": "True"},
    ]
    points = turns.ask("setDataBreakpoints", breakpoints=wanted)["breakpoints"]
    assert [each["verified"] for each in points] == [False] * 3
    assert all(each["message"] for each in points)


def test_an_expression_that_is_never_written_stops_where_it_changes(turns: Client) -> None:
    turns.begin()
    frame = turns.stack(1)[0]["id"]
    data = info(turns, name="len(account.log)", frameId=frame)
    turns.ask("setDataBreakpoints", breakpoints=[{"dataId": data["dataId"]}])
    stopped = turns.move("reverseContinue")
    assert (stopped["reason"], stopped["text"]) == ("data breakpoint", "3 -> 4")


# ---- exceptions ----


def test_uncaught_exceptions_in_both_directions(adapter: Start) -> None:
    client = adapter("failing").client
    client.begin(stopAt="beginning", filters=("uncaught",))
    first, second = line_of("failing", "raise Odd"), line_of("failing", "missing")
    assert stops(client) == [("exception", first), ("exception", second)]
    back = [client.move("reverseContinue") for _ in range(3)]
    assert [each["reason"] for each in back] == ["exception", "exception", "entry"]
    points = client.ask("setExceptionBreakpoints", filters=["raised"])["breakpoints"]
    assert (points[0]["verified"], "uncaught" in points[0]["message"]) == (False, True)
    assert stops(client) == []


def test_what_an_exception_is(adapter: Start) -> None:
    client = adapter("failing").client
    client.begin(stopAt="beginning", filters=("uncaught",))
    stopped = client.move("continue")
    said = client.ask("exceptionInfo", threadId=stopped["threadId"])
    assert (said["exceptionId"], said["description"]) == ("Odd", "odd 1")
    assert said["breakMode"] == "unhandled"
    assert said["details"]["stackTrace"].endswith("raise Odd(number)\nOdd: odd 1\n")
    client.move("continue")
    said = client.ask("exceptionInfo", threadId=1)
    assert (said["exceptionId"], said["description"]) == ("KeyError", "'missing'")
    assert "reenact" not in said["details"]["stackTrace"]
