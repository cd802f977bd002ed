"""What is made of raw findings in a search: which are failures, and in which words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reenact.errors import UsageError
from reenact.explore.raced import Judge, judge_of, worst_of
from tests.unit.analysis.raws import Program, Raw, document, race, variable

SOURCE = """\
class Account:
    def reset(self):
        self.balance = 0

    def deposit(self):
        self.balance += 1


def forth(one, other):
    with one:
        with other:
            pass
"""
BALANCE = variable("attribute", "balance", "Account")
CREDIT = variable("attribute", "credit", "Account")


@pytest.fixture
def app(tmp_path: Path) -> Program:
    return Program(tmp_path, SOURCE)


def lost(app: Program) -> Raw:
    """Of which the label is: free-threaded only."""
    there = app.access("+= 1")
    return race(CREDIT, there, there)


def overwritten(app: Program) -> Raw:
    return race(BALANCE, app.access("= 0"), app.access("+= 1"))


def locks(app: Program, *orders: tuple[int, int]) -> Raw:
    """Threads that take locks in these orders, all alive at once."""
    file, line = str(app.path), app.line("with other")
    facts = [
        {"id": n, "kind": "lock", "first": 0, "handed": False, "threads": [], "more_threads": True}
        for n in {each for order in orders for each in order}
    ]
    edges = [
        {"held": [[held, 0]], "lock": taken, "stack": 0, "count": 1, "at": [[n, 1]], "left_out": 0}
        for n, (held, taken) in enumerate(orders, 1)
    ]
    made: dict[str, Any] = {"version": 1, "locks": facts, "edges": edges, "waits": [], "held": []}
    return made | {"lives": [], "stacks": [[[file, line, "forth"]]], "overflow": False}


def test_a_race_is_a_failure(app: Program) -> None:
    failure = Judge(app.root).failure_of(document(overwritten(app)), ["0", "0.1", "0.2"])
    assert failure is not None and failure.is_found_by_looking
    assert (failure.kind, failure.thread) == ("race", "0.2")
    assert failure.summary == "race on Account.balance: app.py:3 and app.py:6"
    assert failure.traceback.startswith("error: race on Account.balance of <Account at 0x7f01>\n")


def test_the_one_that_matters_most_is_told_first(app: Program) -> None:
    judge = Judge(app.root)
    raw = document(lost(app), overwritten(app))
    failure = judge.failure_of(raw)
    assert failure is not None
    assert failure.summary == "race on Account.balance: app.py:3 and app.py:6, and 1 more"
    text, label, details = judge.tell(raw)
    assert "race on Account.credit" in text
    assert label == "reachable with the GIL"
    assert [each["key"] for each in details["findings"]] == [
        each.key for each in judge.report(raw).findings
    ]
    assert judge.tell(document(lost(app)))[1] == "free-threaded only"


def test_races_on_one_variable_are_alike_and_others_are_not(app: Program) -> None:
    judge = Judge(app.root)
    again = race(BALANCE, app.access("+= 1"), app.access("+= 1"))
    first, other, second = (
        judge.failure_of(document(each)) for each in (overwritten(app), lost(app), again)
    )
    assert first is not None and second is not None and first.summary != second.summary
    assert first.is_like(second)
    assert not first.is_like(other)


def test_a_cycle_of_locks_is_a_failure(app: Program) -> None:
    judge = Judge(app.root)
    assert judge.failure_of(document(locks=locks(app, (1, 2), (1, 2)))) is None
    raw = document(locks=locks(app, (1, 2), (2, 1)))
    failure = judge.failure_of(raw)
    assert failure is not None
    assert (failure.kind, failure.thread) == ("lock-order", "0")
    assert failure.summary == "2 locks are taken in a cycle: app.py:11 and app.py:11"
    assert judge.tell(raw)[1] == "reachable with the GIL"


def test_what_is_let_be_is_no_failure_and_others_still_are(app: Program) -> None:
    judge = Judge(app.root, ignored=["Account.balance"])
    for _ in range(2):  # the second time it is known
        assert judge.failure_of(document(overwritten(app))) is None
        failure = judge.failure_of(document(overwritten(app), lost(app)))
        assert failure is not None and "Account.credit" in failure.summary
    assert worst_of(judge.report(document(overwritten(app)))) is None


def test_a_baseline_and_a_judge_of_another_process(app: Program) -> None:
    (finding,) = Judge(app.root).report(document(lost(app))).findings
    judge = Judge(**Judge(app.root, known=[finding.key]).as_dict())
    assert judge.failure_of(document(lost(app))) is None
    assert judge.failure_of(document(overwritten(app))) is not None


def test_configuration_is_that_of_the_nearest_file(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.reenact]\nraces = { ignore = ["hits"] }\n')
    (tmp_path / "sub").mkdir()
    judge = judge_of(("races",), "accesses", None, tmp_path / "sub")
    assert judge is not None and judge.ignored == ("hits",)
    assert judge_of((), "sync", None, tmp_path) is None


@pytest.mark.parametrize(
    ("find", "points", "baseline", "said"),
    [
        (("bugs",), "accesses", None, "nothing called 'bugs' can be found"),
        (("races",), "sync", None, "races are found at accesses"),
        (("races",), "ticks", None, "races are found at accesses"),
        ((), "accesses", "known.json", "a baseline is for races"),
        (("races",), "accesses", "gone.json", "cannot be read"),
    ],
)
def test_wrong_usage(
    tmp_path: Path, find: tuple[str, ...], points: str, baseline: str | None, said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        judge_of(find, points, baseline, tmp_path)
