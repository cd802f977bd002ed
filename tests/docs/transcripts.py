"""Examples of the documentation as a reader would type them: commands with what they print.

Owns how a console block is cut into commands, and when real output is as shown: its lines come in
the same order, `...` stands for any lines, and what differs from run to run is not compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

_BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)
_VARIES = (
    (re.compile(r"\b(\d[\d,]* runs?) in [\d.]+ s(, [\d,]+ a second)?"), r"\1"),
    (re.compile(r"\bpython 3\.\d+"), "python"),
    (re.compile(r"replayed [\d,]+ steps"), "replayed"),
    (re.compile(r"\bat 0x[0-9a-f]+"), "at 0x0"),
    (re.compile(r" \(with objects at other addresses\)"), ""),
    # of the debugger: steps and lines of libraries are those of this Python
    (re.compile(r"^\(reenact [\d+]+ thread"), "(reenact thread"),
    (re.compile(r"\bat \d+(\+\d+)?(?=,|$)"), "at 0"),
    (re.compile(r"\bthreading\.py:\d+"), "threading.py:0"),
    (re.compile(r": \d+ steps, (\d+ threads;)"), r": \1"),
)


def shown(page: Path, command: str) -> Iterator[list[str]]:
    """What the page says that the command prints, for each time that it is shown with something."""
    for block in _BLOCK.findall(page.read_text("utf-8")):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            typed, *lines = part.rstrip().splitlines()
            if typed.partition("#")[0].strip() == command and lines:
                yield lines


def difference(expected: list[str], output: str) -> str:
    """The first line shown that is not printed at its place; "" if all are."""
    real = [_settled(line) for line in output.splitlines()]
    at, may_skip = 0, False
    for line in map(_settled, expected):
        if line == "...":
            may_skip = True
            continue
        places = [place for place in range(at, len(real)) if real[place] == line]
        if not places or (not may_skip and places[0] != at):
            return f"{line!r} is not in its place; there is {real[at : at + 3]}"
        at, may_skip = places[0] + 1, False
    return "" if may_skip or at == len(real) else f"more than is shown: {real[at : at + 3]}"


def _settled(line: str) -> str:
    for pattern, settled in _VARIES:
        line = pattern.sub(settled, line)
    return line.rstrip()
