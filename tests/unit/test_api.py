"""The public API: its names are pinned, it is typed, and it records and replays."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib import resources
from pathlib import Path

import pytest

import reenact

ROOT = Path(__file__).parents[2]

PROGRAM = """\
import sys, threading, reenact

total = 0

def work():
    global total
    for _ in range(50):
        total += 1

def main():
    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

with reenact.recording(sys.argv[1]):
    main()
print("total", total)
"""


def run(*command: str, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, timeout=60, **options
    )  # type: ignore[call-overload, no-any-return]


def test_public_names_are_pinned() -> None:
    assert sorted(reenact.__all__) == [
        "Deadlock",
        "Divergence",
        "ExplorationFailed",
        "Findings",
        "Livelock",
        "RecordingError",
        "ReenactError",
        "StaleSchedule",
        "UsageError",
        "__version__",
        "begin_epoch",
        "explore",
        "explored",
        "follow",
        "guarded",
        "races",
        "recording",
        "replay",
        "rollback",
    ]
    for name in reenact.__all__:
        assert getattr(reenact, name) is not None


def test_unknown_names_are_attribute_errors() -> None:
    with pytest.raises(AttributeError, match="no attribute 'replays'"):
        reenact.replays  # noqa: B018


def test_the_version_is_stated_once() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert project["project"]["version"] == reenact.__version__


def test_the_package_is_typed() -> None:
    assert resources.files("reenact").joinpath("py.typed").is_file()


def test_a_block_is_recorded_and_replayed(tmp_path: Path) -> None:
    script, path = tmp_path / "program.py", tmp_path / "run.reenact"
    script.write_text(PROGRAM)
    recorded = run(str(script), str(path), cwd=tmp_path)
    assert (recorded.stdout, recorded.stderr, recorded.returncode) == ("total 150\n", "", 0)
    assert path.is_file()
    replayed = run("-m", "reenact", "replay", str(path))
    assert replayed.stdout == "total 150\n"
    assert "exactly as recorded" in replayed.stderr
    assert reenact.replay(path) == 0


def test_a_block_has_its_inputs_again(tmp_path: Path) -> None:
    """What the program read before the block, its random generator included, is another."""
    script, path, data = tmp_path / "program.py", tmp_path / "run.reenact", tmp_path / "data"
    data.write_text("what is read")
    script.write_text(
        "import os, random, sys, time, reenact\n"
        "with reenact.recording(sys.argv[1]):\n"
        "    print(random.random(), time.time(), time.monotonic(), os.urandom(4), os.getpid())\n"
        "    print(open('data').read())\n"
    )
    recorded = run(str(script), str(path), cwd=tmp_path)
    assert recorded.stdout.endswith("what is read\n")
    data.unlink()
    replayed = run("-m", "reenact", "replay", str(path))
    assert replayed.stdout == recorded.stdout
    assert "exactly as recorded" in replayed.stderr


def test_a_block_refuses_other_threads(tmp_path: Path) -> None:
    script = tmp_path / "late.py"
    script.write_text(
        "import threading, reenact\n"
        "threading.Thread(target=threading.Event().wait, daemon=True).start()\n"
        "with reenact.recording('late.reenact'): pass\n"
    )
    refused = run(str(script), cwd=tmp_path)
    assert refused.returncode == 1
    assert "other threads are running already" in refused.stderr
    assert not list(tmp_path.glob("*.reenact*"))


def test_a_process_records_once(tmp_path: Path) -> None:
    script = tmp_path / "twice.py"
    script.write_text(
        "import reenact\n"
        "with reenact.recording('one.reenact'): pass\n"
        "with reenact.recording('two.reenact'): pass\n"
    )
    refused = run(str(script), cwd=tmp_path)
    assert refused.returncode == 1
    assert "this process has recorded already" in refused.stderr
    assert [path.name for path in tmp_path.glob("*.reenact")] == ["one.reenact"]


def test_replay_of_nothing_is_a_recording_error(tmp_path: Path) -> None:
    with pytest.raises(reenact.RecordingError, match="No such file"):
        reenact.replay(tmp_path / "none.reenact")


def test_a_changed_program_diverges(tmp_path: Path) -> None:
    script, path = tmp_path / "program.py", tmp_path / "run.reenact"
    script.write_text("import threading\nlock = threading.Lock()\nwith lock: pass\n")
    assert run("-m", "reenact", "record", "-o", str(path), str(script)).returncode == 0
    script.write_text("import threading\nlock = threading.Lock()\n\nwith lock: pass\n")
    with pytest.raises(reenact.Divergence, match=r"acquire.*program\.py:3(?s:.*)program\.py:4"):
        reenact.replay(path)
