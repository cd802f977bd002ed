"""Going forwards and backwards."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from reenact.debug.traveller import Traveller

from .sessions import CALLS, Typed

Open = Callable[..., Typed]
LINES = CALLS.splitlines()


def number_of(text: str) -> int:
    (found,) = [number for number, line in enumerate(LINES, 1) if line.strip() == text]
    return found


@pytest.fixture
def calls(opened: Open) -> Typed:
    """At the first line of main."""
    typed = opened("calls")
    typed("restart")
    typed("tbreak main")
    typed("continue")
    assert LINES[typed.line - 1] == "    box = Box()"
    return typed


def test_without_a_failure_it_opens_at_the_end(opened: Open) -> None:
    typed = opened("calls")
    assert typed.lines[-1] == "the end: exited with code 0"
    assert typed.session.prompt == "(reenact end thread 0) "


def test_with_a_failure_it_opens_there(opened: Open) -> None:
    typed = opened("lost")
    assert typed.lines[1:] == [
        "it failed here: ValueError: a sale was lost",
        "> lost.py(31)main()",
        '-> raise ValueError("a sale was lost")',
    ]
    assert typed.session.prompt == f"(reenact {typed.place} thread 0) "


def test_restart_is_the_first_line_and_back_from_there_the_beginning(opened: Open) -> None:
    typed = opened("calls")
    assert typed("restart")[0] == "> calls.py(1)<module>()"
    assert typed("reverse-step") == ["before the program's first line"]
    assert typed("reverse-continue") == ["before the program's first line"]
    assert typed("step")[0] == "> calls.py(1)<module>()"
    typed("goto beginning")
    assert typed("next")[0] == "> calls.py(1)<module>()"


def test_next_stays_in_the_function_and_step_does_not(calls: Typed) -> None:
    assert calls("next")[0] == f"> calls.py({number_of('first = total_of([1, 2, 3])')})main()"
    assert calls("step")[0] == f"> calls.py({number_of('total = 0')})total_of()"
    assert calls("n")[1] == "-> for number in numbers:"
    assert calls("n")[1] == "-> total += double(number)"
    assert calls("n")[1] == "-> for number in numbers:"


def test_return_until_and_counts(calls: Typed) -> None:
    calls("n")
    calls("step 3")
    assert calls("p number, total") == ["(1, 0)"]
    assert calls("until") == [
        f"> calls.py({number_of('return total')})total_of()",
        "-> return total",
    ]
    assert calls("p total") == ["12"]
    assert calls("return")[1] == '-> print("first", first)'
    assert calls(f"until {number_of('thread.join()')}")[1] == "-> thread.join()"


def test_every_forward_move_has_its_reverse(calls: Typed) -> None:
    calls("n")
    at_call = calls.place
    calls("step")
    inside = calls.place
    calls("n")
    assert calls("reverse-next")[0].endswith("total_of()") and calls.place == inside
    calls("reverse-next")
    assert calls.place == at_call
    calls("step 4")
    assert calls.function == "double"
    assert calls("reverse-return")[1] == "-> total += double(number)"
    calls("reverse-return")
    assert calls.place == at_call


def test_stepping_back_visits_what_stepping_forward_has_visited(calls: Typed) -> None:
    there = [calls.place]
    for _ in range(20):
        calls("s")
        there.append(calls.place)
    assert len(set(there)) == 21
    back = [calls.place]
    for _ in range(20):
        calls("rs")
        back.append(calls.place)
    assert back == there[::-1]


def test_an_empty_line_does_the_last_command_again(calls: Typed) -> None:
    calls("n")
    first = calls.place
    calls("")
    assert calls.place != first
    assert calls.function == "main"
    calls("quit")
    assert calls("") == []


def test_goto(calls: Typed) -> None:
    place = calls.place
    calls("goto end")
    assert calls.place.endswith("(end)")
    calls(f"goto {place}")
    assert calls.place == place
    assert calls("goto 99999999")[0] == "the end: exited with code 0"
    assert calls("goto nowhere")[0].startswith("*** goto what?")
    step = place.partition("+")[0]
    calls(f"goto {step}")
    assert calls.place == step


def test_a_step_of_another_thread(opened: Open) -> None:
    typed = opened("lost")
    typed("tbreak 18")
    typed("restart")
    typed("c")
    assert (typed.session.thread, typed.function) == (2, "Shelf.sell")
    typed("thread 1")
    while typed.function != "Shelf.sell_slowly":
        typed("up")
    assert typed("next")[-1] == "-> self.loaves = before - count"
    assert (typed.session.thread, typed("p self.loaves")) == (1, ["7"])
    assert typed("reverse-next")[-1] == "-> written.wait()"
    assert (typed.session.thread, typed("p self.loaves")) == (1, ["10"])


def test_at_the_end_there_is_nothing_further(opened: Open) -> None:
    typed = opened("calls")
    for command in ("step", "next", "continue"):
        assert typed(command) == ["the end: exited with code 0"]
    told = "*** thread 0 runs no code of the program's here; `reverse-step` goes to its last line"
    for command in ("return", "where", "p 1", "last-write main", "watch main", "why"):
        assert typed(command) == [told]
    assert not typed.session.stack
    typed("reverse-step")
    assert typed.session.stack


def test_that_there_are_no_checkpoints_is_said_once(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Traveller, "refusal", property(lambda self: "for a reason"))
    monkeypatch.setattr(Traveller, "checkpoints", property(lambda self: []))
    typed = opened("calls")
    assert "no checkpoints: for a reason; every move starts at the beginning" in typed.lines[1]
    assert typed("restart")[0] == "> calls.py(1)<module>()"
