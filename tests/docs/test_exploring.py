"""What the documentation says of exploring is tried: commands, outputs, fields, examples."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import reenact
from reenact.explore.api import explore
from reenact.explore.explain import Told
from reenact.explore.result import Result
from reenact.explore.schedule import Schedule
from reenact.explore.search import Coverage
from reenact.findings import Failure
from reenact.strategies import SEARCHERS
from tests.docs.transcripts import difference, shown

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
LOCKED = """\
import threading


class Office:
    def __init__(self, seats):
        self.seats = seats
        self.sold = []
        self.lock = threading.Lock()

    def sell(self, name):
        with self.lock:
            if len(self.sold) < self.seats:
                self.sold.append(name)
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for path in (ROOT / "examples").glob("*.py"):
        shutil.copy(path, tmp_path)
    return tmp_path


def run(place: Path, *command: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # all but ours: loading them takes longest
    return subprocess.run(
        [sys.executable, "-m", *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=200,
        cwd=place,
        env=environment,
    )


def run_pytest(place: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run(place, "pytest", "-p", "no:cacheprovider", "-p", "reenact_pytest", *arguments)


def assert_shown(page: Path, command: str, output: str) -> None:
    transcripts = list(shown(page, command))
    assert transcripts, f"{page.name} does not show {command}"
    for expected in transcripts:
        assert not difference(expected, output), (difference(expected, output), output)


@pytest.mark.parametrize(
    ("page", "program", "name"),
    [
        ("README.md", "bank.py", "bank"),
        ("docs/tutorial.md", "bank.py", "found"),
        ("docs/how-to.md", "reply.py", "reply"),
    ],
)
def test_what_is_explored_prints_what_is_shown_and_replays(
    place: Path, page: str, program: str, name: str
) -> None:
    command = f"reenact explore -o {name}.reenact {program}"
    explored = run(place, *command.split())
    assert explored.returncode == 1, explored.stdout
    assert_shown(ROOT / page, command, explored.stdout)
    replayed = run(place, "reenact", "replay", f"{name}.reenact")
    assert "exactly as recorded" in replayed.stdout
    if page == "README.md":
        assert_shown(ROOT / page, f"reenact replay {name}.reenact", replayed.stdout)


def test_the_box_office_passes_fails_and_passes_again_once_it_has_a_lock(place: Path) -> None:
    assert run_pytest(place, "test_tickets.py").returncode == 0
    explored = run_pytest(place, "--reenact", "test_tickets.py")
    assert explored.returncode == 1
    assert_shown(ROOT / "README.md", "pytest --reenact test_tickets.py", explored.stdout)
    (place / "tickets.py").write_text(LOCKED)
    fixed = run_pytest(place, "--reenact", "test_tickets.py")
    assert fixed.returncode == 0
    assert_shown(DOCS / "tutorial.md", "pytest --reenact test_tickets.py", fixed.stdout)


def test_the_test_that_is_written_fails_and_passes_once_the_bank_is_fixed(place: Path) -> None:
    written = run(place, "reenact", "explore", "--write-test", "test_bank.py", "bank.py")
    assert written.returncode == 1, written.stdout
    assert run_pytest(place, "test_bank.py").returncode == 1
    source = (place / "bank.py").read_text()
    fixed = source.replace(
        "        self.balance = START\n",
        "        self.balance = START\n        self.lock = threading.Lock()\n",
    ).replace(
        "        self.balance = added(self.balance, amount)\n",
        "        with self.lock:\n            self.balance = added(self.balance, amount)\n",
    )
    (place / "bank.py").write_text(fixed)
    passed = run_pytest(place, "test_bank.py")
    assert passed.returncode == 0, passed.stdout


def test_the_example_of_the_api_finds_its_race(tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / "reference/api.md").read_text(), re.DOTALL)
    (example,) = [block for block in blocks if "reenact.explore(" in block]
    (tmp_path / "example.py").write_text(example)
    ran = subprocess.run(
        [sys.executable, "example.py"],
        capture_output=True,
        text=True,
        timeout=100,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert ran.stdout.startswith("failed assertion reachable with the GIL\n"), ran


def test_every_public_name_and_every_argument_is_in_the_reference() -> None:
    page = (DOCS / "reference/api.md").read_text("utf-8")
    for name in set(reenact.__all__) - {"__version__"}:
        assert re.search(rf"\b{name}\b", page), name
    for argument in explore.__kwdefaults__ or {}:
        assert re.search(rf"\b{argument}=", page), argument
    fields = {field.name for field in dataclasses.fields(Result)} - {"story", "loaded"}
    for name in fields | {"failure", "schedule", "explanation", "label", "runs"}:
        assert f"`{name}`" in page, name


def test_every_field_of_the_json_is_in_the_reference(place: Path) -> None:
    text = (DOCS / "reference/json.md").read_text("utf-8")
    page = text.partition("## `reenact explore --json`")[2]
    explored = run(place, "reenact", "explore", "--json", "transfer.py")
    told = json.loads(explored.stdout)
    names = {*told, *told["coverage"], *told["failure"], *told["details"]}
    for kind in (Coverage, Failure, Told):
        names |= {field.name for field in dataclasses.fields(kind)}
    assert told["failure"]["waiting"] and told["details"]["lines"]
    for name in (*names, *told["failure"]["waiting"][0], *told["details"]["lines"][0]):
        assert f"`{name}`" in page, name


def test_every_strategy_of_a_search_is_in_the_reference() -> None:
    page = (DOCS / "reference/commands.md").read_text("utf-8")
    for name in SEARCHERS:
        assert f"| `{name}` |" in page


def test_the_schedule_of_the_reference_is_one() -> None:
    page = (DOCS / "reference/schedules.md").read_text("utf-8")
    (block,) = re.findall(r"(?:^    .*\n)*^    reenact schedule 1\n(?:^    .*\n)*", page, re.M)
    text = re.sub(r"^    ", "", block, flags=re.M)
    assert Schedule.parse(text).text() == text


@pytest.mark.parametrize(
    ("expected", "is_right"),
    [
        (["1 run in 3.0 s", "b", "c"], True),
        (["...", "c"], True),
        (["1 run in 0.1 s", "..."], True),
        (["1 run in 0.1 s", "c"], False),
        (["2 runs in 0.1 s", "..."], False),
        (["1 run in 0.1 s", "b"], False),
    ],
)
def test_transcripts_are_compared_line_by_line(expected: list[str], is_right: bool) -> None:
    assert (difference(expected, "1 run in 0.1 s\nb\nc\n") == "") == is_right
