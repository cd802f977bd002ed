"""Who wrote a value, and why a line failed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from reenact.debug.terminal.reading import read_by, written_by
from reenact.debug.terminal.sources import _around

from .sessions import Typed, record

Open = Callable[..., Typed]


def test_last_write_of_an_attribute_goes_to_the_thread_that_did(opened: Open) -> None:
    typed = opened("lost")
    told = typed("last-write shelf.loaves")
    assert told[-3:] == [
        "> lost.py(14)Shelf.sell_slowly()",
        "-> self.loaves = before - count",
        "thread 1 writes to shelf.loaves here; it was 8 later",
    ]
    assert typed("p self.loaves, before") == ["(7, 10)"]
    typed("lw self.loaves")
    assert (typed.session.thread, typed.line) == (2, 18)
    typed("lw self.loaves")
    assert (typed.session.thread, typed.function) == (0, "Shelf.__init__")
    assert typed("lw self.loaves")[0].startswith("*** no line before here writes to self.loaves")


def test_last_write_of_names(opened: Open) -> None:
    typed = opened("calls")
    typed("b double, number == 3")
    typed("rc")
    typed("up")
    assert typed("last-write total")[1] == "-> total += double(number)"
    assert typed("p number, total") == ["(2, 2)"]
    typed("goto end")
    assert typed("last-write total")[0].startswith("*** thread 0 runs no code")


AGAIN = """\
import threading

lock = threading.Lock()


def take(is_last):
    if not is_last:
        task = 1
        kept = [lambda: task, task]
    with lock:
        pass
    with lock:
        pass
    return None


take(False)
take(True)
for number in list(map(take, [False, True])):
    pass
"""


@pytest.mark.parametrize("name", ["task", "kept"])  # in a cell, and not
def test_last_write_is_none_of_an_earlier_call(opened: Open, tmp_path: Path, name: str) -> None:
    typed = opened(record(tmp_path, "again", AGAIN))
    typed("restart")
    typed("b 14")
    typed("c")
    assert typed("p is_last") == ["False"]
    typed("c")
    assert typed("p is_last") == ["True"]
    step = typed.traveller.stop.place.step
    for before in range(0, step):
        typed(f"goto {before}")  # has a checkpoint from now on, which a search begins at
    typed(f"goto {step}")
    assert typed(f"lw {name}")[0].startswith(f"*** no line before here writes to {name}")


WAITS = """\
import threading

first, second = threading.Event(), threading.Event()


def pause(number):
    if number == 1:
        first.set()
        second.wait()
    return number


def both():
    first.wait()
    second.set()


thread = threading.Thread(target=both)
thread.start()
numbers = list(map(pause, [1, 2]))
thread.join()
"""


def test_who_called_wrote_the_arguments(opened: Open, tmp_path: Path) -> None:
    """Though another thread ran while this line was in another call."""
    typed = opened(record(tmp_path, "waits", WAITS))
    typed("restart")
    typed("b 10, number == 2")
    typed("c")
    typed("lw number")
    assert (typed.session.thread, typed.line, typed.function) == (0, 20, "<module>")


MANY_CELLS = """\
def outer(a, b, c, d, e, f):
    def inner():
        return a + b + c + d + e + f
    return inner()


outer(1, 2, 3, 4, 5, 6)
outer(*"abcdef")
"""


def test_arguments_that_functions_inside_use(opened: Open, tmp_path: Path) -> None:
    typed = opened(record(tmp_path, "cells", MANY_CELLS))
    typed("restart")
    typed("b 4, a == 'a'")
    typed("c")
    typed("lw f")
    assert (typed.line, typed.function) == (8, "<module>")


def test_a_watched_variable_is_of_one_call(opened: Open, tmp_path: Path) -> None:
    source = "def f(n):\n    x = n\n    x += 1\n    x *= 2\n    return x\n\nf(1)\nf(2)\nf(3)\n"
    typed = opened(record(tmp_path, "calls_again", source))
    typed("restart")
    typed("tbreak 3, n == 2")
    typed("c")
    typed("watch x")
    typed("c")
    assert (typed.line, typed("p n")) == (4, ["2"])
    typed("c")
    assert typed.traveller.stop.why == "end"
    typed("rc")
    assert (typed.line, typed("p n")) == (4, ["2"])
    typed("rc")
    assert (typed.line, typed("p n")) == (3, ["2"])
    typed("rc")
    assert (typed.line, typed("p n")) == (2, ["2"])
    typed("rc")
    assert typed.traveller.stop.why == "beginning"


@pytest.mark.parametrize("text", ["", "1 + 2", "nothing.there", "total +"])
def test_what_nobody_can_have_written(opened: Open, text: str) -> None:
    typed = opened("lost")
    place = typed.place
    assert typed(f"last-write {text}")[0].startswith("*** ")
    assert typed.place == place


def test_why_shows_the_chain_and_comes_back(opened: Open) -> None:
    typed = opened("lost")
    place = typed.place
    told = typed("why")
    assert (typed.place, typed.session.thread, typed.line) == (place, 0, 31)
    text = "\n".join(told)
    assert "    shelf.loaves is 8, written by ANOTHER THREAD, 1, at " in text
    assert "lost.py:14 in Shelf.sell_slowly\n    -> self.loaves = before - count" in text
    assert "        before is 10, written by ANOTHER THREAD, 1, at " in text
    assert "            self.loaves is 10, written by thread 0 at " in text
    assert "        count is 2, written by ANOTHER THREAD, 1, at " in text
    assert told[-1] == "        -> self._target(*self._args, **self._kwargs)"  # and no further


def test_why_tells_of_an_update_that_was_lost(opened: Open) -> None:
    typed = opened("update")
    told = typed("why")
    (lost,) = [each for each in told if "between its read and its write" in each]
    assert "of counts['a'], thread 2 wrote to it at " in lost
    assert told[2].startswith("    counts['a'] is 2, written by ANOTHER THREAD, 1, at ")
    typed("last-write counts['a']")
    typed("last-write counts['a']")
    assert (typed.session.thread, typed.function) == (2, "quick")


def test_why_goes_through_lists(opened: Open, tmp_path: Path) -> None:
    source = (
        "a, b = [1], [2]\nlists = [a, b]\nb[0] = 5\nassert sum(each[0] for each in lists) == 3\n"
    )
    typed = opened(record(tmp_path, "lists", source))
    told = typed("why")
    assert "    lists[1][0] is 5, written by thread 0 at " in "\n".join(told)
    assert "    -> b[0] = 5" in told
    assert any(each.startswith("    lists[0][0] is 1, and no line has written it") for each in told)


def test_why_where_something_is_missing(opened: Open, tmp_path: Path) -> None:
    source = "d = {'a': 1}\nkey = 'a'\ndel d[key]\nprint(d[key])\n"
    typed = opened(record(tmp_path, "missing", source))
    text = "\n".join(typed("why"))
    assert "    d[key] is not there (KeyError: 'a'), written by thread 0 at " in text
    assert "    -> del d[key]" in text


def read(source: str, line: int, **lengths: int) -> list[str]:
    import ast

    return read_by(_around(ast.parse(source).body, line), lengths.get)


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("assert a.b == c[d], message", ["a.b", "c[d]", "d"]),
        ("x = f(a, k=b.c)[0]", ["a", "b.c"]),
        ("x += y", ["x", "y"]),
        ("x[i] = y", ["y", "i"]),
        ("for x in a.items():\n    pass", ["a"]),
        ("with a.lock, b:\n    pass", ["a.lock", "b"]),
        ("return_ = lambda: a", []),
        ("x = a[1:n]", ["a", "n"]),
        ("x = [each.n for each in xs if each.ok]", ["xs[0].n", "xs[0].ok", "xs[1].n", "xs[1].ok"]),
        ("x = [f(one) for one in ys]", ["ys"]),
        ("x = [i for i in xs for j in i]", ["xs"]),
        ("def f(): pass", []),
    ],
)
def test_what_a_statement_reads(source: str, names: list[str]) -> None:
    assert read(source, 1, xs=2) == names


def test_who_raises_has_read_the_test() -> None:
    source = "def f(a, b):\n    if a < b.c:\n        raise ValueError(a, d)\n"
    assert read(source, 3) == ["a", "d", "b.c"]


def test_what_a_statement_writes() -> None:
    import ast

    def written(source: str) -> list[str]:
        return written_by(ast.parse(source).body)

    assert written("a = b.c = 1") == ["a", "b.c"]
    assert written("a[0] += 1") == ["a[0]"]
    assert written("a, b = 1, 2") == []
    assert written("f()") == []
