"""`reenact dump`, for people and for programs."""

from __future__ import annotations

import hashlib
import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ..recordings.build import Builder, sample, stream, write_directory

ROOT = Path(__file__).parents[3]
DRIVER = """
import argparse, sys
from reenact.cli import dump
parser = argparse.ArgumentParser("reenact")
dump.add_parser(parser.add_subparsers())
args = parser.parse_args(["dump", *sys.argv[1:]])
sys.exit(args.run(args))
"""

Reenact = Callable[..., int]
Capture = pytest.CaptureFixture[str]

SAMPLE = """\
        1  0         start thread 0.1         app.py:1 in main
        2  0         start thread 0.2         app.py:1 in main
        2            -> thread 0.1 (0 waits or ended)
        3  0.1       begin thread 0.1         app.py:2 in work
        4  0.1       acquire lock 1           app.py:3 in work
        5            -> thread 0.2 (0.1 preempted)
        6  0.2       begin thread 0.2         app.py:2 in work
        7            -> thread 0.1 (0.2 waits or ended)
       12  0         note: a thread that Python did not start (OS thread 4242) ran Python code
      300            garbage collection, generation 2
      300  0.1       release lock 1           app.py:4 in work
      310            -> thread 0.2 (0.1 waits or ended)
      310  0.1       note: native code forked a process; what it did is not recorded; \
from subprocess
      311  0.2       acquire lock 1           app.py:3 in work
      312  0.2       release lock 1           app.py:4 in work
      313            -> thread 0 (0.2 waits or ended)
      314  0         join thread 0.1          app.py:5 in main
      315  0         join thread 0.2          app.py:5 in main
      316            SIGTERM for the main thread
      320            the program closed its log
      320            end: exited with code 0
"""


def test_a_whole_run(reenact: Reenact, recorded: Path, capsys: Capture) -> None:
    assert reenact("dump", recorded) == 0
    assert capsys.readouterr().out == SAMPLE


def test_one_thread_and_a_range(reenact: Reenact, recorded: Path, capsys: Capture) -> None:
    assert reenact("dump", recorded, "--thread", "0.2", "--from", 5, "--to", 300) == 0
    assert capsys.readouterr().out == "".join(SAMPLE.splitlines(True)[5:8])


def lines(reenact: Reenact, capsys: Capture, *words: object) -> list[dict[str, Any]]:
    assert reenact("dump", "--json", *words) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_json_lines(reenact: Reenact, recorded: Path, capsys: Capture) -> None:
    found = lines(reenact, capsys, recorded)
    assert found[0] == {"type": "recording", "format": 1, "path": str(recorded)}
    assert found[5] == {
        "type": "event",
        "step": 4,
        "thread": "0.1",
        "operation": "acquire",
        "object": {"kind": "lock", "number": 1, "name": "lock 1"},
        "file": "/nowhere/project/app.py",
        "line": 3,
        "function": "work",
    }
    assert found[6] == {"type": "switch", "step": 5, "kind": "preempt", "from": "0.1", "to": "0.2"}
    assert {"type": "collect", "step": 300, "generation": 2} in found
    assert {"type": "signal", "step": 316, "number": 15} in found
    assert {"type": "close", "step": 320, "deadlock": False} in found
    assert found[-1] == {
        "type": "end",
        "step": 320,
        "ending": "exited with code 0",
        "problems": [],
    }


def test_every_type_of_line_is_documented(
    reenact: Reenact, tmp_path: Path, capsys: Capture
) -> None:
    made = sample()
    made.entry(330, "between", 1)
    text = (ROOT / "docs" / "reference" / "json.md").read_text()
    for line in lines(reenact, capsys, made.packed(tmp_path / "r")):
        assert f'`"{line["type"]}"`' in text
        assert all(f"`{name}`" in text for name in line)


def source_line(reenact: Reenact, tmp_path: Path, capsys: Capture, digest: str | None) -> str:
    made = sample(str(tmp_path / "app.py"), digest)
    made.header["cwd"] = str(tmp_path)
    assert reenact("dump", made.packed(tmp_path / "r"), "--from", 4, "--to", 4) == 0
    return capsys.readouterr().out.rstrip()


def test_source_lines(reenact: Reenact, tmp_path: Path, capsys: Capture) -> None:
    text = b"1\n2\n    with lock:\n"
    (tmp_path / "app.py").write_bytes(text)
    place = "        4  0.1       acquire lock 1           app.py:3 in work"
    digest = hashlib.sha256(text).hexdigest()
    assert source_line(reenact, tmp_path, capsys, None) == f"{place}  | with lock:"
    assert source_line(reenact, tmp_path, capsys, digest) == f"{place}  | with lock:"
    assert source_line(reenact, tmp_path, capsys, "00") == f"{place}  (source changed)"


@pytest.mark.parametrize(
    "file, shown",
    [
        ("/nowhere/project/a/b.py", "a/b.py"),
        ("/usr/lib/python3.11/threading.py", "threading.py"),
        ("/v/lib/python3.13t/site-packages/x/y.py", "x/y.py"),
        ("/elsewhere/a.py", "/elsewhere/a.py"),
        ("<string>", "<string>"),
    ],
)
def test_long_paths_are_shortened(
    reenact: Reenact, tmp_path: Path, capsys: Capture, file: str, shown: str
) -> None:
    made = Builder()
    made.operation(1, 0, made.site("yield", file, 7))
    assert reenact("dump", made.packed(tmp_path / "r")) == 0
    assert f" {shown}:7 in work" in capsys.readouterr().out


def test_a_terminal_is_not_given_orders(reenact: Reenact, tmp_path: Path, capsys: Capture) -> None:
    made = Builder()
    site = made.site("acquire", "/x/\x1b]0;owned\x07\u202e.py", 1, "f\n\x1b[31m")
    made.operation(1, 0, site, made.object("lock"))
    made.note(9, 1, 0, 0, "\x1b[2J")
    assert reenact("dump", made.packed(tmp_path / "r")) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out and "\u202e" not in out
    assert "\\x1b]0;owned\\x07\\u202e.py:1 in f\\n" in out


def test_a_killed_run(reenact: Reenact, tmp_path: Path, capsys: Capture) -> None:
    made = sample()
    made.end, made.ended, made.holder = None, 0, 1
    assert reenact("dump", made.directory(tmp_path / "r")) == 0
    out = capsys.readouterr().out
    assert "end: not seen" in out and "incomplete: the program did not close its log" in out


def test_what_could_be_read_comes_before_the_error(
    reenact: Reenact, tmp_path: Path, capsys: Capture
) -> None:
    made = sample()
    made.operation(400, 1, 99, 1)
    assert reenact("dump", made.directory(tmp_path / "r")) == 121
    found = capsys.readouterr()
    assert "join thread 0.2" in found.out
    assert found.err.startswith(f"reenact: {tmp_path}/r: operations: site 99 is not defined.")


@pytest.mark.parametrize(
    "words, code",
    [
        (("--thread", "0.7"), 2),
        (("--from", "9", "--to", "3"), 2),
    ],
)
def test_usage(
    reenact: Reenact, recorded: Path, capsys: Capture, words: tuple[str, ...], code: int
) -> None:
    assert reenact("dump", recorded, "--json", *words) == code
    found = capsys.readouterr()
    assert found.out == "" and found.err.startswith("reenact: ")


@pytest.mark.parametrize("command", ["dump", "info", "pack"])
def test_no_recording(reenact: Reenact, tmp_path: Path, capsys: Capture, command: str) -> None:
    assert reenact(command, tmp_path / "none") == 121
    assert "[recording-missing]" in capsys.readouterr().err


def environment(**changes: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TERM")}
    return kept | {"PYTHONPATH": str(ROOT / "src")} | changes


def long_run(path: Path) -> Path:
    made = sample()
    made.operation(400, 1, 3, 1)
    members = made.members()
    operations = made.payloads["operations"] + bytes([3 << 3]) * 200_000
    members["operations"] = stream("operations", operations)
    return write_directory(path / "run.reenact.d", members)


@pytest.mark.parametrize("option", [[], ["--json"]])
def test_a_reader_that_leaves_is_no_error(tmp_path: Path, option: list[str]) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", DRIVER, str(long_run(tmp_path)), *option],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    assert process.stdout is not None and process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait() == 0
    process.stderr.close()


def test_a_full_disk_is_said(recorded: Path) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-c", DRIVER, str(recorded)],
            stdout=full,
            stderr=subprocess.PIPE,
            env=environment(),
        )
    assert done.returncode != 0
    assert done.stderr.startswith(b"reenact: the output could not be written")


def test_an_encoding_that_lacks_characters(tmp_path: Path) -> None:
    made = Builder()
    made.operation(1, 0, made.site("yield", "caf\u00e9.py", 1))
    done = subprocess.run(
        [sys.executable, "-c", DRIVER, str(made.packed(tmp_path / "r"))],
        capture_output=True,
        env=environment(PYTHONIOENCODING="ascii"),
    )
    assert done.returncode == 0 and b"caf\\xe9.py" in done.stdout


def on_a_terminal(path: Path, **changes: str) -> bytes:
    master, slave = pty.openpty()
    command = [sys.executable, "-c", DRIVER, str(path)]
    process = subprocess.Popen(command, stdout=slave, env=environment(**changes))
    os.close(slave)
    out = b""
    try:
        while piece := os.read(master, 4096):
            out += piece
    except OSError:  # how Linux says that the other side is closed
        pass
    os.close(master)
    assert process.wait() == 0
    return out


def test_colour_is_for_terminals_that_want_it(recorded: Path) -> None:
    assert b"\x1b[" in on_a_terminal(recorded, TERM="xterm")
    assert b"\x1b[" not in on_a_terminal(recorded, TERM="xterm", NO_COLOR="1")
    assert b"\x1b[" not in on_a_terminal(recorded, TERM="dumb")


INPUTS = """\
        1  posix.open                   returned 3: file 1, contents kept at byte 0 of files
        2  posix.open                   raised OSError(2, 'gone') for '/x'
        3  posix.read                   returned b'line\\n'
        4  posix.read                   returned 3, and filled a buffer with b'put'
        5  time.localtime               returned [1, 'two', (3.5, None)]
"""


def test_inputs(reenact: Reenact, recorded: Path, capsys: Capture) -> None:
    assert reenact("dump", recorded, "--inputs") == 0
    assert capsys.readouterr().out == INPUTS
    assert reenact("dump", recorded, "--inputs", "--thread", "0") == 2
    assert "no threads and no steps" in capsys.readouterr().err


def test_inputs_as_json(reenact: Reenact, recorded: Path, capsys: Capture) -> None:
    first, opened, failed, *_, filled, _ = lines(reenact, capsys, recorded, "--inputs")
    assert first["type"] == "recording"
    assert opened == {
        "type": "input",
        "number": 1,
        "call": "posix.open",
        "source": "files",
        "kind": "returned",
        "value": 3,
        "opened": {"place": "file", "file": 1, "contents": "kept", "argument": 0},
    }
    assert failed["value"] == {"record": "OSError", "fields": [[2, "gone"], "/x", None, None]}
    assert filled["filled"] == {"bytes": "cHV0"}
