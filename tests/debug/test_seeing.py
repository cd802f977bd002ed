"""Looking at threads, frames, source and values."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from .sessions import Typed

Open = Callable[..., Typed]


@pytest.fixture
def calls(opened: Open) -> Typed:
    """In `double`, for the second time."""
    typed = opened("calls")
    typed("restart")
    typed("b double, number == 2")
    typed("c")
    return typed


def test_where_up_and_down(calls: Typed) -> None:
    assert calls("where") == [
        "  calls.py(40)<module>()",
        "-> main()",
        "  calls.py(30)main()",
        "-> first = total_of([1, 2, 3])",
        "  calls.py(14)total_of()",
        "-> total += double(number)",
        "> calls.py(6)double()",
        "-> result = number * 2",
    ]
    assert calls("up") == ["> calls.py(14)total_of()", "-> total += double(number)"]
    assert calls("p total, numbers") == ["(2, [1, 2, 3])"]
    assert calls("u 9")[0] == "> calls.py(40)<module>()"
    assert calls("up") == ["*** this is the oldest frame"]
    calls("d 9")
    assert calls("down") == ["*** this is the newest frame"]


def test_next_goes_by_the_frame_that_is_looked_at(calls: Typed) -> None:
    calls("up 2")
    assert calls("next")[1] == '-> print("first", first)'


def test_list(calls: Typed) -> None:
    assert calls("list")[1] == "  2     import threading"
    assert "  6 B->     result = number * 2" in calls.lines
    assert len(calls.lines) == 11
    assert calls("l")[0].split() == ["12", "total", "=", "0"]
    assert calls("l 38")[-2].split() == ["40", "main()"]
    assert calls("l") == ["*** that is the end of the file"]
    assert calls("l .")[0].startswith("  1")
    assert [each.split()[0] for each in calls("l 3, 5")] == ["3", "4", "5"]
    assert [each.split()[0] for each in calls("longlist")] == ["5", "6", "7"]


def test_values(calls: Typed) -> None:
    assert calls("p number * 2") == ["4"]
    assert calls("number + 1") == ["3"]
    assert calls("!number") == ["2"]
    assert calls("p sorted([3, number, 1])") == ["[1, 2, 3]"]
    assert calls("pp list(range(40))")[0] == "[0,"
    assert calls("whatis number") == ["<class 'int'>"]
    assert calls("p missing") == ["*** NameError: name 'missing' is not defined"]
    assert calls("p 1 +")[0].startswith("*** SyntaxError")
    assert calls("p")[0].startswith("*** of what?")
    assert calls("args") == ["number = 2"]
    calls("up")
    assert calls("args") == ["numbers = [1, 2, 3]"]
    assert calls("locals") == ["numbers = [1, 2, 3]", "total = 2", "number = 2"]


def test_what_an_expression_changes_it_changes_in_a_copy(calls: Typed) -> None:
    calls("up")
    assert calls("p numbers.append(4)") == [
        "None",
        "(done in a copy of the program that is thrown away: here, nothing has changed)",
    ]
    assert calls("p numbers") == ["[1, 2, 3]"]
    assert len(calls("numbers = 5")) == 1
    assert calls("p numbers") == ["[1, 2, 3]"]
    assert calls("print(number)")[0] == "2"
    assert calls("p __import__('os')._exit(3)")[0].startswith("***")
    assert calls("p number") == ["2"]


def test_display(calls: Typed) -> None:
    assert calls("display number") == ["display number: 2"]
    calls("clear")
    calls("b double")
    assert calls("c")[-1] == "display number: 3  [old: 2]"
    assert calls("rc")[-1] == "display number: 2  [old: 3]"
    assert calls("next")[-1] == "-> return result"
    assert calls("display") == ["display number: 2"]
    assert calls("undisplay result") == ["*** result is not displayed"]
    assert calls("undisplay number") == []
    assert calls("display") == []


def test_output(calls: Typed) -> None:
    assert calls("output") == ["*** nothing was printed up to here"]
    calls("goto end")
    assert calls("output") == ["first 12", "size 2"]
    assert calls("output 1") == ["size 2"]


def test_threads(opened: Open) -> None:
    typed = opened("lost")
    typed("restart")
    typed("b 18")
    typed("c")
    listed = typed("threads")
    assert listed[0].split()[:3] == ["0", "0", "MainThread:"] and "waits" in listed[0]
    assert listed[1].split()[:2] == ["1", "0.1"]
    assert listed[2].startswith("*  2 0.2 ")
    typed("thread 1")
    assert typed("up")[0].startswith("> ") and typed.session.thread == 1
    while typed.function != "Shelf.sell_slowly":
        typed("up")
    assert typed("p before") == ["10"]
    assert typed("thread 0.2")[0] == "[thread 2]"
    assert typed("thread")[0] == "[thread 2]"
    assert typed("thread 9")[0].startswith("*** there is no thread 9 here")
    assert typed("thread x") == ["*** 'x' is no number of a thread"]


def test_a_source_that_has_changed_is_said(opened: Open, tmp_path: Path) -> None:
    from .sessions import record

    path = record(tmp_path, "short", "x = 1\nprint(x)\n")
    (tmp_path / "short.py").write_text("x = 1\nprint(x)\n# another\n")
    typed = opened(path)
    assert typed("restart")[0] == "> short.py(1)<module>() (source changed)"


def test_help_for_every_command(calls: Typed) -> None:
    from reenact.debug.terminal.words import COMMANDS, NAMES

    everything = "\n".join(calls("help"))
    for name, command in COMMANDS.items():
        assert f"  {name}" in everything
        assert calls(f"help {name}")[0] == command.usage
        assert len(command.help) > 20, name
        assert len(command.summary) < 100, name
    assert calls("help rc") == calls("? reverse-continue")
    assert calls("help nothing")[0].startswith("*** there is no command 'nothing'")
    as_in_pdb = {"s", "n", "r", "c", "b", "w", "u", "d", "l", "p", "pp", "a", "q"}
    assert as_in_pdb | {"rs", "rn", "rr", "rc"} <= set(NAMES)


def test_info(calls: Typed) -> None:
    calls("display number")
    told = calls("info")
    assert "calls.reenact" in told[0] and "2 threads; exited with code 0" in told[0]
    assert told[1] == f"at {calls.place}, thread 0"
    assert told[2].startswith("checkpoints at steps 0")
    assert told[3:] == ["breakpoint 1 at calls.py:6 if number == 2", "display number"]
