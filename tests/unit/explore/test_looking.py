"""Races in `reenact.explore(find=...)`, and `reenact.races`, from inside a program."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.explore.programs import FIXED, LOCK_ORDER, LOST_UPDATE, run_pytest, tried

# A race that matters to nobody, and beside it a failure that needs a certain order and an Event.
BESIDE = '''\
"""Whoever comes first leaves a note, though it should be the other one."""
import threading

hits = 0


class Box:
    def __init__(self):
        self.lock = threading.Lock()
        self.is_open = threading.Event()
        self.notes = []

    def note(self, name):
        global hits
        hits += 1  # reenact: benign
        self.is_open.wait()
        with self.lock:
            self.notes.append(name)


def main():
    box = Box()
    threads = [threading.Thread(target=box.note, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    box.is_open.set()
    for thread in threads:
        thread.join()
    assert box.notes == ["a", "b"]
'''
RACES = "race on Account.balance: prog.py:11 and prog.py:10, and 1 more"


def test_a_race_is_a_failure_in_the_first_run(tmp_path: Path) -> None:
    said = tried(
        tmp_path,
        LOST_UPDATE,
        """\
result = reenact.explore(prog.main, find=("races",), record="it.reenact")
say(words=result.as_dict(), label=result.label, problem=result.recording_problem)
without = reenact.explore(prog.main, strategy="queue")
say(without=without.verdict)
""",
    )
    words = said["words"]
    assert words["verdict"] == "failed"
    assert words["coverage"]["runs"] == 1
    assert (words["failure"]["kind"], words["failure"]["summary"]) == ("race", RACES)
    assert words["switches"] == []
    assert words["explanation"].startswith("error: race on Account.balance of <Account at 0x")
    assert "reads it, holding no lock" in words["explanation"]
    assert words["details"]["verdict"] == "found"
    assert len(words["details"]["findings"]) == 2
    assert said["label"] == "reachable with the GIL"
    assert (words["recording"], said["problem"]) == ("it.reenact", "")
    assert said["without"] == "passed"
    races = subprocess.run(
        [sys.executable, "-m", "reenact", "races", "--json", "it.reenact"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert races.returncode == 1, races.stderr
    found = [each["key"] for each in json.loads(races.stdout)["findings"]]
    assert found == [each["key"] for each in words["details"]["findings"]]


def test_several_processes_find_it_as_well(tmp_path: Path) -> None:
    said = tried(
        tmp_path,
        LOST_UPDATE,
        """\
result = reenact.explore(prog.main, find=["races"], jobs=2, runs=20)
say(kind=result.failure.kind, text=result.explanation)
""",
    )
    assert said["kind"] == "race"
    assert "race on Account.balance" in said["text"]


def test_what_is_ordered_is_no_race_in_any_run(tmp_path: Path) -> None:
    said = tried(
        tmp_path,
        FIXED,
        """\
result = reenact.explore(prog.main, find=("races",), strategy="dpor", runs=500)
say(verdict=result.verdict, exhausted=result.coverage.exhausted, reasons=result.reasons)
found = reenact.races(prog.main, runs=30)
say(none=found.verdict, count=len(found), text=str(found), runs=found.runs)
""",
    )
    assert said["verdict"] == "passed", said["reasons"]
    assert said["exhausted"]
    assert (said["none"], said["count"]) == ("none", 0)
    assert 1 < said["runs"] <= 30
    assert said["text"] == "no races, no cycles of locks"


def test_another_failure_is_found_and_recorded_beside_a_race_that_is_let_be(tmp_path: Path) -> None:
    """The recording is made without the detector, and follows the same switches."""
    said = tried(
        tmp_path,
        BESIDE,
        """\
result = reenact.explore(prog.main, find=("races",), record="it.reenact")
say(kind=result.failure.kind, runs=result.runs, problem=result.recording_problem,
    switches=len(result.switches), schedule=result.schedule, text=result.explanation)
try:
    reenact.follow(prog.main, result.schedule)
except AssertionError:
    say(follows=True)
""",
    )
    assert said["kind"] == "assertion"
    assert said["runs"] > 1
    assert said["switches"] > 0
    assert said["problem"] == ""
    assert said["follows"]
    assert "<locals>" not in said["schedule"] + said["text"]


def test_suppression(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.reenact.races]\nignore = ["Account.balance"]\n')
    said = tried(
        tmp_path,
        LOST_UPDATE,
        """\
import os
from reenact.analysis import baseline
found = reenact.races(prog.main)
say(count=len(found), suppressed=[each.how for each in found.suppressed],
    verdict=reenact.explore(prog.main, find=("races",), strategy="queue").verdict)
os.unlink("pyproject.toml")
found = reenact.races(prog.main)
say(count_without=len(found))
baseline.write("known.json", list(found), {})
result = reenact.explore(prog.main, find=("races",), baseline="known.json", strategy="queue")
known = reenact.races(prog.main, baseline="known.json")
say(baseline=result.verdict, known=[known.verdict, len(known), len(known.suppressed)])
""",
    )
    assert said["count"] == 0
    assert said["suppressed"] == ["configuration", "configuration"]
    assert said["verdict"] == "passed"
    assert said["count_without"] == 2
    assert said["baseline"] == "passed"
    assert said["known"] == ["none", 0, 2]


def test_findings_of_several_runs(tmp_path: Path) -> None:
    """The race is there in each of them: nothing that a run has seen hides it from the next."""
    said = tried(
        tmp_path,
        "import threading\nhits = 0\n\n\ndef hit():\n    global hits\n    hits += 1\n\n\n"
        "def main():\n    threads = [threading.Thread(target=hit) for _ in range(2)]\n"
        "    for each in threads:\n        each.start()\n    for each in threads:\n"
        "        each.join()\n",
        """\
one = reenact.races(prog.main)
many = reenact.races(prog.main, runs=25, strategy="random", seed=3)
(race,) = many
say(one=[each.count for each in one], runs=many.runs, count=race.count, title=race.title,
    kind=race.kind, label=race.label, words=many.as_dict())
""",
    )
    assert len(said["one"]) == 1
    assert said["runs"] == said["words"]["runs"] == 25
    assert said["count"] >= 25 * min(said["one"][0], 1)
    assert (said["kind"], said["label"]) == ("race", "free-threaded only")
    assert said["title"] == "global hits of module prog" or "hits" in said["title"]
    assert said["words"]["verdict"] == "found"


def test_a_run_that_fails_is_a_reason_and_no_finding(tmp_path: Path) -> None:
    said = tried(
        tmp_path,
        LOCK_ORDER + "\n\ndef broken():\n    raise ValueError('no')\n",
        """\
found = reenact.races(prog.broken)
say(broken=[found.verdict, list(found.reasons), len(found)])
found = reenact.races(prog.main)
say(one=[found.verdict, [each.kind for each in found]])
found = reenact.races(prog.main, runs=40)
say(many=[found.verdict, list(found.reasons), [each.kind for each in found]])
result = reenact.explore(prog.main, find=("races",))
say(kind=result.failure.kind, label=result.label)
none = reenact.races(prog.main, seconds=0)
say(none=[none.verdict, list(none.reasons), none.runs])
""",
    )
    assert said["broken"] == ["inconclusive", ["a run failed: ValueError: no"], 0]
    assert said["one"] == ["found", ["lock-order"]]
    verdict, reasons, kinds = said["many"]
    assert (verdict, kinds) == ("found", ["lock-order"])
    assert any("a run failed: deadlock" in each for each in reasons)
    assert (said["kind"], said["label"]) == ("lock-order", "reachable with the GIL")
    assert said["none"] == ["inconclusive", ["no run was made within the limits"], 0]


def test_wrong_arguments(tmp_path: Path) -> None:
    said = tried(
        tmp_path,
        FIXED,
        """\
for number, options in enumerate((
    {"find": ("races",), "points": "ticks"}, {"find": ("bugs",)}, {"baseline": "known.json"}
)):
    try:
        reenact.explore(prog.main, **options)
    except reenact.UsageError as error:
        say(**{str(number): str(error)})
try:
    reenact.races(prog.main, runs=0)
except reenact.UsageError as error:
    say(runs=str(error))
""",
    )
    assert "races are found at accesses" in said["0"]
    assert "nothing called 'bugs'" in said["1"]
    assert "a baseline is for races" in said["2"]
    assert "runs is 0" in said["runs"]


@pytest.mark.parametrize(("program", "outcome"), [(LOST_UPDATE, "1 failed"), (FIXED, "1 passed")])
def test_a_test_of_races(tmp_path: Path, program: str, outcome: str) -> None:
    """What `--write-test` leaves for a race, run as it is."""
    (tmp_path / "prog.py").write_text(program)
    tried(
        tmp_path,
        LOST_UPDATE,
        """\
from pathlib import Path
from reenact.explore.regression import write_test
result = reenact.explore(prog.main, find=("races",))
write_test(Path("test_it.py"), "prog:main", result.schedule, result.failure)
""",
    )
    (tmp_path / "prog.py").write_text(program)
    written = (tmp_path / "test_it.py").read_text()
    assert f'"""{RACES}.' in written
    assert "reenact.races(run)" in written
    assert outcome in run_pytest(tmp_path)
