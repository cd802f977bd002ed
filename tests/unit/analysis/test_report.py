"""What a report comes to, and how it is shown: text, JSON, SARIF."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reenact.analysis import sarif, text
from reenact.analysis.findings import (
    Finding,
    Held,
    HeldWaiting,
    Lock,
    LockOrder,
    Taking,
    Thread,
    Unreleased,
)
from reenact.analysis.report import Report, report_of
from reenact.analysis.sources import Sources
from reenact.findings import Line

from .raws import Program, document, lock, race, variable

SOURCE = """\
import threading


class Account:
    def deposit(self, amount):
        self.balance += amount

    def set(self, amount):
        with self.lock:
            self.balance = amount; größe = self.size
"""
LOCK = Lock(4, "lock", Line("app.py", 9, "Account.set"))
HERE = (Line("app.py", 9, "Account.set"), Line("app.py", 10, "<module>"))
ONE, TWO = Thread(1, "Thread-1 (work)"), Thread(2)


@pytest.fixture
def app(tmp_path: Path) -> Program:
    return Program(tmp_path, SOURCE)


def raw(app: Program, **fields: Any) -> dict[str, Any]:
    file = str(app.path)
    library = "/usr/lib/python3.11/threading.py"
    bottom = [[library, 982, "Thread.run"], [library, 1045, "Thread._bootstrap_inner"]]
    first = app.access(
        "self.balance = amount", name="balance", locks=[lock(4, file, 9)],
        stack=[[file, 10, "Account.set"], [file, 8, "work"], *bottom],
    )  # fmt: skip
    second = app.access(
        "self.balance += amount", name="balance", writes=False,
        stack=[[file, 6, "Account.deposit"], *bottom],
    )  # fmt: skip
    of = variable(
        "attribute", "balance", "Account", created={"thread": 0, "stack": [[file, 3, "f"]]}
    )
    return document(race(of, first, second, 3), **fields)


def others(root: Path) -> tuple[Finding, ...]:
    """One of each kind about locks."""
    one, other = Held(LOCK, HERE), Held(Lock(5, "rlock", HERE[1]), HERE[::-1])
    return (
        LockOrder("k1", "One order.", (Taking(ONE, one, other), Taking(TWO, other, one, 3))),
        HeldWaiting("k2", "", ONE, "Event.wait", HERE[1], HERE[::-1], (one,), True, TWO, (4,)),
        Unreleased("k3", "Release it.", TWO, one, 2),
    )


# ---- verdicts ----


def test_verdicts(app: Program) -> None:
    root = app.root
    sources = Sources(root)
    order, held, unreleased = others(root)
    assert report_of(raw(app), root).verdict == "found"
    assert report_of(document(), root).verdict == "none"
    assert report_of(document(), root, reasons=["a thread got away"]).verdict == "inconclusive"
    assert report_of(document(overflow=True), root).verdict == "inconclusive"
    assert report_of(document(left_out=2), root).verdict == "inconclusive"
    assert report_of(raw(app, overflow=True), root).verdict == "found"
    assert report_of(document(sample=0.5), root).verdict == "none"
    assert Report(sources, (order,)).verdict == "found"
    assert Report(sources, (held, unreleased)).verdict == "none"
    assert Report(sources, (held,), reasons=("?",)).verdict == "inconclusive"


# ---- text ----

RACE = """\
error: race on Account.balance of <Account at 0x7f01> created at app.py:3 by thread 0
  reachable with the GIL, seen 3 times
  thread 1 (Thread-1 (work)) writes it, holding lock 4 taken at app.py:9
      self.balance = amount; größe = self.size
           ^
      app.py:10 in Account.set
      app.py:8 in work: def set(self, amount):
  nothing orders it with this: thread 2 (Thread-2 (work)) reads it, holding no lock
      self.balance += amount
           ^
      app.py:6 in Account.deposit
  -> Hold the lock taken at app.py:9 at app.py:6 too, where no lock is held.

1 race"""


def test_a_race_as_text(app: Program) -> None:
    assert text.plain(report_of(raw(app), app.root)) == RACE


def test_locks_as_text(app: Program) -> None:
    shown = text.plain(Report(Sources(app.root), others(app.root)))
    assert "error: 2 locks are taken in a cycle" in shown
    assert "  thread 1 (Thread-1 (work)) holds lock 4\n      app.py:9 in Account.set: with" in shown
    assert "  and takes RLock 5\n      app.py:10 in <module>" in shown
    assert "  and takes lock 4, seen 3 times" in shown
    assert "warning: thread 1 waits in Event.wait while it holds a lock" in shown
    assert "it waits in Event.wait, at most for a time\n      app.py:10 in <module>" in shown
    assert "warning: a lock that thread 2 took was never released" in shown
    assert "  lock 4, taken here, seen 2 times\n      app.py:9" in shown
    assert shown.endswith("1 cycle of locks, 1 lock held while waiting, 1 lock never released")


def last(report: Report) -> list[str]:
    return text.plain(report).split("\n")


def test_summaries(app: Program) -> None:
    root = app.root
    assert last(report_of(document(), root)) == ["no races, no cycles of locks"]
    suppressed = report_of(raw(app), root, ignored=["balance"])
    words = "no races, no cycles of locks (1 suppressed: 1 by configuration)"
    assert last(suppressed) == [words]
    sampled = report_of(document(sample=0.25), root, exit_code=7)
    assert last(sampled)[1:] == [
        "only 25% of the variables were looked at: there may be more races",
        "the program ended with exit code 7",
    ]
    unsure = report_of(document(left_out=2000), root, reasons=["a thread got away"])
    assert last(unsure)[1:3] == ["INCONCLUSIVE", "  a thread got away"]
    assert last(unsure)[3] == "  2,000 more races were seen than could be kept"
    assert "there may be more" in last(report_of(raw(app, overflow=True), root))


def test_long_reports_are_cut_and_that_is_said(app: Program) -> None:
    many = others(app.root) * 20
    shown = text.plain(Report(Sources(app.root), many))
    assert shown.count("taken in a cycle") + shown.count("warning: ") == text.MOST
    assert f"... and {60 - text.MOST} more; --json has them all" in shown


def test_our_own_lines_are_not_shown(app: Program) -> None:
    ours = Line(f"{Path(text.__file__).parents[1].as_posix()}/engine/child.py", 3, "main")
    assert text.their((HERE[0], ours, Line("<string>", 1, "<module>"))) == HERE[:1]


# ---- JSON ----


def test_the_object(app: Program) -> None:
    found = report_of(raw(app), app.root, exit_code=0).as_dict()
    assert json.loads(json.dumps(found)) == found
    assert {name: found[name] for name in ("version", "verdict", "reasons", "sample")} == {
        "version": 1,
        "verdict": "found",
        "reasons": [],
        "sample": 1.0,
    }
    assert (found["root"], found["exit_code"]) == (str(app.root), 0)
    (only,) = found["findings"]
    assert (only["kind"], only["level"], only["count"]) == ("race", "error", 3)
    assert only["variable"]["short"] == "Account.balance"
    assert only["variable"]["created"]["thread"] == {"number": 0, "name": "MainThread"}
    first = only["first"]
    assert (first["file"], first["line"], first["column"]) == ("app.py", 10, 17)
    assert first["source"] == "self.balance = amount; größe = self.size"
    assert first["locks"][0]["where"]["line"] == 9
    assert first["stack"][1]["function"] == "work"


def test_the_object_of_other_findings(app: Program) -> None:
    found = Report(Sources(app.root), others(app.root)).as_dict()["findings"]
    order, held, unreleased = found
    assert [each["kind"] for each in found] == [
        "lock-order",
        "held-while-waiting",
        "never-released",
    ]
    assert order["takings"][1]["taken"]["number"] == 4
    assert order["takings"][0]["held"]["stack"][0]["line"] == 9
    assert (held["what"], held["timed"], held["needed"]) == ("Event.wait", True, [4])
    assert (held["locks"][0]["kind"], held["waker"]["number"]) == ("lock", 2)
    assert (unreleased["thread"], unreleased["count"]) == ({"number": 2, "name": ""}, 2)


def test_suppressed_findings_are_in_the_object(app: Program) -> None:
    found = report_of(raw(app), app.root, ignored=["balance"]).as_dict()
    assert found["findings"] == []
    (only,) = found["suppressed"]
    assert (only["how"], only["why"], only["kind"]) == ("configuration", "balance", "race")


# ---- SARIF ----

# What the standard requires of each object that we write, and which of its values it knows:
# sections of "Static Analysis Results Interchange Format (SARIF) Version 2.1.0".
REQUIRED = {
    "sarifLog": {"version", "runs"},
    "run": {"tool"},
    "tool": {"driver"},
    "toolComponent": {"name"},
    "reportingDescriptor": {"id"},
    "result": {"message"},
    "invocation": {"executionSuccessful"},
    "notification": {"message"},
    "codeFlow": {"threadFlows"},
    "threadFlow": {"locations"},
    "suppression": {"kind"},
}
LEVELS = {"none", "note", "warning", "error"}


def check_sarif(log: dict[str, Any]) -> list[dict[str, Any]]:
    """The results of a log that has all it must have."""
    has("sarifLog", log)
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    has("run", run)
    has("tool", run["tool"])
    driver = run["tool"]["driver"]
    has("toolComponent", driver)
    for rule in driver["rules"]:
        has("reportingDescriptor", rule)
        assert rule["shortDescription"]["text"].endswith(".")
        assert rule["defaultConfiguration"]["level"] in LEVELS
    ids = [rule["id"] for rule in driver["rules"]]
    assert len(set(ids)) == len(ids)
    for base in run["originalUriBaseIds"].values():
        assert base["uri"].startswith("file:///") and base["uri"].endswith("/")
    for invocation in run["invocations"]:
        has("invocation", invocation)
        for note in invocation["toolExecutionNotifications"]:
            has("notification", note)
    for result in run["results"]:
        check_result(result, ids, set(run["originalUriBaseIds"]))
    results: list[dict[str, Any]] = run["results"]
    return results


def check_result(result: dict[str, Any], ids: list[str], bases: set[str]) -> None:
    has("result", result)
    assert result["message"]["text"]
    assert result["ruleId"] == ids[result["ruleIndex"]]
    assert result["level"] in LEVELS
    assert result["occurrenceCount"] >= 1
    assert all(isinstance(each, str) for each in result["partialFingerprints"].values())
    numbers = [each["id"] for each in result["relatedLocations"]]
    assert len(set(numbers)) == len(numbers) and all(number >= 0 for number in numbers)
    for location in (*result["locations"], *result["relatedLocations"]):
        check_location(location, bases)
    for flow in result["codeFlows"]:
        has("codeFlow", flow)
        assert flow["threadFlows"]
        names = [each["id"] for each in flow["threadFlows"]]
        assert len(set(names)) == len(names)
        for thread in flow["threadFlows"]:
            has("threadFlow", thread)
            assert thread["locations"]
            for step in thread["locations"]:
                check_location(step["location"], bases)
    for suppression in result.get("suppressions", []):
        has("suppression", suppression)
        assert suppression["kind"] in {"inSource", "external"}
        assert suppression["status"] in {"accepted", "underReview", "rejected"}


def check_location(location: dict[str, Any], bases: set[str]) -> None:
    physical = location["physicalLocation"]
    artifact = physical["artifactLocation"]
    assert " " not in artifact["uri"] and artifact["uri"].isascii()
    is_whole = artifact["uri"].startswith("file:///")
    assert is_whole or artifact["uriBaseId"] in bases
    assert physical["region"]["startLine"] >= 1
    assert physical["region"].get("startColumn", 1) >= 1


def has(kind: str, node: dict[str, Any]) -> None:
    assert REQUIRED[kind] <= node.keys(), kind


def test_a_race_in_sarif(app: Program) -> None:
    (result,) = check_sarif(sarif.document_of(report_of(raw(app), app.root)))
    assert (result["ruleId"], result["level"]) == ("reenact/race", "error")
    assert result["occurrenceCount"] == 3
    (location,) = result["locations"]
    physical = location["physicalLocation"]
    assert physical["artifactLocation"] == {"uri": "app.py", "uriBaseId": "%SRCROOT%"}
    assert physical["region"] == {"startLine": 6, "startColumn": 14}
    (related,) = result["relatedLocations"]
    assert related["physicalLocation"]["region"]["startLine"] == 10
    flows = result["codeFlows"][0]["threadFlows"]
    lines = [
        [step["location"]["physicalLocation"]["region"]["startLine"] for step in each["locations"]]
        for each in flows
    ]
    assert lines == [[8, 10], [6]]
    assert result["properties"] == {"variable": "Account.balance", "gil": "reachable with the GIL"}
    assert "suppressions" not in result


def test_everything_in_sarif(app: Program) -> None:
    found = report_of(raw(app), app.root, ignored=["balance"], reasons=["a thread got away"])
    report = Report(found.sources, others(app.root), found.suppressed, found.reasons)
    log = sarif.document_of(report)
    results = check_sarif(json.loads(json.dumps(log)))
    kinds = [each["ruleId"].removeprefix("reenact/") for each in results]
    assert kinds == ["lock-order", "held-while-waiting", "never-released", "race"]
    assert results[-1]["suppressions"][0]["kind"] == "external"
    assert results[-1]["suppressions"][0]["justification"] == "configuration: balance"
    invocation = log["runs"][0]["invocations"][0]
    assert not invocation["executionSuccessful"]
    assert invocation["toolExecutionNotifications"][0]["message"]["text"] == "a thread got away"


def test_a_comment_is_a_suppression_in_the_source(app: Program) -> None:
    app.path.write_text(SOURCE.replace("+= amount", "+= amount  # reenact: benign"), "utf-8")
    (result,) = check_sarif(sarif.document_of(report_of(raw(app), app.root)))
    assert result["suppressions"][0]["kind"] == "inSource"


def test_names_of_files_are_made_uris(app: Program) -> None:
    odd = Program(app.root, SOURCE, "größe & co/app 1.py")
    far = {"stack": [["/usr/lib/a b.py", 3, "f"]], "line": 3}
    first = odd.access("self.balance = amount", name="balance")
    of = variable("attribute", "balance", "Account")
    found = report_of(document(race(of, first, first | far)), app.root)
    (result,) = check_sarif(sarif.document_of(found))
    (location,) = result["locations"]
    assert location["physicalLocation"]["artifactLocation"] == {"uri": "file:///usr/lib/a%20b.py"}
    (related,) = result["relatedLocations"]
    artifact = related["physicalLocation"]["artifactLocation"]
    assert artifact["uri"] == "gr%C3%B6%C3%9Fe%20%26%20co/app%201.py"


def test_columns_count_letters_and_not_bytes(app: Program) -> None:
    size = app.access("self.balance = amount", name="size")
    of = variable("attribute", "size", "Account")
    (result,) = check_sarif(sarif.document_of(report_of(document(race(of, size, size)), app.root)))
    column = result["locations"][0]["physicalLocation"]["region"]["startColumn"]
    line = SOURCE.split("\n")[result["locations"][0]["physicalLocation"]["region"]["startLine"] - 1]
    assert line[column - 1 :] == "size"
