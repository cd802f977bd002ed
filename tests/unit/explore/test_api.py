"""`reenact.explore` and `reenact.explored` from inside a program."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.explore.programs import FIXED, LOCK_ORDER, LOST_UPDATE, tried


def test_a_failure(tmp_path: Path) -> None:
    said = tried(
        tmp_path,
        LOST_UPDATE,
        """\
result = reenact.explore(prog.main, runs=200)
say(verdict=result.verdict, words=result.as_dict(), runs=result.runs,
    same=result.failure.as_dict() == result.as_dict()["failure"])
""",
    )
    words = said["words"]
    assert said["verdict"] == words["verdict"] == "failed"
    assert said["same"]
    assert said["runs"] == words["coverage"]["runs"] <= 200
    assert words["failure"]["kind"] == "assertion"
    assert words["failure"]["thread"] == "0"
    assert words["schedule"].startswith("reenact schedule")
    assert words["recording"] is None


def test_a_fixed_program_passes_and_every_execution_is_seen(tmp_path: Path) -> None:
    said = tried(
        tmp_path,
        FIXED,
        """\
result = reenact.explore(prog.main, strategy="dpor", runs=500)
say(verdict=result.verdict, exhausted=result.coverage.exhausted, reasons=result.reasons,
    failure=result.failure)
""",
    )
    assert said["verdict"] == "passed"
    assert said["exhausted"]
    assert said["reasons"] == []
    assert said["failure"] is None


def test_a_deadlock_names_the_cycle(tmp_path: Path) -> None:
    said = tried(
        tmp_path,
        LOCK_ORDER,
        """\
failure = reenact.explore(prog.main, runs=200).failure
say(kind=failure.kind, cycle=failure.cycle)
""",
    )
    assert said["kind"] == "deadlock"
    assert sorted(said["cycle"]) == ["0.1", "0.2"]


def test_limits(tmp_path: Path) -> None:
    said = tried(
        tmp_path,
        FIXED,
        """\
some = reenact.explore(prog.main, strategy="random", runs=17)
none = reenact.explore(prog.main, seconds=0)
say(some=some.runs, passed=some.verdict, none=none.runs, verdict=none.verdict, reasons=none.reasons)
""",
    )
    assert (said["some"], said["passed"]) == (17, "passed")
    assert (said["none"], said["verdict"]) == (0, "inconclusive")
    assert said["reasons"] == ["no run was made within the limits"]


def test_a_property_of_the_users_own(tmp_path: Path) -> None:
    program = LOST_UPDATE.replace(
        "    account = Account()", "    global account\n    account = Account()"
    )
    said = tried(
        tmp_path,
        program.replace("    assert account.balance == 130\n", ""),
        """\
def check():
    if prog.account.balance != 130:
        raise ValueError("money is lost")

without = reenact.explore(prog.main, runs=100)
result = reenact.explore(prog.main, runs=200, check=check)
say(without=without.verdict, verdict=result.verdict, summary=result.failure.summary)
""",
    )
    assert said == {
        "without": "passed",
        "verdict": "failed",
        "summary": "ValueError: money is lost",
    }


def test_the_same_seed_gives_the_same_result(tmp_path: Path) -> None:
    said = tried(
        tmp_path,
        LOST_UPDATE,
        """\
def search(seed):
    result = reenact.explore(prog.main, strategy="random", seed=seed)
    return [result.runs, [list(each) for each in result.switches], result.schedule]

say(first=search(3), second=search(3))
""",
    )
    assert said["first"] == said["second"]


@pytest.mark.parametrize("strategy", ["auto", "random", "pct", "pos", "delay", "dfs", "dpor"])
def test_strategies_by_name(tmp_path: Path, strategy: str) -> None:
    said = tried(
        tmp_path,
        LOST_UPDATE,
        f"""\
result = reenact.explore(prog.main, strategy={strategy!r}, runs=500)
say(verdict=result.verdict, names=list(result.coverage.by_strategy))
""",
    )
    assert said["verdict"] == "failed"
    assert strategy == "auto" or said["names"] == [strategy]


def test_several_processes(tmp_path: Path) -> None:
    said = tried(
        tmp_path,
        LOST_UPDATE,
        """\
result = reenact.explore(prog.main, jobs=2, runs=200)
say(verdict=result.verdict, kind=result.failure.kind)
""",
    )
    assert said == {"verdict": "failed", "kind": "assertion"}
    said = tried(
        tmp_path,
        FIXED,
        """\
result = reenact.explore(prog.main, jobs=2, runs=40, strategy="random")
say(verdict=result.verdict, runs=result.runs)
""",
    )
    assert said == {"verdict": "passed", "runs": 40}


@pytest.mark.parametrize("option", ["strategy='magic'", "points='nowhere'", "jobs=0"])
def test_what_does_not_exist_is_said(tmp_path: Path, option: str) -> None:
    said = tried(
        tmp_path,
        FIXED,
        f"""\
try:
    reenact.explore(prog.main, {option})
except reenact.UsageError as error:
    say(error=str(error))
""",
    )
    assert option.partition("=")[2].strip("'") in said["error"]


def test_a_failure_of_an_importable_function_is_recorded_and_replays(tmp_path: Path) -> None:
    said = tried(
        tmp_path,
        LOST_UPDATE,
        """\
result = reenact.explore(prog.main, record="it.reenact")
say(recording=str(result.recording), problem=result.recording_problem)
""",
    )
    assert said == {"recording": "it.reenact", "problem": ""}
    code = """\
import sys, reenact
try:
    code = reenact.replay("it.reenact")
except reenact.ReenactError as error:
    sys.exit(f"diverged: {error}")
print("EXIT", code)
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=dict(os.environ),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "AssertionError" in done.stderr


def test_a_function_without_a_name_has_no_recording_and_says_why(tmp_path: Path) -> None:
    said = tried(
        tmp_path,
        LOST_UPDATE,
        """\
result = reenact.explore(lambda: prog.main(), record="it.reenact")
say(verdict=result.verdict, recording=result.recording, problem=result.recording_problem)
""",
    )
    assert said["verdict"] == "failed"
    assert said["recording"] is None
    assert "imported" in said["problem"]


def test_the_decorator(tmp_path: Path) -> None:
    said = tried(
        tmp_path,
        LOST_UPDATE,
        """\
@reenact.explored(runs=200)
def test_bad():
    prog.main()

@reenact.explored(runs=20)
def test_good():
    pass

@reenact.explored(seconds=0)
def test_unseen():
    pass

test_good()
texts = []
for test in (test_bad, test_unseen):
    try:
        test()
    except reenact.ExplorationFailed as error:
        texts.append([error.result.verdict, str(error)])
say(name=test_bad.__name__, texts=texts)
""",
    )
    assert said["name"] == "test_bad"
    (failed, why), (unseen, reason) = said["texts"]
    assert failed == "failed"
    assert "AssertionError" in why
    assert unseen == "inconclusive"
    assert "no run was made within the limits" in reason


SETS = """
import threading

orders = set()


class Shared:
    turns = 0


def turn():
    Shared.turns += 1


def main():
    threads = [threading.Thread(target=turn) for _ in range(3)]
    locks = [threading.Lock() for _ in range(3)]
    of_locks = tuple(locks.index(each) for each in set(locks))
    orders.add((tuple(threads.index(each) for each in set(threads)), of_locks))
    for thread in threads:
        thread.start()
    for thread in set(threads):
        thread.join()
"""


def test_sets_of_threads_and_locks_have_the_same_order_in_every_run(tmp_path: Path) -> None:
    said = tried(
        tmp_path,
        SETS,
        """\
result = reenact.explore(prog.main, runs=20)
say(orders=len(prog.orders), runs=result.runs, reasons=result.reasons)
""",
    )
    assert said["runs"] == 20
    assert said["reasons"] == []
    assert said["orders"] == 1
