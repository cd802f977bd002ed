"""`reenact instrument`: every site on its line, and the reason for every one that is not there."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from reenact.cli import main

Capture = pytest.CaptureFixture[str]

DOCUMENT = Path(__file__).parents[3] / "docs" / "reference" / "json.md"
SOURCE = """\
import threading
LIMIT = 3
total = 0
class Account:
    def __init__(self, owner):
        self.owner = owner
        self.log = []
    def deposit(self, amount):
        global total
        self.balance += min(amount, LIMIT)
        self.log.append(amount)
        total = total + amount
def names(accounts):
    found = []
    for each in accounts:
        found.append(getattr(each, "owner"))
    return [name for name in found if name in accounts]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "bank.py"
    path.write_text(SOURCE)
    return path


def shown(capsys: Capture, path: Path, *options: str) -> str:
    assert main.main(["instrument", *options, str(path)]) == 0
    return capsys.readouterr().out


def notes(text: str) -> dict[int, list[str]]:
    """What stands below each line."""
    found: dict[int, list[str]] = {}
    number = 0
    for line in text.splitlines():
        if match := re.match(r" *(\d+)(  |$)", line):
            number = int(match[1])
        elif match := re.match(r" +\| *(.*)", line):
            found.setdefault(number, []).append(match[1])
    return found


def test_sites_stand_below_their_lines(file: Path, capsys: Capture) -> None:
    found = notes(shown(capsys, file))
    assert found[5] == ["4 tells of a new object"]
    assert found[10] == [
        "13 reads attribute balance",
        "13 writes attribute balance",
        "28 reads contents",
    ]
    assert found[11] == [
        "13 reads attribute log",
        "17 calls method append: writes the contents, if it is of a container",
    ]
    assert found[12] == ["8 writes global total", "16 reads global total"]
    assert found[15] == ["16 reads contents", "16 reads the contents, at each turn"]
    assert found[16][-1] == "21 reads attribute by name owner"


def test_what_was_left_out_has_its_reason(file: Path, capsys: Capture) -> None:
    text = shown(capsys, file)
    found = notes(text)
    assert found[6] == ["13 - attribute owner: no other thread can have the new object yet"]
    assert found[16][0] == "14 - method append: the container never leaves its function"
    assert text.endswith("\nnever bound again once others can see them: LIMIT\n")


def test_every_line_of_the_source_is_there(file: Path, capsys: Capture) -> None:
    lines = re.findall(r"^ *\d+  (.*)$", shown(capsys, file), re.MULTILINE)
    assert "\n".join(lines) + "\n" == SOURCE


def test_json_has_the_documented_fields(file: Path, capsys: Capture) -> None:
    document: dict[str, Any] = json.loads(shown(capsys, file, "--json"))
    section = DOCUMENT.read_text("utf-8").partition("## `reenact instrument --json`")[2]
    section = section.partition("\n## ")[0]
    assert {*re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)} == {*document}
    for each in ("sites", "cut"):
        row = re.findall(rf"^\| `{each}` \|.*$", section, re.MULTILINE)[0]
        assert {*re.findall(r"`(\w+)`", row)} - {each} == {*document[each][0]}
        assert {entry["kind"] for entry in document[each]} <= {*re.findall(r'`"(.*?)"`', section)}
    assert (document["format"], document["file"]) == (1, str(file))
    where = {(each["line"], each["kind"], each["name"]) for each in document["sites"]}
    assert (10, "attribute", "balance") in where
    reasons = {each["name"]: each["reason"] for each in document["cut"] if each["kind"] == "global"}
    assert reasons == {"LIMIT": "it is never bound again once others can see it"}


@pytest.mark.parametrize("text", [None, "def f(:", "x = '\0'"])
def test_what_is_no_source(tmp_path: Path, capsys: Capture, text: str | None) -> None:
    path = tmp_path / "broken.py"
    if text is not None:
        path.write_text(text)
    assert main.main(["instrument", str(path)]) != 0
    assert "broken.py" in capsys.readouterr().err


def test_sources_in_other_encodings(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "latin.py"
    path.write_bytes("# coding: latin-1\nx = 'é'\r\ny.z\n".encode("latin-1"))
    text = shown(capsys, path)
    assert "x = 'é'" in text
    assert notes(text)[3] == ["2 reads attribute z"]


def test_for_the_race_detector(file: Path, capsys: Capture) -> None:
    """Which need not be told what `+=` reads, nor, on trust, of a truth."""
    file.write_text("def f(a):\n    if a: a.x += 1\n")
    texts = []
    for options in ([], ["--races"], ["--heuristic"]):
        assert main.main(["instrument", "--json", *options, str(file)]) == 0
        found = json.loads(capsys.readouterr().out)
        texts.append([each["text"] for each in found["sites"]])
    assert texts[0] == ["reads contents", "reads attribute x", "writes attribute x"]
    assert texts[1:] == [["reads contents", "writes attribute x"], ["writes attribute x"]]


def test_a_finalizer_tells_of_the_end_of_its_object(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "resource.py"
    path.write_text("class Resource:\n    def __del__(self):\n        self.state = 0\n")
    assert notes(shown(capsys, path))[2] == ["4 tells of its end"]
