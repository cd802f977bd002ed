"""Reading commands: words, completion, prompts, interruption."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from reenact.debug.terminal import loop, words

from .sessions import Typed, record

Open = Callable[..., Typed]


@pytest.mark.parametrize(
    ("typed", "name", "rest"),
    [
        ("next", "next", ""),
        ("n  3", "next", "3"),
        ("p x + 1", "print", "x + 1"),
        ("p(x)", "print", "(x)"),
        ("reverse-step", "reverse-step", ""),
        ("list 3, 4", "list", "3, 4"),
    ],
)
def test_commands(typed: str, name: str, rest: str) -> None:
    found = words.split(typed)
    assert found is not None
    assert (found[0].name, found[1]) == (name, rest)


@pytest.mark.parametrize(
    "typed", ["x", "c = 5", "list(x)", "n.value", "a[0]", "b.c()", "s-1", "nothing at all", "!n"]
)
def test_expressions(typed: str) -> None:
    assert words.split(typed) is None


def test_completion(opened: Open) -> None:
    typed = opened("lost")
    line = ""
    completer = loop.Completer(typed.session, lambda: line)
    line = "reverse-s"
    assert completer.complete(line, 0) == "reverse-step"
    assert completer.complete(line, 1) is None
    line = "help wat"
    assert completer.candidates("wat") == ["watch"]
    line = "p she"
    assert completer.candidates("she") == ["shelf"]
    line = "p shelf.lo"
    assert completer.candidates("shelf.lo") == ["shelf.loaves"]
    line = "shelf.sell_"
    assert completer.candidates("shelf.sell_") == ["shelf.sell_slowly"]
    line = "p 1-she"
    assert completer.candidates("1-she") == ["1-shelf"]
    typed("goto end")
    assert completer.candidates("1-she") == []


def test_lines_that_are_given_are_shown_after_the_prompt(opened: Open) -> None:
    typed = opened("calls")
    shown: list[str] = []

    def show(rows: object) -> None:
        shown.extend("".join(text for _, text in row) for row in rows)  # type: ignore[attr-defined]

    given = loop.given(typed.session, ["# nothing\n", "restart\n", "q\n", "where\n"], shown.append)
    loop.run(typed.session, show, given)
    assert shown[:3] == [
        "(reenact end thread 0) # nothing",
        "(reenact end thread 0) restart",
        "> calls.py(1)<module>()",
    ]
    assert shown[-1].endswith(" thread 0) q")


LONG = """\
import threading

total = 0


def work(count):
    global total
    for _ in range(count):
        total += 1


thread = threading.Thread(target=work, args=(400_000,))
thread.start()
thread.join()
"""


def test_a_long_move_can_be_interrupted(tmp_path: Path) -> None:
    path = record(tmp_path, "long", LONG)
    with subprocess.Popen(
        [sys.executable, "-m", "reenact", "debug", str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONUNBUFFERED": "1"},
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write("restart\nb 9, total == -1\ncontinue\n")
        process.stdin.flush()
        before = ""
        while "continue" not in before:
            before = process.stdout.readline()
        time.sleep(0.5)  # the move takes many times as long
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "interrupted; still here\n"
        process.stdin.write("where\np 1 + 1\nclear\nb work\nc\nquit\n")
        process.stdin.close()
        rest = process.stdout.read().splitlines()
        assert process.wait(60) == 0
    place = before.split()[1]
    assert rest[0] == f"(reenact {place} thread 0) where"
    assert rest[1] == "> long.py(1)<module>()"
    assert rest[4] == "2"
    assert "> long.py(8)work()" in rest
