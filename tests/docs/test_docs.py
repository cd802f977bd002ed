"""The documentation is checked: links, commands, options, the table of calls, its examples."""

from __future__ import annotations

import argparse
import importlib.util
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from reenact import config
from reenact.cli import main
from reenact.inputs import SOURCES
from reenact.strategies.interface import Candidate

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def parser() -> argparse.ArgumentParser:
    return main.parser(tuple(main.COMMANDS))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_shown_are_commands(page: Path) -> None:
    for line in re.findall(r"^\$ (reenact .*)$", page.read_text("utf-8"), re.MULTILINE):
        words = shlex.split(line, comments=True)[1:]
        parser().parse_args(main.arranged(words))


def test_every_option_is_in_the_reference() -> None:
    page = (ROOT / "docs/reference/commands.md").read_text("utf-8")
    (commands,) = [
        action for action in parser()._actions if isinstance(action, argparse._SubParsersAction)
    ]
    for name, command in commands.choices.items():
        assert f"## reenact {name}" in page
        for action in command._actions:
            for option in action.option_strings:
                assert option in ("-h", "--help") or option in page, (name, option)


def test_every_option_of_the_plugin_is_in_the_reference() -> None:
    page = (ROOT / "docs/reference/pytest.md").read_text("utf-8")
    source = (ROOT / "src/reenact_pytest/__init__.py").read_text("utf-8")
    options = re.findall(r'"(--reenact[a-z-]*)"', source)
    assert len(options) > 5
    for option in options:
        assert f"| `{option}" in page, option


def test_every_setting_is_in_the_reference_and_its_example_is_right(tmp_path: Path) -> None:
    page = (ROOT / "docs/reference/configuration.md").read_text("utf-8")
    for name in (*config.KEYS, *SOURCES):
        assert f"| `{name}` |" in page
    for number, text in enumerate(examples("docs/reference/configuration.md", "docs/how-to.md")):
        path = tmp_path / f"{number}.toml"
        path.write_text(text)
        assert config.settle({}, config.read_named(str(path))).file


def examples(*pages: str) -> list[str]:
    texts = [(ROOT / page).read_text("utf-8") for page in pages]
    found = [example for text in texts for example in re.findall(r"```toml\n(.*?)```", text, re.S)]
    assert len(found) >= len(pages)
    return found


def test_the_table_of_calls_is_the_one_in_the_code() -> None:
    spec = importlib.util.spec_from_file_location("calls", ROOT / "tools/document_calls.py")
    assert spec is not None and spec.loader is not None
    calls = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(calls)
    page = calls.PAGE.read_text("utf-8")
    assert calls.page() == page, "run: python tools/document_calls.py"


def test_the_strategy_of_the_reference_works() -> None:
    page = (ROOT / "docs/reference/commands.md").read_text("utf-8")
    names: dict[str, type] = {}
    exec(re.findall(r"```python\n(.*?)```", page, re.DOTALL)[0], names)
    candidates = [Candidate(thread, "none", 0, "x.py", 1) for thread in (1, 3, 2)]
    assert names["NewestFirst"](0).choose(7, candidates) == 1


def test_the_tutorial_catches_its_race_and_its_fix_holds(tmp_path: Path) -> None:
    source = (ROOT / "examples/bank.py").read_text("utf-8")
    fixed = source.replace(
        "        self.balance = START\n",
        "        self.balance = START\n        self.lock = threading.Lock()\n",
    ).replace(
        "        self.balance = added(self.balance, amount)\n",
        "        with self.lock:\n            self.balance = added(self.balance, amount)\n",
    )
    (tmp_path / "bank.py").write_text(source)
    (tmp_path / "fixed.py").write_text(fixed)
    verdicts = [record_bank(tmp_path, "bank.py", seed) for seed in range(12)]
    assert any("WRONG" in verdict for verdict in verdicts)
    assert all("correct" in record_bank(tmp_path, "fixed.py", seed) for seed in range(12))
    wrong = next(seed for seed, verdict in enumerate(verdicts) if "WRONG" in verdict)
    replayed = reenact(tmp_path, "replay", f"bank.py-{wrong}.reenact")
    assert replayed.stdout == verdicts[wrong]
    assert "exactly as recorded" in replayed.stderr


def record_bank(place: Path, program: str, seed: int) -> str:
    path = f"{program}-{seed}.reenact"
    return reenact(
        place, "record", "--strategy", "random", "--seed", str(seed), "-o", path, program
    ).stdout


def reenact(place: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "reenact", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=place,
    )
