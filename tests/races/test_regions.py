"""Code that has a version without sites tells of all its races all the same."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tests.races.judged import reported

START = """
import threading

class Sum:
    def __init__(self, first):
        self.a = first
        self.b = first
        self.c = first

    def add(self, number):
        self.a = self.a + number
        self.b = self.b + number
        self.c = self.c + number

def total(rows, number, size):
    result = 0
    for i in range(size):
        result += rows[number][i]
    return result

def both(*functions):
    threads = [threading.Thread(target=each) for each in functions]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
"""

# What two threads do, and the names or keys that race; the lines say how a region could go wrong.
CASES = {
    "objects that others know": (
        """
        shared = Sum(0)
        def work():
            for _ in range(50):
                shared.add(1)
        both(work, work)
        """,
        {"a", "b", "c"},
    ),
    "objects of one's own": (
        """
        def work():
            own = Sum(0)
            for _ in range(50):
                own.add(1)
            assert own.c == 50
        both(work, work)
        """,
        set(),
    ),
    "an object that was one's own": (
        """
        box = []
        gate = threading.Event()
        def first():
            own = Sum(0)
            for _ in range(50):
                own.add(1)
            box.append(own)
            gate.set()
            own.add(1)
        def second():
            gate.wait()
            box[0].b = 7
        both(first, second)
        """,
        {"b"},
    ),
    "an operator that hands out the object": (
        """
        box = []
        gate = threading.Event()
        class Number:
            def __init__(self, owner):
                self.owner = owner
            def __add__(self, other):
                box.append(self.owner)
                gate.set()
                return self
        def first():
            own = Sum(0)
            own.add(1)
            own.a = Number(own)
            own.add(1)
        def second():
            gate.wait()
            box[0].c = 7
        both(first, second)
        """,
        {"c"},
    ),
    "a list that is read by all and written by one": (
        """
        rows = [[number] * 20 for number in range(20)]
        def reader():
            for _ in range(3):
                for number in range(20):
                    total(rows, number, 20)
        def writer():
            reader()
            rows[3][4] = 5
        both(reader, writer)
        """,
        {"4"},
    ),
    "lists that are only read": (
        """
        rows = [[number] * 20 for number in range(20)]
        def reader():
            for _ in range(3):
                assert total(rows, 2, 20) == 40
        both(reader, reader)
        """,
        set(),
    ),
    "a list that has got another item of another kind": (
        """
        box = []
        gate = threading.Event()
        class Number:
            def __init__(self, owner):
                self.owner = owner
            def __radd__(self, other):
                box.append(self.owner)
                gate.set()
                return other
        rows = [[1] * 20]
        def first():
            for _ in range(3):
                total(rows, 0, 20)
            rows[0][5] = Number(rows)
            total(rows, 0, 20)
        def second():
            gate.wait()
            box[0][0][9] = 7
        both(first, second)
        """,
        {"9"},
    ),
    "a list that grows after it was read": (
        """
        rows = [[1] * 20]
        def reader():
            for _ in range(3):
                total(rows, 0, 20)
        def writer():
            reader()
            rows[0].append(2)
            total(rows, 0, 21)
            rows[0][20] = 3
        both(writer, writer)
        """,
        {"20"},
    ),
    "an index that counts from the end": (
        """
        rows = [[1] * 20]
        def reader():
            for _ in range(3):
                total(rows, 0, 20)
            item = -1
            result = 0
            for i in range(3):
                result += rows[0][item]
        def writer():
            rows[0].append(2)
        both(reader, writer)
        """,
        {"contents"},
    ),
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("program, racing", CASES.values(), ids=CASES)
def test_all_races_of_regions_are_found(
    program: str, racing: set[str], seed: int, tmp_path: Path
) -> None:
    path = tmp_path / "program.py"
    path.write_text(START + textwrap.dedent(program))
    found, _ = reported(path, "--strategy", "random", "--seed", str(seed), "--slice", "20")
    assert not found["reasons"]
    races = [each["variable"] for each in found["findings"] if each["kind"] == "race"]
    assert {each["name"] or each["kind"] for each in races} == racing
