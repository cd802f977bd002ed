"""A real session at a real terminal: typed keys, and what is on the screen then."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .sessions import record

pytestmark = pytest.mark.skipif(
    shutil.which("tmux") is None, reason="tmux is not installed: tools/install-servers does that"
)
PATIENCE_S = 60
TURNS = Path(__file__).parent / "dap/programs/turns.py"


class Screen:
    """A terminal of 100 columns and 60 rows."""

    def __init__(self, place: Path, cache: Path, command: list[str]) -> None:
        self._name = f"reenact-{uuid.uuid4().hex[:8]}"
        environment = {
            "PYTHONPATH": os.pathsep.join(sys.path),
            "REENACT_CACHE_DIR": str(cache),
            "TERM": "screen-256color",
        }
        words = ["env", "-u", "NO_COLOR", *(f"{k}={v}" for k, v in environment.items()), *command]
        line = f"{shlex.join(words)}; echo it ended with $?; sleep 100"
        self._tmux("new-session", "-d", "-x", "100", "-y", "60", "-c", str(place), line)

    def _tmux(self, *words: str) -> str:
        command = ["tmux", "-L", self._name, "-f", "/dev/null", *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)
        return done.stdout

    def press(self, *keys: str) -> None:
        self._tmux("send-keys", *keys)

    def lines(self, *options: str) -> list[str]:
        return self._tmux("capture-pane", "-p", *options).rstrip("\n").split("\n")

    def wait(self, is_there: Callable[[list[str]], bool]) -> list[str]:
        """The screen, as soon as it shows what is waited for."""
        for _ in range(PATIENCE_S * 10):
            if is_there(self.lines()):
                return self.lines()
            time.sleep(0.1)
        raise AssertionError("\n".join(self.lines()))

    def prompt(self, thread: int, count: int) -> list[str]:
        """Wait for the prompt to be there so many times, with nothing behind it the last time."""

        def is_there(lines: list[str]) -> bool:
            prompts = [each for each in lines if each.startswith("(reenact ")]
            return len(prompts) == count and lines[-1].endswith(f"thread {thread})")

        return self.wait(is_there)

    def close(self) -> None:
        self._tmux("kill-server")


@pytest.fixture
def open_screen(tmp_path: Path) -> Iterator[Callable[[Path], Screen]]:
    """A terminal with the debugger of a recording in it."""
    made: list[Screen] = []

    def open_one(path: Path) -> Screen:
        command = [sys.executable, "-m", "reenact", "debug", path.name]
        made.append(Screen(path.parent, tmp_path, command))
        return made[-1]

    yield open_one
    for each in made:
        each.close()


@pytest.fixture
def screen(recordings: dict[str, Path], open_screen: Callable[[Path], Screen]) -> Screen:
    return open_screen(recordings["lost"])


def test_a_session(screen: Screen) -> None:
    screen.prompt(0, 1)
    screen.press("p shelf.lo", "Tab", "Enter")  # completed: shelf.loaves
    screen.prompt(0, 2)
    screen.press("last-", "Tab", " shelf.loaves", "Enter")
    screen.prompt(1, 3)
    screen.press("p bef", "Tab", "Enter")
    screen.prompt(1, 4)
    screen.press("Up", "Up", "Up", "Enter")  # p shelf.loaves again, which is unknown here
    screen.prompt(1, 5)
    screen.press("half a line")
    screen.wait(lambda lines: lines[-1].endswith("half a line"))
    screen.press("C-c")
    screen.prompt(1, 6)
    screen.press("rn", "Enter")
    lines = screen.prompt(1, 7)
    places = [each.split()[1] for each in lines if each.startswith("(reenact ")]
    here, write, before = places[0], places[2], places[6]
    assert lines[1:] == [
        "it failed here: ValueError: a sale was lost",
        "> lost.py(31)main()",
        '-> raise ValueError("a sale was lost")',
        f"(reenact {here} thread 0) p shelf.loaves",
        "8",
        f"(reenact {here} thread 0) last-write shelf.loaves",
        "[thread 1 Thread-1 (sell_slowly)]",
        "> lost.py(14)Shelf.sell_slowly()",
        "-> self.loaves = before - count",
        "thread 1 writes to shelf.loaves here; it was 8 later",
        f"(reenact {write} thread 1) p before",
        "10",
        f"(reenact {write} thread 1) p shelf.loaves",
        "*** NameError: name 'shelf' is not defined",
        f"(reenact {write} thread 1) half a line",
        f"(reenact {write} thread 1) rn",
        "> lost.py(13)Shelf.sell_slowly()",
        "-> written.wait()",
        f"(reenact {before} thread 1)",
    ]
    assert any("\x1b[31m" in each for each in screen.lines("-e"))  # red on a terminal
    screen.press("C-d")
    lines = screen.wait(lambda lines: lines[-1].startswith("it ended with"))
    assert lines[-1] == "it ended with 0"


def test_from_a_breakpoint_back_to_the_write(
    open_screen: Callable[[Path], Screen], tmp_path: Path
) -> None:
    """To a breakpoint, back over a thread switch, and to the write, as an editor's user does it in
    dap/test_scripted.py."""
    source = TURNS.read_text("utf-8")
    read = source.splitlines().index("        before = account.balance") + 1
    screen = open_screen(record(tmp_path, "turns", source))
    screen.prompt(0, 1)
    typed = [
        ("restart", 0),
        (f"break {read}, account.balance == 3", 0),
        ("continue", 2),
        ("p account.balance", 2),
        *[("reverse-step", 2)] * 4,
        ("p account.balance", 2),
        ("continue", 2),
        ("watch account.balance", 2),
        ("reverse-continue", 1),
        ("p account.balance, before", 1),
        ("next", 1),
        ("p account.balance", 1),
    ]
    for count, (words, thread) in enumerate(typed, 2):
        screen.press(words, "Enter")
        lines = screen.prompt(thread, count)
    at = next(each.split()[1] for each in lines if each.endswith("watch account.balance"))
    assert [re.sub(r"\(reenact \S+ thread", "(thread", each) for each in lines[4:]] == [
        "(thread 0) restart",
        "> turns.py(1)<module>()",
        f"-> {source.splitlines()[0]}",
        f"(thread 0) break {read}, account.balance == 3",
        f"breakpoint 1 at turns.py:{read} if account.balance == 3",
        "(thread 0) continue",
        "breakpoint 1",
        "[thread 2 Thread-2 (deposit)]",
        f"> turns.py({read})deposit()",
        "-> before = account.balance",
        "(thread 2) p account.balance",
        "3",
        "(thread 2) reverse-step",
        f"> turns.py({read - 1})deposit()",
        "-> mine.acquire()",
        "(thread 2) reverse-step",
        f"> turns.py({read - 2})deposit()",
        "-> for number in range(2):",
        "(thread 2) reverse-step",
        f"> turns.py({read + 3})deposit()",
        "-> other.release()",
        "(thread 2) reverse-step",
        f"> turns.py({read + 2})deposit()",
        "-> account.log.append((number, before))",
        "(thread 2) p account.balance",  # before the other thread went on
        "2",
        "(thread 2) continue",
        "breakpoint 1",
        f"> turns.py({read})deposit()",
        "-> before = account.balance",
        "(thread 2) watch account.balance",
        f"watch 2: where account.balance is written, as it is meant in deposit of thread 2 at {at}",
        "(thread 2) reverse-continue",
        "watch 2: account.balance is written here",
        "[thread 1 Thread-1 (deposit)]",
        f"> turns.py({read + 1})deposit()",
        "-> account.balance = add(before, 1)",
        "(thread 1) p account.balance, before",
        "(2, 2)",
        "(thread 1) next",
        f"> turns.py({read + 2})deposit()",
        "-> account.log.append((number, before))",
        "(thread 1) p account.balance",
        "3",
        "(thread 1)",
    ]
