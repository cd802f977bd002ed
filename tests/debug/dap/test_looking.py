"""What an editor shows of a stopped program."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from .client import Adapter, Client, Document, RequestFailed
from .conftest import Recorded, line_of

Start = Callable[[str], Adapter]


@pytest.fixture
def values(adapter: Start) -> Client:
    """Stopped at the end of the function with all the values."""
    client = adapter("values").client
    client.begin(stopAt="beginning")
    wanted = [{"line": line_of("values", "return limit")}]
    client.ask("setBreakpoints", source={"path": "values.py"}, breakpoints=wanted)
    client.move("continue")
    return client


def scope(client: Client, number: int) -> list[Document]:
    frame = client.stack(1)[0]["id"]
    found = client.ask("scopes", frameId=frame)["scopes"][number]
    return inside(client, found)


def inside(client: Client, of: Document) -> list[Document]:
    found: list[Document] = client.ask("variables", variablesReference=of["variablesReference"])[
        "variables"
    ]
    return found


def by_name(variables: list[Document]) -> dict[str, Document]:
    return {each["name"]: each for each in variables}


def test_threads_and_what_they_wait_for(adapter: Start) -> None:
    client = adapter("locked").client
    stopped = client.begin()
    assert (stopped["reason"], "Deadlock" in stopped["description"]) == ("exception", True)
    names = {each["id"]: each["name"] for each in client.ask("threads")["threads"]}
    assert sorted(names) == [1, 2, 3]
    assert names[2].startswith("Thread-1 (take) (waits: acquire of lock ")
    assert names[2].endswith(", held by Thread-2 (take))")
    said = client.ask("exceptionInfo", threadId=stopped["threadId"])
    assert (said["exceptionId"], said["description"].count("waits")) == ("deadlock", 3)
    for thread in (2, 3):
        assert client.stack(thread)[0]["line"] == line_of("locked", "with other")


def test_frames_in_parts(turns: Client, recorded: Recorded) -> None:
    turns.begin(stopAt="beginning", functions=("add",))
    turns.move("continue")
    whole = turns.ask("stackTrace", threadId=2)
    names = [each["name"] for each in whole["stackFrames"]]
    assert names[:2] == ["add", "deposit"]
    assert whole["totalFrames"] == len(names) > 3
    part = turns.ask("stackTrace", threadId=2, startFrame=1, levels=1)
    assert [each["name"] for each in part["stackFrames"]] == ["deposit"]
    source = whole["stackFrames"][0]["source"]
    assert source == {
        "name": "turns.py",
        "path": str(recorded("turns").with_name("turns.py")),
    }
    assert whole["stackFrames"][-1]["presentationHint"] == "subtle"
    assert turns.stack(1)[-1]["name"] == "<module>"


def test_variables_are_unfolded_step_by_step(values: Client) -> None:
    found = by_name(scope(values, 0))
    assert (found["limit"]["value"], found["limit"]["type"]) == ("3", "int")
    assert found["text"]["variablesReference"] == 0
    assert "its repr raised" in found["broken"]["value"]
    table = by_name(inside(values, found["table"]))
    assert list(table) == ["['one']", "[(1, 2)]"]
    deep = by_name(inside(values, by_name(inside(values, table["[(1, 2)]"]))["['deep']"]))
    assert deep["name"]["evaluateName"] == "table[(1, 2)]['deep'].name"
    assert by_name(inside(values, deep["next"]))["name"]["value"] == "'b'"
    assert values.value(deep["name"]["evaluateName"]) == "'a'"
    (member,) = inside(values, found["some"])
    assert "evaluateName" not in member
    numbers = inside(values, found["numbers"])
    assert (len(numbers), numbers[-1]["value"]) == (201, "only the first 200 are shown")
    assert "look" in by_name(scope(values, 1))


def test_a_member_of_a_set_cannot_be_watched(values: Client) -> None:
    some = by_name(scope(values, 0))["some"]
    (member,) = inside(values, some)
    data = values.ask(
        "dataBreakpointInfo",
        variablesReference=some["variablesReference"],
        name=member["name"],
    )
    assert (data["dataId"], bool(data["description"])) == (None, True)


def test_expressions(values: Client) -> None:
    assert values.value("limit + 1") == "4"
    inner, outer = values.stack(1)
    assert values.value("limit", inner["id"]) == "3"
    with pytest.raises(RequestFailed, match="NameError: name 'limit' is not defined"):
        values.value("limit", outer["id"])
    with pytest.raises(RequestFailed, match="SyntaxError"):
        values.value("limit +")
    result = values.ask("evaluate", expression="[nodes] + [limit]", context="watch")
    assert [each["type"] for each in inside(values, result)] == ["Node", "int"]
    names = [each.get("evaluateName") for each in inside(values, result)]
    assert names[0] == "([nodes] + [limit])[0]"


def test_what_changes_the_program_does_not(values: Client) -> None:
    values.ask("evaluate", expression="numbers.clear()", context="repl")
    said = values.await_event("output")
    assert (said["category"], "thrown away" in said["output"]) == ("console", True)
    assert values.value("len(numbers)") == "300"
    assert values.ask("evaluate", expression="limit = 7", context="repl")["result"] == ""
    assert values.value("limit") == "3"
    assert [each["event"] for each in values.events] == ["output"]


def test_completions(values: Client) -> None:
    found = values.ask("completions", text="1 + nodes.ne", column=13)["targets"]
    assert found == [{"label": "next", "start": 10, "length": 2}]
    labels = [
        each["label"] for each in values.ask("completions", text="num + 1", column=4)["targets"]
    ]
    assert labels == ["numbers"]
    assert values.ask("completions", text="1 + ", column=5)["targets"] == []


def test_sources(values: Client, recorded: Recorded) -> None:
    path = recorded("values").with_name("values.py")
    assert values.ask("source", source={"path": str(path)})["content"] == path.read_text()
    with pytest.raises(RequestFailed, match="cannot be read"):
        values.ask("source", source={"path": "/nowhere.py"})


def test_what_was_printed_is_told_once(turns: Client) -> None:
    def printed() -> list[tuple[str, str]]:
        bodies = [each["body"] for each in turns.events if each["event"] == "output"]
        turns.events.clear()
        return [(each["category"], each["output"]) for each in bodies]

    turns.begin(stopAt="beginning", functions=("deposit",))
    assert printed() == []
    turns.move("continue")
    assert printed() == [("stdout", "begin\n")]
    turns.ask("setFunctionBreakpoints", breakpoints=[])
    turns.move("reverseContinue")
    assert printed() == []
    turns.move("continue")
    (out, error) = printed()
    assert out == ("stdout", "total 4\n")
    assert (error[0], error[1].splitlines()[-1]) == ("stderr", "AssertionError: no")
    turns.move("restart")
    turns.move("continue")
    assert printed()[0] == ("stdout", "begin\ntotal 4\n")


def test_numbers_of_an_earlier_stop_are_refused(turns: Client) -> None:
    turns.begin()
    frame = turns.stack(1)[0]["id"]
    reference = turns.ask("scopes", frameId=frame)["scopes"][0]["variablesReference"]
    turns.move("stepBack", threadId=1)
    with pytest.raises(RequestFailed, match="ask for the stackTrace again"):
        turns.ask("scopes", frameId=frame)
    with pytest.raises(RequestFailed, match="ask for the scopes again"):
        turns.ask("variables", variablesReference=reference)
    with pytest.raises(RequestFailed, match="no thread 9"):
        turns.ask("stackTrace", threadId=9)
    with pytest.raises(RequestFailed, match="has not stopped because of an exception"):
        turns.ask("exceptionInfo", threadId=1)
