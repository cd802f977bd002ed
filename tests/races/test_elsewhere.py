"""Globals that are set from other modules: looked at if that is known in time, else it is said."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

CONFIG = "limit = 1\n\n\ndef read():\n    return limit\n"
SETTER = "{}\n\n\ndef change():\n    {}\n"
MAIN = """\
import threading
{}

threads = [threading.Thread(target=each) for each in (setter.change, config.read)]
for each in threads:
    each.start()
for each in threads:
    each.join()
"""


def looked(folder: Path, imports: str, *setter: str) -> tuple[int, dict[str, Any]]:
    (folder / "config.py").write_text(CONFIG)
    (folder / "setter.py").write_text(SETTER.format(*setter))
    (folder / "main.py").write_text(MAIN.format(imports))
    command = [sys.executable, "-m", "reenact", "races", "--json", "main.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)
    return done.returncode, json.loads(done.stdout)


@pytest.mark.parametrize(
    "setter",
    [
        ("import config", "config.limit = 2"),
        ("import config as it", "it.limit += 2"),
        ("import config as it", "setattr(it, 'limit', 2)"),
        ("import config", "it = config; it.limit = 2"),
        ("import sys", "sys.modules['config'].limit = 2"),
    ],
)
def test_a_module_that_is_loaded_later_has_sites(tmp_path: Path, setter: tuple[str, str]) -> None:
    code, document = looked(tmp_path, "import setter\nimport config", *setter)
    (race,) = document["findings"]
    lines = {(each["file"], each["line"]) for each in (race["first"], race["second"])}
    assert (code, lines) == (1, {("setter.py", 5), ("config.py", 5)})


def test_what_was_loaded_before_makes_it_inconclusive(tmp_path: Path) -> None:
    setter = ("import config", "config.limit = 2")
    code, document = looked(tmp_path, "import config\nimport setter", *setter)
    assert (code, document["verdict"], document["findings"]) == (3, "inconclusive", [])
    assert "sets config.limit, and was loaded after" in document["reasons"][0]


def test_other_names_are_constants(tmp_path: Path) -> None:
    setter = ("import config", "config.most = 2")
    code, document = looked(tmp_path, "import config\nimport setter", *setter)
    assert (code, document["findings"]) == (0, [])
