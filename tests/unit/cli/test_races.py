"""`reenact races` as a user meets it: exit codes, where things are printed, files, wrong usage."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reenact.cli import main, races
from reenact.engine import races as engine
from reenact.engine.launch import Choices, Ended, Program
from reenact.engine.races import Looked

RACY = """\
import threading

counter = 0


def work():
    global counter
    value = counter
    counter = value + 1


threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("counted to", counter)
"""
SAFE = RACY.replace("    value = counter\n    counter = value + 1\n", "    print('safe')\n")
CYCLE = """\
import threading

one, other = threading.Lock(), threading.Lock()
is_through = threading.Event()


def forth():
    with one:
        with other:
            pass
    is_through.set()


def back():
    is_through.wait()
    with other:
        with one:
            pass


threads = [threading.Thread(target=forth), threading.Thread(target=back)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""
LINES = {(8, 9), (9, 9)}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "app.py").write_text(RACY)
    return tmp_path


# ---- with the detector ----


def called(*words: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "reenact", *words],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    return done.returncode, done.stdout, done.stderr


def lines_of(found: dict[str, Any]) -> set[tuple[int, int]]:
    pairs = [(each["first"]["line"], each["second"]["line"]) for each in found["findings"]]
    return {(min(pair), max(pair)) for pair in pairs}


def test_a_race_is_told_on_standard_error() -> None:
    code, out, err = called("races", "app.py")
    assert (code, out) == (1, "counted to 2\n")
    assert "race on global counter of module __main__" in err
    assert "\x1b" not in err
    assert err.rstrip().endswith("2 races")


@pytest.mark.parametrize("is_recorded", [False, True])
def test_a_cycle_of_locks(here: Path, is_recorded: bool) -> None:
    (here / "app.py").write_text(CYCLE)
    if is_recorded:
        assert called("record", "-o", "run.reenact", "app.py")[0] == 0
    code, out, _ = called("races", "--json", "run.reenact" if is_recorded else "app.py")
    found = json.loads(out)
    (cycle,) = found["findings"]
    assert (code, cycle["kind"], found["reasons"]) == (1, "lock-order", [])
    lines = [
        (each["held"]["where"]["line"], each["taken"]["where"]["line"]) for each in cycle["takings"]
    ]
    assert sorted(lines) == [(8, 9), (16, 17)]


def test_the_locks_that_are_held_are_told(here: Path) -> None:
    """Of two accesses, one under a lock: the advice is to take that one."""
    source = (
        RACY.replace("    value = counter\n    counter = value + 1\n", "    pass\n")
        + """
lock = threading.Lock()


def careful():
    global counter
    with lock:
        counter = 1


def careless():
    global counter
    counter = 2


threads = [threading.Thread(target=careful), threading.Thread(target=careless)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""
    )
    (here / "app.py").write_text(source)
    lines = source.split("\n")
    taken, bare = lines.index("    with lock:") + 1, lines.index("    counter = 2") + 1
    code, _, err = called("races", "app.py")
    assert code == 1
    assert f"-> Hold the lock taken at app.py:{taken} at app.py:{bare} too" in err


def test_nothing_is_found_where_nothing_is(here: Path) -> None:
    (here / "app.py").write_text(SAFE)
    code, out, err = called("races", "app.py")
    assert (code, err) == (0, "no races, no cycles of locks\n")
    assert out == "safe\nsafe\ncounted to 0\n"


def test_the_object_alone_is_on_standard_output() -> None:
    code, out, err = called("races", "--json", "app.py")
    found = json.loads(out)
    assert (code, found["verdict"], found["exit_code"]) == (1, "found", 0)
    assert lines_of(found) == LINES
    assert err == "counted to 2\n"


def test_a_recording(here: Path) -> None:
    assert called("record", "-o", "run.reenact", "app.py")[0] == 0
    code, out, _ = called("races", "--json", "run.reenact")
    found = json.loads(out)
    assert (code, found["reasons"], found["root"]) == (1, [], str(here))
    assert lines_of(found) == LINES


def test_a_recording_of_a_program_that_imports(here: Path) -> None:
    """Imports take locks, and run the same code often enough for the interpreter to specialise it:
    that must be no other when races are looked for, though that takes imports of our own."""
    (here / "part.py").write_text("VALUE = 1\n")
    modules = "asyncio, concurrent.futures, email.message, logging.config, unittest.mock, part"
    (here / "app.py").write_text(f"import {modules}\n{RACY}")
    assert called("record", "-o", "run.reenact", "app.py")[0] == 0
    code, out, err = called("races", "--json", "run.reenact")
    assert (code, err) == (1, "counted to 2\n")
    assert lines_of(json.loads(out)) == {(first + 1, second + 1) for first, second in LINES}


def test_a_program_that_changed_since(here: Path) -> None:
    """Its replay diverges, and what was found until then is not everything."""
    (here / "app.py").write_text(SAFE)
    assert called("record", "-o", "run.reenact", "app.py")[0] == 0
    (here / "app.py").write_text(SAFE.replace("range(2)", "range(3)"))
    code, _, err = called("races", "run.reenact")
    assert code == 3
    assert "app.py has changed since it was recorded" in err
    assert "INCONCLUSIVE\n  the replay diverged from the recording" in err


def test_a_program_that_is_killed(here: Path) -> None:
    (here / "app.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n")
    code, _, err = called("races", "app.py")
    assert (code, "the program was killed by SIGKILL" in err) == (3, True)


def test_a_recording_of_a_program_that_was_killed(here: Path) -> None:
    """What its replay comes to is told, but there was more to come."""
    (here / "app.py").write_text(RACY + "import os\nos.kill(os.getpid(), 9)\n")
    assert called("record", "-o", "run.reenact", "app.py")[0] == 128 + 9
    code, out, _ = called("races", "--json", "run.reenact")
    found = json.loads(out)
    assert found["reasons"] == ["the recording ends before the program does"]
    assert (code, lines_of(found)) == (1, LINES)


def test_a_program_that_fails_is_looked_at_all_the_same(here: Path) -> None:
    (here / "app.py").write_text(RACY + "raise SystemExit(7)\n")
    code, _, err = called("races", "app.py")
    assert (code, "the program ended with exit code 7" in err) == (1, True)


def test_a_deadlock_is_no_good_news(here: Path) -> None:
    (here / "app.py").write_text("import threading\nthreading.Event().wait()\n")
    code, _, err = called("races", "app.py")
    assert code == 3
    assert "all threads of the program wait for ever" in err


# ---- with the detector's words put into its mouth ----

Run = Callable[..., int]


@pytest.fixture
def said(here: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the engine is going to say."""
    file = str(here / "app.py")
    access = {"mode": "write", "column": 4, "pair": 0, "locks": []}
    first = {**access, "thread": 1, "line": 9, "stack": [[file, 9, "work"]]}
    second = {**access, "thread": 2, "line": 8, "stack": [[file, 8, "work"]], "mode": "read"}
    of = {"kind": "global", "name": "counter", "type": "app", "address": 7, "created": None}
    race = {"count": 1, "variable": of, "first": first, "second": second}
    raw = {"version": 1, "races": [race], "left_out": 0, "overflow": False, "sample": 1.0}
    words: dict[str, Any] = {"raw": raw, "notes": (), "ended": Ended(0, None), "asked": []}

    def live(
        program: Program, choices: Choices, sample: float = 1.0, is_heuristic: bool = False
    ) -> Looked:
        words["asked"].append((program, choices, sample))
        words["heuristic"] = is_heuristic
        return Looked(words["raw"], words["ended"], words["notes"])

    monkeypatch.setattr(engine, "live", live)
    return words


def run(*words: str) -> int:
    return main.main(["races", *words])


def test_options_of_the_run_are_passed_on(said: dict[str, Any]) -> None:
    options = "--strategy random --seed 7 --slice 3 --sample 0.5 --instrument requests"
    run(*options.split(), "app.py", "--json", "x")
    ((program, choices, sample),) = said["asked"]
    assert (program.target, program.argv) == ("app.py", ("--json", "x"))
    assert program.packages == ("requests",)
    assert (choices.name, choices.seed, choices.slice, sample) == ("random", 7, 3, 0.5)
    run("-m", "app", "y")
    program = said["asked"][1][0]
    assert (program.mode, program.target, program.argv) == ("module", "app", ("y",))


@pytest.mark.parametrize(
    ("words", "slice"), [("", 50_000), ("--slice 7 ", 7), ("--strategy random ", 10)]
)
def test_turns_are_long_unless_somebody_chooses(
    words: str, slice: int, said: dict[str, Any]
) -> None:
    run(*words.split(), "app.py")
    ((_, choices, _),) = said["asked"]
    assert choices.slice == slice


TRUST = "looked at less, on trust (--heuristic): there may be more races"


@pytest.mark.parametrize("options", [["--heuristic"], ["--config", "trust.toml"]])
def test_trust_is_passed_on_and_told(
    said: dict[str, Any], here: Path, options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "trust.toml").write_text("[tool.reenact]\nraces.heuristic = true\n")
    run(*options, "app.py")
    assert said["heuristic"]
    assert TRUST in capsys.readouterr().err
    run(*options, "--json", "app.py")
    assert json.loads(capsys.readouterr().out)["heuristic"] is True


def test_nothing_is_taken_on_trust_otherwise(
    said: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    run("app.py")
    assert not said["heuristic"]
    assert TRUST not in capsys.readouterr().err
    run("--json", "app.py")
    assert json.loads(capsys.readouterr().out)["heuristic"] is False


@pytest.mark.parametrize("note", ["foreign thread", "stolen baton", "unblocked signal handler"])
def test_what_is_out_of_control_is_inconclusive(
    said: dict[str, Any], note: str, capsys: pytest.CaptureFixture[str]
) -> None:
    said["raw"]["races"].clear()
    said["notes"] = (note, note)
    assert run("app.py") == 3
    words = capsys.readouterr().err
    assert words.count(races._UNCONTROLLED[note]) == 1


def test_other_notes_are_of_no_account(said: dict[str, Any]) -> None:
    said["raw"]["races"].clear()
    said["notes"] = ("native module", "unlisted call")
    assert run("app.py") == 0


def test_no_word_of_the_detector_is_inconclusive(
    said: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    said["raw"] = None
    assert run("--sample", "0.5", "app.py") == 3
    assert "ended before it could say what was seen" in capsys.readouterr().err


def test_a_baseline(said: dict[str, Any], here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--write-baseline", "races.json", "app.py") == 0
    words = capsys.readouterr().err
    assert "wrote 1 finding to " in words
    assert "(1 suppressed: 1 by the baseline)" in words
    assert run("--baseline", "races.json", "app.py") == 0
    again = {**said["raw"]["races"][0]}
    again["first"] = {**again["first"], "line": 7}
    said["raw"]["races"].append(again)
    assert run("--baseline", "races.json", "app.py") == 1
    assert run("--baseline", "races.json", "--write-baseline", "races.json", "app.py") == 0
    assert len(json.loads((here / "races.json").read_text())["findings"]) == 2
    said["raw"]["races"][:1] = []
    assert run("--baseline", "races.json", "--write-baseline", "races.json", "app.py") == 0
    assert len(json.loads((here / "races.json").read_text())["findings"]) == 2


def test_writing_a_baseline_does_not_hide_that_it_is_inconclusive(said: dict[str, Any]) -> None:
    said["raw"]["overflow"] = True
    assert run("--write-baseline", "races.json", "app.py") == 3


def test_configuration(said: dict[str, Any], here: Path) -> None:
    (here / "pyproject.toml").write_text('[tool.reenact]\nraces.ignore = ["app.counter"]\n')
    assert run("app.py") == 0
    assert run("--no-config", "app.py") == 1
    (here / "other.toml").write_text('[tool.reenact.races]\nignore = ["lib/*"]\n')
    assert run("--config", "other.toml", "app.py") == 1


def test_a_comment(said: dict[str, Any], here: Path) -> None:
    (here / "app.py").write_text(RACY.replace("value + 1", "value + 1  # reenact: benign"))
    assert run("app.py") == 0


def test_sarif(said: dict[str, Any], here: Path) -> None:
    assert run("--sarif", "races.sarif", "app.py") == 1
    log = json.loads((here / "races.sarif").read_text())
    (result,) = log["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 8


def test_what_the_program_calls_itself_cannot_rule_the_terminal(
    said: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    said["raw"]["races"][0]["variable"]["name"] = "\x1b]0;owned\x07"
    assert run("app.py") == 1
    words = capsys.readouterr().err
    assert "\x1b" not in words and "\\x1b]0;owned\\x07" in words


# ---- wrong usage ----


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("", "no program given"),
        ("gone.py", "there is no file gone.py"),
        ("gone.reenact", "missing"),
        ("--baseline gone.json app.py", "gone.json: it cannot be read"),
        ("--sarif gone/races.sarif app.py", "--sarif: gone/races.sarif is in a directory"),
        ("--write-baseline . app.py", "--write-baseline: . is a directory"),
        ("--no-instrument app.py", "--no-instrument: races are found in instrumented code only"),
        ("--strategy none app.py", "--strategy"),
        ("--seed 3 old.reenact", "--seed: a recording is replayed as it was recorded"),
        ("--no-instrument old.reenact", "--no-instrument: a recording"),
        ("old.reenact more", "more comes after a recording"),
    ],
)
def test_wrong_usage(words: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = run(*words.split())
    assert code == (121 if words == "gone.reenact" else 2)
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("part", ["0", "1.5", "-1", "nan", "half"])
def test_a_sample_is_a_part(part: str) -> None:
    with pytest.raises(SystemExit) as caught:
        run("--sample", part, "app.py")
    assert caught.value.code == 2


def test_what_is_a_recording(here: Path) -> None:
    (here / "packed").write_bytes(b"REENACT\n....")
    (here / "open").mkdir()
    (here / "open" / "header.json").write_text("{}")
    (here / "program").mkdir()
    for name in ("header.json", "__main__.py"):
        (here / "program" / name).write_text("")
    recordings = ["run.reenact", "run.reenact.d", "packed", "open"]
    assert all(map(races.is_recording, recordings))
    assert not any(map(races.is_recording, ["app.py", "program", "gone", "."]))
