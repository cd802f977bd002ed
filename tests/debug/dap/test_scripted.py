"""A session as a person would have it: to a breakpoint, back over a thread switch, to a write."""

from __future__ import annotations

from pathlib import Path

from .client import Client
from .conftest import Recorded, line_of


def test_from_a_breakpoint_back_to_the_write(turns: Client, recorded: Recorded) -> None:
    source = {"path": str(Path(recorded("turns")).with_name("turns.py"))}
    reads, logs = line_of("turns", "before = acc"), line_of("turns", "log.append")
    writes = line_of("turns", "account.balance = add")

    assert turns.begin(stopAt="beginning")["reason"] == "entry"
    wanted = [{"line": reads, "condition": "account.balance == 3"}]
    (point,) = turns.ask("setBreakpoints", source=source, breakpoints=wanted)["breakpoints"]
    assert (point["verified"], point["line"]) == (True, reads)

    stopped = turns.move("continue")
    assert (stopped["reason"], stopped["hitBreakpointIds"]) == ("breakpoint", [point["id"]])
    assert turns.where(stopped) == (3, "deposit", reads)
    assert turns.value("account.balance") == "3"

    # The other thread wrote since this one has been here before.
    values = ["3"]
    while turns.where(stopped)[2] != logs:
        stopped = turns.move("stepBack", threadId=3)
        assert (stopped["reason"], stopped["threadId"]) == ("step", 3)
        values.append(turns.value("account.balance"))
    assert (values[0], values[-1]) == ("3", "2")
    assert values == sorted(values, reverse=True)

    stopped = turns.move("continue")
    assert turns.where(stopped) == (3, "deposit", reads)
    frame = turns.stack(3)[0]["id"]
    info = turns.ask("dataBreakpointInfo", name="account.balance", frameId=frame)
    assert info["accessTypes"] == ["write"]
    (data,) = turns.ask("setDataBreakpoints", breakpoints=[{"dataId": info["dataId"]}])[
        "breakpoints"
    ]
    assert data["verified"]

    stopped = turns.move("reverseContinue")
    assert (stopped["reason"], stopped["hitBreakpointIds"]) == ("data breakpoint", [data["id"]])
    assert turns.where(stopped) == (2, "deposit", writes)
    assert (turns.value("account.balance"), turns.value("before")) == ("2", "2")
    stopped = turns.move("next", threadId=2)
    assert turns.value("account.balance") == "3"
