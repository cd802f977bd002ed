"""Small programs, recorded once, and sessions of the terminal debugger that are typed at.

The programs are recorded by the command line. A session runs in this process; what its commands
print comes back as lines.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from reenact.analysis.text import Row
from reenact.cli.debug import given_by
from reenact.debug.terminal import loop  # it knows all commands
from reenact.debug.terminal.session import Session
from reenact.debug.traveller import Traveller
from reenact.recordings.reader import Recording

ROOT = Path(__file__).parents[2]

CALLS = '''\
"""Functions that call each other."""
import threading


def double(number):
    result = number * 2
    return result


def total_of(numbers):
    """The sum of the doubled ones."""
    total = 0
    for number in numbers:
        total += double(number)
    return total


class Box:
    def __init__(self):
        self.content = []
        self.size = 0

    def put(self, thing):
        self.content.append(thing)
        self.size = len(self.content)


def main():
    box = Box()
    first = total_of([1, 2, 3])
    print("first", first)
    thread = threading.Thread(target=box.put, args=("from another",), name="putter")
    thread.start()
    thread.join()
    box.put("from main")
    print("size", box.size)
    return first


main()
'''

# The two clerks of examples/shelf.py, in the order that loses a sale: no search is needed.
LOST = """\
import threading

read, written = threading.Event(), threading.Event()


class Shelf:
    def __init__(self, loaves):
        self.loaves = loaves

    def sell_slowly(self, count):
        before = self.loaves
        read.set()
        written.wait()
        self.loaves = before - count

    def sell(self, count):
        read.wait()
        self.loaves = self.loaves - count
        written.set()


def main():
    shelf = Shelf(10)
    slow = threading.Thread(target=shelf.sell_slowly, args=(2,))
    quick = threading.Thread(target=shelf.sell, args=(3,))
    slow.start()
    quick.start()
    slow.join()
    quick.join()
    if shelf.loaves != 5:
        raise ValueError("a sale was lost")


main()
"""

# One line reads, lets the other thread write, and writes.
UPDATE = """\
import threading

read, written = threading.Event(), threading.Event()
counts = {"a": 1}


def waited(number):
    read.set()
    written.wait()
    return number


def slow():
    counts["a"] = waited(counts["a"]) + 1


def quick():
    read.wait()
    counts["a"] += 10
    written.set()


threads = [threading.Thread(target=each) for each in (slow, quick)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert counts["a"] == 12
"""


def reenact(place: Path, *words: str, typed: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "reenact", *words],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=place,
        input=typed,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def record(place: Path, name: str, source: str, *options: str) -> Path:
    """The path of the recording."""
    (place / f"{name}.py").write_text(source)
    path = place / f"{name}.reenact"
    done = reenact(place, "record", *options, "-o", str(path), f"{name}.py")
    assert path.exists(), done.stderr
    return path


class Typed:
    """A session that lines are typed at; `lines` is what it printed when it was opened."""

    def __init__(self, path: Path) -> None:
        recording = Recording.open(path)
        self.traveller = Traveller(recording)
        self.session = Session(self.traveller, given_by(recording, path.parent))
        self.traveller.open()
        self.lines: list[str] = []
        self._take(self.session.opened())

    def __call__(self, line: str) -> list[str]:
        self.lines = []
        loop.do(self.session, self._take, line)
        return self.lines

    def _take(self, rows: object) -> None:
        shown: list[Row] = list(rows)  # type: ignore[call-overload]
        self.lines += ["".join(text for _, text in row) for row in shown]

    @property
    def line(self) -> int:
        return self.session.frame.line

    @property
    def function(self) -> str:
        return self.session.frame.function

    @property
    def place(self) -> str:
        return str(self.traveller.stop.place)
