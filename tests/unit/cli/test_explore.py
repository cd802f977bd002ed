"""`reenact explore` as a user meets it: verdicts, JSON, usage, stopping, resuming, recordings."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

TRAPS = Path(__file__).parents[2] / "traps" / "programs"
TIMEOUT_S = 120

# Four threads under one lock: too many orders for a moment, few enough to see them all.
MANY_ORDERS = """\
import threading

value = 0
lock = threading.Lock()


def add():
    global value
    for _ in range(2):
        with lock:
            value += 1


threads = [threading.Thread(target=add) for _ in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert value == 6
"""


def command(place: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "reenact", *words],
        cwd=place,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def called(place: Path, *words: str) -> tuple[int, str, str]:
    with command(place, *words) as process:
        out, err = process.communicate(timeout=TIMEOUT_S)
    return process.returncode, out, err


def explored(place: Path, *words: str) -> dict[str, Any]:
    code, out, err = called(place, "explore", "--json", *words)
    assert out, err
    result: dict[str, Any] = json.loads(out)
    assert code == {"passed": 0, "failed": 1, "inconclusive": 3}[result["verdict"]]
    return result


def trap(name: str) -> str:
    return str(TRAPS / f"{name}.py")


def test_the_fields_of_the_result(tmp_path: Path) -> None:
    result = explored(tmp_path, "--runs", "50", "-o", "it.reenact", trap("add_to_global"))
    assert result["version"] == 1
    assert result["failure"]["kind"] == "assertion"
    assert result["failure"]["summary"] == "AssertionError"
    assert result["reasons"] == []
    assert result["recording"] == "it.reenact"
    assert result["recording_problem"] == ""
    assert result["schedule"].startswith("reenact schedule 1\n")
    assert "add_to_global.py" in result["explanation"]
    assert result["label"] in ("reachable with the GIL", "free-threaded only", "unknown")
    coverage = result["coverage"]
    assert 0 < coverage["runs"] <= 50
    assert coverage["threads"] == 3
    assert sum(coverage["by_strategy"].values()) == coverage["runs"]


def test_the_same_seed_finds_the_same(tmp_path: Path) -> None:
    def found(path: str) -> tuple[int, Any]:
        options = ("--strategy", "random", "--seed", "7", "-o", path)
        result = explored(tmp_path, *options, trap("add_to_item"))
        return result["coverage"]["runs"], result["switches"]

    assert found("first.reenact") == found("second.reenact")


def test_words_for_people(tmp_path: Path) -> None:
    code, out, _ = called(tmp_path, "explore", "-o", "it.reenact", trap("membership"))
    assert code == 1
    assert "FAILED (" in out
    assert "recorded in it.reenact; see it again with: reenact replay it.reenact" in out
    code, out, _ = called(tmp_path, "explore", trap("setdefault_alone"))
    assert code == 0
    assert "passed: every execution" in out
    code, out, _ = called(tmp_path, "explore", trap("forks"))
    assert code == 3
    assert "INCONCLUSIVE\n  the program forks a process" in out


@pytest.mark.parametrize(
    "words",
    [
        ("--strategy", "magic", trap("spin")),
        ("--points", "nowhere", trap("spin")),
        ("--runs", "0", trap("spin")),
        ("--runs", "many", trap("spin")),
        ("--seconds", "-1", trap("spin")),
        ("-j", "0", trap("spin")),
        ("--what", trap("spin")),
        ("missing.py",),
        (),
    ],
)
def test_usage(tmp_path: Path, words: tuple[str, ...]) -> None:
    code, out, err = called(tmp_path, "explore", *words)
    assert code == 2, out
    assert err
    assert "Traceback" not in err


def test_two_processes_search_at_once(tmp_path: Path) -> None:
    result = explored(tmp_path, "-j", "2", "--runs", "60", trap("add_to_attribute"))
    assert result["failure"]["kind"] == "assertion"
    result = explored(tmp_path, "-j", "2", "--runs", "40", "--strategy", "random", trap("spin"))
    assert result["verdict"] == "passed"
    assert result["coverage"]["runs"] == 40


def test_a_search_with_limits_goes_on_where_it_was(tmp_path: Path) -> None:
    (tmp_path / "many.py").write_text(MANY_ORDERS)
    search = ("--strategy", "dpor", "many.py")
    whole = explored(tmp_path, "--runs", "5000", *search)["coverage"]
    assert whole["exhausted"]
    first = explored(tmp_path, "--runs", "20", *search)["coverage"]
    assert (first["runs"], first["exhausted"]) == (20, "")
    rest = explored(tmp_path, "--resume", "--runs", "5000", *search)["coverage"]
    assert rest["exhausted"] == whole["exhausted"]
    assert rest["runs"] == whole["runs"]
    assert rest["behaviours"] == whole["behaviours"]


def stopped(place: Path, after_s: float, *words: str) -> dict[str, Any]:
    with command(place, "explore", "--json", *words) as process:
        time.sleep(after_s)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 3, err
    result: dict[str, Any] = json.loads(out)
    return result


def test_a_search_that_is_stopped_goes_on_where_it_was(tmp_path: Path) -> None:
    many = MANY_ORDERS.replace("range(3)", "range(4)").replace("== 6", "== 8")
    (tmp_path / "many.py").write_text(many)
    search = ("--strategy", "dpor", "many.py")
    for after_s in (4, 8, 16):  # it says where it is every few seconds, once it has begun
        result = stopped(tmp_path, after_s, "--runs", "1000000", *search)
        if list((tmp_path / ".reenact").glob("search-*.json")):
            break
    assert result["reasons"] == ["the search was stopped"]
    again = explored(tmp_path, "--resume", "--runs", "5", *search)["coverage"]
    assert 5 < again["runs"] <= result["coverage"]["runs"] + 5


KINDS = {
    "add_to_global": 1,  # an assertion in the main thread
    "raw_thread": 0,  # exceptions of threads do not change the exit code
    "swallows_deadlock": 122,
    "livelock": 125,
    "exits_badly": 1,
    "exits_badly_at_once": 5,
    "killed": 128 + signal.SIGKILL,
}


@pytest.mark.parametrize("name", KINDS)
def test_what_was_found_replays(tmp_path: Path, name: str) -> None:
    result = explored(
        tmp_path, "--step-limit", "3000", "--shrink", "10", "-o", "it.reenact", trap(name)
    )
    assert result["recording"] == "it.reenact", result["recording_problem"]
    code, _, err = called(tmp_path, "replay", "it.reenact")
    assert code == KINDS[name], err
    assert "exactly as recorded" in err


# ---- races ----

RACY = """\
import threading


class Account:
    def __init__(self):
        self.balance = 0

    def add(self):
        self.balance += 1


account = Account()
threads = [threading.Thread(target=account.add) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""
RACE = "race on Account.balance: app.py:9 and app.py:9"


@pytest.fixture
def racy(tmp_path: Path) -> Path:
    (tmp_path / "app.py").write_text(RACY)
    return tmp_path


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_race_is_a_failure_if_it_is_asked_for(racy: Path, jobs: str) -> None:
    result = explored(racy, "--find", "races", "-j", jobs, "-o", "it.reenact", "app.py")
    assert result["verdict"] == "failed"
    failure = result["failure"]
    assert (failure["kind"], failure["summary"]) == ("race", RACE)
    assert failure["traceback"].startswith("error: race on Account.balance of <Account at 0x")
    assert (result["label"], result["switches"]) == ("free-threaded only", [])
    assert [each["title"][:23] for each in result["details"]["findings"]] == [RACE[:23]]
    assert (result["recording"], result["recording_problem"]) == ("it.reenact", "")
    code, out, _ = called(racy, "races", "--json", "it.reenact")
    found = json.loads(out)
    assert (code, found["reasons"]) == (1, [])
    keys = [each["key"] for each in result["details"]["findings"]]
    assert [each["key"] for each in found["findings"]] == keys


def test_races_are_not_looked_for_otherwise(racy: Path) -> None:
    assert explored(racy, "--runs", "30", "app.py")["verdict"] == "passed"


def test_words_about_a_race(racy: Path) -> None:
    options = ("--find", "races", "-o", "it.reenact", "--write-test", "test_app.py")
    code, out, err = called(racy, "explore", *options, "app.py")
    assert code == 1
    assert f"FAILED (free-threaded only): {RACE}\n" in out
    assert "nothing orders it with this: thread 2" in out
    assert "recorded in it.reenact; see it again with: reenact races it.reenact" in out
    assert "wrote test_app.py" in err
    assert "findings = reenact.races(run)\n" in (racy / "test_app.py").read_text()


def test_what_is_suppressed_is_no_failure(racy: Path) -> None:
    search = ("--find", "races", "--strategy", "queue")
    assert called(racy, "races", "--write-baseline", "known.json", "app.py")[0] == 0
    assert explored(racy, *search, "--baseline", "known.json", "app.py")["verdict"] == "passed"
    (racy / "app.py").write_text(RACY.replace("+= 1", "+= 1  # reenact: benign"))
    assert explored(racy, *search, "app.py")["verdict"] == "passed"
    (racy / "app.py").write_text(RACY)
    (racy / "pyproject.toml").write_text('[tool.reenact.races]\nignore = ["app.py"]\n')
    assert explored(racy, *search, "app.py")["verdict"] == "passed"
    (racy / "pyproject.toml").unlink()
    assert explored(racy, *search, "-o", "it.reenact", "app.py")["verdict"] == "failed"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--find", "bugs"), "invalid choice: 'bugs'"),
        (("--find", "races", "--points", "sync"), "races are found at accesses"),
        (("--baseline", "known.json"), "a baseline is for races"),
        (("--find", "races", "--baseline", "gone.json"), "gone.json: it cannot be read"),
    ],
)
def test_usage_of_races(racy: Path, words: tuple[str, ...], said: str) -> None:
    code, out, err = called(racy, "explore", *words, "app.py")
    assert (code, out) == (2, "")
    assert said in err
