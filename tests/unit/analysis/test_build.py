"""Findings of raw documents: what is one finding, what is its label, its advice and its key."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reenact.analysis import findings_of
from reenact.analysis.findings import Race
from reenact.errors import InternalError

from .raws import Program, document, lock, race, variable

SOURCE = """\
class Account:
    def plain(self, amount):
        if self.balance > amount:
            self.balance = 7

    def one_step(self, amount):
        self.balance += amount.small
        self.balance -= 1
        self.balance = self.balance + 2
        self.balance = 3 + self.balance
        self.balances[0] += 4

    def several_steps(self, amount):
        self.balance += added(5)
        self.balance = self.balance + sum(6 for _ in ())
        self.balances[index()] = self.balances[index()] + 7
        self.balance *= 8
        self.balance += "9"
        self.balance = 10 - self.balance
        self.other = self.balance + 11

    async def later(self):
        self.balance += await twelve()
"""


@pytest.fixture
def app(tmp_path: Path) -> Program:
    return Program(tmp_path, SOURCE)


BALANCE = variable("attribute", "balance", "Account")


def one(app: Program, first: dict[str, Any], second: dict[str, Any], **fields: Any) -> Race:
    (found,) = findings_of(document(race(BALANCE, first, second), **fields), app.root)
    assert isinstance(found, Race)
    return found


def at(app: Program, text: str, **fields: Any) -> dict[str, Any]:
    return app.access(text, **fields)


# ---- labels ----


def label(app: Program, text: str, other: str = "self.balance -= 1", **how: Any) -> str:
    return one(app, at(app, text, **how), at(app, other)).label


@pytest.mark.parametrize("writes", [False, True])
@pytest.mark.parametrize(
    "text",
    [
        "self.balance += amount.small",
        "self.balance -= 1",
        "self.balance = self.balance + 2",
        "self.balance = 3 + self.balance",
    ],
)
def test_updates_in_one_step_can_change_places(app: Program, text: str, writes: bool) -> None:
    assert label(app, text, name="balance", writes=writes) == "free-threaded only"


def test_an_item_is_updated_in_one_step(app: Program) -> None:
    there = at(app, "self.balances[0] += 4", kind="i")
    assert one(app, there, there | {"thread": 2}).label == "free-threaded only"


@pytest.mark.parametrize(
    "text",
    [
        "if self.balance > amount",
        "self.balance = 7",
        "self.balance += added(5)",
        "self.balance = self.balance + sum(6 for _ in ())",
        "self.balance += await twelve()",
        "self.balance *= 8",
        'self.balance += "9"',
        "self.balance = 10 - self.balance",
        "self.other = self.balance + 11",
    ],
)
def test_all_else_makes_a_difference_with_the_gil(app: Program, text: str) -> None:
    assert label(app, text, name="balance") == "reachable with the GIL"


def test_a_call_in_the_index_comes_between_read_and_write(app: Program) -> None:
    there = at(app, "self.balances[index()] = self.balances[index()] + 7", kind="i")
    assert one(app, there, there | {"thread": 2}).label == "reachable with the GIL"


def test_texts_cannot_change_places_with_themselves(app: Program) -> None:
    text = 'self.balance += "9"'
    assert label(app, text, text) == "reachable with the GIL"


def test_products_can_change_places_with_products(app: Program) -> None:
    text = "self.balance *= 8"
    assert label(app, text, text) == "free-threaded only"


def test_what_is_read_for_an_update_is_not_updated(app: Program) -> None:
    """`amount.small` is read in the statement, and is another variable."""
    small = at(app, "self.balance += amount.small", name="small")
    assert one(app, small, small | {"thread": 2}).label == "reachable with the GIL"


def test_without_a_source_there_is_no_label(app: Program) -> None:
    there = at(app, "self.balance -= 1")
    app.path.unlink()
    assert one(app, there, there | {"thread": 2}).label == "unknown"


# ---- one finding for a pair of lines ----


def test_sites_of_the_same_two_lines_are_one_finding(app: Program) -> None:
    read = at(app, "self.balance -= 1", writes=False)
    write = at(app, "self.balance -= 1", writes=True)
    raws = [
        race(BALANCE, *pair, count)
        for pair, count in (((read, write), 1), ((write, read), 2), ((write, write), 4))
    ]
    (found,) = findings_of(document(*raws), app.root)
    assert isinstance(found, Race)
    assert found.count == 7


def test_other_lines_and_other_variables_are_other_findings(app: Program) -> None:
    one_line, other_line = at(app, "self.balance -= 1"), at(app, "self.balance = 7")
    other = variable("attribute", "owner", "Account")
    found = findings_of(
        document(
            race(BALANCE, one_line, one_line),
            race(BALANCE, one_line, other_line),
            race(BALANCE, other_line, one_line),
            race(other, one_line, one_line),
        ),
        app.root,
    )
    assert len(found) == 3
    assert len({each.key for each in found}) == 3


def test_of_several_the_one_that_matters_most_is_told(app: Program) -> None:
    line = app.line("self.balance = self.balance + 2")
    update = at(app, "self.balance = self.balance + 2", writes=True)
    beside = update | {"column": 0}  # something else on the same line
    raws = [race(BALANCE, update, update), race(BALANCE, beside, beside)]
    for order in (raws, raws[::-1]):
        (found,) = findings_of(document(*order), app.root)
        assert isinstance(found, Race)
        assert (found.label, found.count) == ("reachable with the GIL", 2)
        assert found.second.column == 0
        assert [place.line for place in found.places] == [line, line]


def test_what_is_about_one_variable_comes_together(app: Program) -> None:
    lines = at(app, "self.balance = 7"), at(app, "self.balance -= 1"), at(app, "self.balance *= 8")
    owner = variable("attribute", "owner", "Account")
    raws = [race(BALANCE, lines[2], lines[2]), race(owner, lines[1], lines[1])]
    raws.append(race(BALANCE, lines[0], lines[0]))
    found = findings_of(document(*raws), app.root)
    assert [each.subject for each in found] == ["Account.balance"] * 2 + ["Account.owner"]
    assert found[0].places[0].line < found[1].places[0].line


# ---- keys ----


def test_a_key_outlives_edits_elsewhere_and_another_order(app: Program) -> None:
    first, second = at(app, "self.balance -= 1"), at(app, "self.balance = 7")
    before = one(app, first, second).key
    moved = Program(app.root, "# a new line\n" * 9 + SOURCE)
    first, second = at(moved, "self.balance -= 1"), at(moved, "self.balance = 7")
    assert one(moved, second, first).key == before


def test_a_key_is_of_one_text_one_function_and_one_file(app: Program) -> None:
    there = at(app, "self.balance = 7")
    renamed = there | {"stack": [[str(app.path), there["line"], "rest"]]}
    keys = {one(app, there, there).key, one(app, renamed, renamed).key}
    for source, name in ((SOURCE, "lib.py"), (SOURCE.replace("= 7", "= 70"), "app.py")):
        changed = Program(app.root, source, name)
        there = at(changed, "self.balance = 7")
        keys.add(one(changed, there, there).key)
    assert len(keys) == 4


def test_a_key_does_not_know_addresses(app: Program) -> None:
    there = at(app, "self.balance = 7")
    found = []
    for address in (1, 2):
        of = variable("contents", "", "list", address=address)
        found += findings_of(document(race(of, there, there)), app.root)
    assert found[0].key == found[1].key


def test_files_are_shown_from_the_root(app: Program, tmp_path: Path) -> None:
    there = at(app, "self.balance = 7")
    far = there | {"thread": 2, "stack": [["/usr/lib/x.py", 3, "f"]], "line": 3}
    found = one(app, there, far)
    assert [place.file for place in found.places] == ["/usr/lib/x.py", "app.py"]
    relative = there | {"stack": [["app.py", there["line"], "work"]]}
    assert one(app, relative, relative).places[0].file == "app.py"


# ---- advice ----


def test_a_lock_that_one_of_them_holds(app: Program) -> None:
    first = at(app, "self.balance -= 1", locks=[lock(4, str(app.path), 3)])
    second = at(app, "self.balance = 7")
    advice = one(app, first, second).advice
    line = app.line("self.balance = 7")
    assert advice == f"Hold the lock taken at app.py:3 at app.py:{line} too, where no lock is held."
    assert one(app, second, first | {"thread": 2}).advice == advice


def test_locks_that_differ(app: Program) -> None:
    first = at(app, "self.balance -= 1", locks=[lock(4, str(app.path), 3)])
    second = at(app, "self.balance = 7", locks=[lock(5, kind="rlock")])
    advice = one(app, first, second).advice
    assert "not the same one" in advice
    assert "the lock taken at app.py:3" in advice
    assert "the RLock number 5" in advice


def test_no_lock_at_all(app: Program) -> None:
    there, other = at(app, "self.balance -= 1"), at(app, "self.balance = 7")
    lines = app.line("self.balance -= 1"), app.line("self.balance = 7")
    advice = one(app, there, other).advice
    assert advice.startswith("Hold one lock over the whole statement at ")
    assert f"app.py:{lines[0]} and app.py:{lines[1]}" in advice
    assert "join" not in advice and "queue" not in advice
    assert "whole statement" not in one(app, other, other).advice
    assert f"at app.py:{lines[1]}, and" in one(app, other, other).advice


def test_the_main_thread_can_join_or_do_it_before(app: Program) -> None:
    main = at(app, "self.balance = 7", thread=0)
    other = at(app, "self.balance -= 1", thread=1)
    assert "Or join thread 1 before app.py:4." in one(app, other, main).advice
    assert "at app.py:4 before thread 1 is started" in one(app, main, other).advice


def test_a_thread_that_has_ended_is_joined(app: Program) -> None:
    first = at(app, "self.balance = 7", ended=True)
    advice = one(app, first, at(app, "self.balance -= 1")).advice
    assert advice.startswith("Thread 1 had ended when thread 2 came to app.py:8")
    assert "join thread 1" in advice


def test_things_that_are_handed_over(app: Program) -> None:
    there = at(app, "self.balances[0] += 4", kind="i", mode="update")
    whole = there | {"mode": "whole_read"}
    (found,) = findings_of(document(race(variable("contents", "", "list"), there, whole)), app.root)
    assert "queue.Queue" in found.advice


# ---- the document ----


def test_a_document_of_another_version_is_a_bug_of_ours(app: Program) -> None:
    with pytest.raises(InternalError):
        findings_of(document(version=2), app.root)


def test_threads_have_their_names_and_modes_are_written_alike(app: Program) -> None:
    there = at(app, "self.balance = 7", mode="ITEM WRITE")
    found = one(app, there, there)
    assert (found.first.thread.name, found.first.mode) == ("Thread-1 (work)", "item_write")
    assert one(app, there | {"thread": 9}, there).first.thread.name == ""
