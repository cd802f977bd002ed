"""`reenact sources`: every choice, and who made it."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reenact.cli import main, program, sources
from reenact.inputs import SOURCES
from reenact.intercept.table import TABLE

Reenact = Callable[..., int]
Capture = pytest.CaptureFixture[str]

DOCUMENT = Path(__file__).parents[3] / "docs" / "reference" / "json.md"
FILE = """\
[tool.reenact]
instrument = ["requests"]
boundary = ["psycopg2:connect"]
sources.clock = "passed"
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text("")
    return tmp_path


@pytest.fixture
def ask() -> Reenact:
    return lambda *words: main.main(["sources", *map(str, words)])


def rows(text: str) -> dict[str, str]:
    """First word of a line, and the rest with single spaces."""
    words = [line.split() for line in text.splitlines() if line and not line.startswith(" ")]
    return {first: " ".join(rest) for first, *rest in words}


def document(capsys: Capture) -> Any:
    return json.loads(capsys.readouterr().out)


def test_defaults(ask: Reenact, capsys: Capture) -> None:
    assert ask() == 0
    shown = rows(capsys.readouterr().out)
    assert shown["settings"] == "no file has any"
    assert "program" not in shown
    for source in SOURCES:
        assert shown[source].startswith("recorded default")
    assert shown["boundary"] == "recorded design sqlite3, psycopg2, pygame"
    assert shown["ticks"].startswith("own code default")
    assert shown["strict"] == "no default"


def test_who_chose_is_said(ask: Reenact, here: Path, capsys: Capture) -> None:
    (here / "pyproject.toml").write_text(FILE)
    (here / "app.py").write_text("raise SystemExit('nobody runs this')")
    options = ["--source", "files=refused", "--boundary", "redis:*", "--strict"]
    assert ask(*options, "app.py", "--json", "-x") == 0
    out = capsys.readouterr().out
    shown = rows(out)
    assert shown["program"] == "app.py --json -x"
    assert shown["settings"] == "pyproject.toml"
    assert shown["clock"].startswith("passed pyproject.toml line 4")
    assert shown["files"].startswith("refused --source")
    assert shown["strict"] == "yes --strict"
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert "boundary recorded pyproject.toml line 3 psycopg2:connect" in lines
    assert "boundary recorded --boundary redis:*" in lines
    assert "ticks package pyproject.toml line 2 requests" in lines


def test_columns_are_aligned(ask: Reenact, here: Path, capsys: Capture) -> None:
    (here / "pyproject.toml").write_text(FILE)
    ask()
    _, _, head, *table = capsys.readouterr().out.splitlines()
    for title in ("treatment", "chosen by", "covers"):
        at = head.index(title)
        assert all(line[at - 2 : at].isspace() for line in table if len(line) > at)
    assert not any(line.endswith(" ") for line in table)


def test_every_call_of_the_table_is_shown(ask: Reenact, capsys: Capture) -> None:
    ask("--json")
    shown = document(capsys)
    groups = [shown["always"], *(source["calls"] for source in shown["sources"])]
    calls = [(call["of"], *call["names"]) for group in groups for call in group]
    assert sorted(calls) == sorted((row.owner, *row.names) for row in TABLE)
    ask()
    text = capsys.readouterr().out
    assert all(name in text for row in TABLE for name in row.names)


def test_calls_stand_with_their_source(
    ask: Reenact, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Row:
        owner, names, treatment, source = "time", ("time", "time_ns"), "clock", "clock"

    monkeypatch.setattr(sources, "TABLE", (Row(),))
    ask()
    assert rows(capsys.readouterr().out)["clock"] == "recorded default time: time, time_ns (clock)"
    ask("--json")
    shown = document(capsys)
    calls = {source["name"]: source["calls"] for source in shown["sources"]}
    assert calls.pop("clock") == [
        {"of": "time", "names": ["time", "time_ns"], "treatment": "clock"}
    ]
    assert not any(calls.values()) and shown["always"] == []


def test_json(ask: Reenact, here: Path, capsys: Capture) -> None:
    (here / "pyproject.toml").write_text(FILE)
    assert ask("--json", "--source", "random=passed", "-m", "app", "-v") == 0
    shown = document(capsys)
    assert shown["format"] == 1
    assert shown["program"] == {"mode": "module", "target": "app", "argv": ["-v"]}
    assert shown["file"] == "pyproject.toml"
    by_name = {source["name"]: source for source in shown["sources"]}
    assert tuple(by_name) == SOURCES
    assert by_name["clock"]["treatment"] == "passed"
    assert by_name["clock"]["origin"] == {"kind": "file", "file": "pyproject.toml", "line": 4}
    assert by_name["random"]["origin"] == {"kind": "option", "option": "--source"}
    assert by_name["files"]["origin"] == {"kind": "default"}
    line_3 = {"kind": "file", "file": "pyproject.toml", "line": 3}
    assert shown["boundary"] == [{"name": "psycopg2:connect", "origin": line_3}]
    line_2 = {"kind": "file", "file": "pyproject.toml", "line": 2}
    assert shown["instrument"] == {
        "enabled": True,
        "origin": {"kind": "default"},
        "packages": [{"name": "requests", "origin": line_2}],
    }
    assert shown["strict"] == {"value": False, "origin": {"kind": "default"}}


def test_every_field_is_documented(ask: Reenact, here: Path, capsys: Capture) -> None:
    (here / "pyproject.toml").write_text(FILE)
    ask("--json", "--strict", "-m", "app")
    shown = document(capsys)
    text = DOCUMENT.read_text("utf-8").partition("reenact sources --json`\n")[2]
    tables = [shown, shown["program"], shown["sources"][0], shown["always"][0], shown["strict"]]
    tables += [shown["sources"][0]["origin"], shown["boundary"][0], shown["instrument"]]
    names = {name for table in tables for name in table}
    assert [name for name in sorted(names) if f"`{name}`" not in text] == []


def test_no_ticks(ask: Reenact, here: Path, capsys: Capture) -> None:
    (here / "pyproject.toml").write_text(FILE)
    ask("--no-instrument")
    assert rows(capsys.readouterr().out)["ticks"] == "none --no-instrument"
    ask("--no-instrument", "--json")
    assert document(capsys)["instrument"] == {
        "enabled": False,
        "origin": {"kind": "option", "option": "--no-instrument"},
        "packages": [],
    }


def test_errors_are_those_of_record(ask: Reenact, here: Path, capsys: Capture) -> None:
    assert ask("missing.py") == 2
    assert "there is no file missing.py" in capsys.readouterr().err
    (here / "pyproject.toml").write_text("[tool.reenact]\n\nseed = 'x'")
    assert ask() == 2
    assert "pyproject.toml line 3: seed must be" in capsys.readouterr().err
    assert ask("--no-config") == 0


def test_every_option_with_a_value_is_known_where_programs_begin() -> None:
    """Else its value would be taken for the program."""
    parser = main.parser(("record", "sources"))
    (commands,) = [
        action for action in parser._actions if isinstance(action, argparse._SubParsersAction)
    ]
    for name in ("record", "sources"):
        for action in commands.choices[name]._actions:
            for option in action.option_strings:
                takes_one = action.nargs is None and option != "-m"
                assert (option in program._VALUED) == takes_one, (name, option)
