"""Breakpoints and watches."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from .sessions import Typed, record

Open = Callable[..., Typed]


@pytest.fixture
def calls(opened: Open) -> Typed:
    typed = opened("calls")
    typed("restart")
    return typed


@pytest.mark.parametrize(
    ("where", "told"),
    [
        ("6", "breakpoint 1 at calls.py:6"),
        ("calls.py:7", "breakpoint 1 at calls.py:7"),
        ("double", "breakpoint 1 at calls.py:6"),
        ("calls.py:double", "breakpoint 1 at calls.py:6"),
        ("total_of", "breakpoint 1 at calls.py:12"),  # not its docstring
        ("Box.put", "breakpoint 1 at calls.py:24"),
        ("put, thing == 3", "breakpoint 1 at calls.py:24 if thing == 3"),
        ("8", "*** calls.py:8: nothing runs in that line"),
        ("800", "*** calls.py:800: the file has no such line"),
        ("other.py:8", "*** the program has loaded no file other.py up to here"),
        ("nothing", "*** there is no line and no function 'nothing' here"),
        ("6, 1 +", "*** '1 +' is no expression: invalid syntax"),
    ],
)
def test_where_a_breakpoint_can_be(calls: Typed, where: str, told: str) -> None:
    assert calls(f"break {where}") == [told]


def test_a_function_is_found_by_its_name_in_the_frame(calls: Typed) -> None:
    calls("tbreak main")
    calls("c")
    calls("n")
    assert calls("b box.put") == ["breakpoint 2 at calls.py:24"]
    assert calls("b threading.Thread.join")[0].startswith("breakpoint 3 at threading.py:")
    calls("clear 2")
    assert calls("c")[0] == "breakpoint 3"
    assert calls.function == "Thread.join"
    assert calls("b threading.py:Thread.start")[0].startswith("breakpoint 4 at threading.py:")


def test_without_a_frame_the_source_tells(opened: Open) -> None:
    typed = opened("calls")  # at its end
    assert typed("b double") == ["breakpoint 1 at calls.py:6"]
    assert typed("b 6, False") == ["breakpoint 2 at calls.py:6 if False"]
    typed("rc")
    assert (typed.line, typed("p number")) == (6, ["3"])


def test_breakpoints_stop_every_thread_in_both_directions(calls: Typed) -> None:
    calls("b Box.put")
    assert calls("c")[:2] == ["breakpoint 1", "[thread 1 putter]"]
    assert calls("p thing") == ["'from another'"]
    assert calls("c")[:2] == ["breakpoint 1", "[thread 0 MainThread]"]
    assert calls("p thing") == ["'from main'"]
    assert calls("c") == ["the end: exited with code 0"]
    calls("rc")
    assert calls("p thing") == ["'from main'"]
    calls("rc")
    assert calls("p thing") == ["'from another'"]
    assert calls("rc")[-1] == "before the program's first line"


def test_conditions(calls: Typed) -> None:
    calls("b double, number == 2")
    calls("c")
    assert calls("p number") == ["2"]
    assert calls("c") == ["the end: exited with code 0"]
    assert calls("condition 1 number > 2") == ["breakpoint 1 at calls.py:6 if number > 2"]
    calls("rc")
    assert calls("p number") == ["3"]
    assert calls("condition 1") == ["breakpoint 1 at calls.py:6"]
    calls("rc")
    assert calls("p number") == ["2"]


def test_temporary_ones_stop_once(calls: Typed) -> None:
    assert calls("tbreak double") == ["temporary breakpoint 1 at calls.py:6"]
    assert calls("c")[0] == "temporary breakpoint 1, which is deleted now"
    assert calls("c") == ["the end: exited with code 0"]
    assert calls("break") == ["no breakpoints, no watches"]


def test_disable_enable_and_clear(calls: Typed) -> None:
    calls("b double")
    calls("b total_of")
    assert calls("disable 1") == ["breakpoint 1 at calls.py:6 (disabled)"]
    calls("c")
    assert calls.function == "total_of"
    assert calls("enable 1") == ["breakpoint 1 at calls.py:6"]
    calls("c")
    assert calls.function == "double"
    assert calls("clear 1") == ["deleted 1"]
    assert calls("clear calls.py:12") == ["deleted 2"]
    assert calls("clear 7") == ["*** there is no breakpoint and no watch 7"]
    assert calls("c") == ["the end: exited with code 0"]
    assert calls("clear") == ["there was nothing to delete"]


def test_a_watched_attribute(opened: Open) -> None:
    typed = opened("lost")
    assert typed("watch shelf.loaves")[0].startswith("watch 1: where shelf.loaves is written")
    seen = []
    while not typed("rc")[0].startswith("before"):
        assert typed.lines[0] == "watch 1: shelf.loaves is written here"
        seen.append((typed.place, typed.session.thread, typed.function))
    assert [each[1:] for each in seen] == [
        (1, "Shelf.sell_slowly"),
        (2, "Shelf.sell"),
        (0, "Shelf.__init__"),
    ]
    again = []
    while not typed("c")[0].startswith("the end"):
        again.append((typed.place, typed.session.thread, typed.function))
    assert again == seen[::-1]
    assert typed("unwatch 1") == ["deleted 1"]
    assert typed("rc")[0] == "before the program's first line"


def test_a_watched_name_and_a_watched_expression(calls: Typed) -> None:
    calls("tbreak total_of")
    calls("c")
    calls("watch total")
    calls("c")
    calls("c")
    assert calls.lines[0] == "watch 2: total is written here"
    calls("unwatch")
    assert "where total > 3 has changed" in calls("watch total > 3")[0]
    assert calls("c")[0] == "watch 3: total > 3: False -> True"
    assert calls("p total") == ["6"]


def test_what_cannot_be_watched(calls: Typed) -> None:
    assert calls("watch 1 +") == ["*** '1 +' is no expression"]
    assert calls("watch")[0].startswith("*** what?")
    told = "*** 'nothing.there' means nothing here: NameError: name 'nothing' is not defined"
    assert calls("watch nothing.there")[0].startswith(told)
    assert calls("watch [1][nothing]")[0].startswith("*** '[1][nothing]' means nothing here: ")
    assert calls("unwatch 5") == ["*** there is no breakpoint and no watch 5"]


def test_all_that_stops_at_a_line_is_told(opened: Open) -> None:
    typed = opened("lost")
    typed("restart")
    typed("tbreak 11")
    typed("c")
    typed("watch self.loaves")
    typed("watch self . loaves")
    typed("b 18")
    told = ["breakpoint 4", "watch 2: self.loaves", "watch 3: self . loaves"]
    forward = typed("c")
    assert [each.partition(" is written")[0] for each in forward[:3]] == told
    typed("goto end")
    typed("rc")
    assert (typed.line, typed.session.thread) == (14, 1)
    back = typed("rc")
    assert [each.partition(" is written")[0] for each in back[:3]] == told
    assert (typed.line, typed.session.thread) == (18, 2)


def test_a_watch_goes_on_to_where_the_process_ends_itself(opened: Open, tmp_path: Path) -> None:
    source = "import os\nx = 1\nx = 2\nx = os._exit(3)\n"
    typed = opened(record(tmp_path, "exits", source))
    typed("restart")
    typed("n")
    typed("watch x")
    typed("b 4")
    typed("c")
    assert typed.line == 3
    assert typed("c")[0] == "breakpoint 2"
    assert typed.line == 4
