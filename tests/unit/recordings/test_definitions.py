"""Definitions: references that lead nowhere, and names that would take too much memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from reenact.errors import RecordingError
from reenact.events import Names
from reenact.recordings import definitions
from reenact.recordings.definitions import Definitions

from .build import Builder, varints


def define(made: Builder, names: Names) -> Definitions:
    return Definitions(made.payloads["definitions"], names, Path("x.reenact"))


@pytest.mark.parametrize(
    "record, what",
    [
        (varints(0), "no definition 0"),
        (varints(8), "no definition 8"),
        (varints(6, 1, 0, 0, 6, 1, 0, 0), "call 1 is defined twice"),
        (varints(6, 1, 0, 1 << 20), "a string has 1048576 bytes"),
        (varints(2, 1, 5, 0, 1), "string 5 is not defined"),
        (varints(4, 9, 9), "string 9 is not defined"),
        (varints(5, 1, 7, 1), "undefined thread 7"),
        (varints(5, 1, 1, 1), "undefined thread 1"),
        (varints(5, 0, 0, 1), "thread 0 is defined twice"),
        (varints(1, 1 << 20), "a string has 1048576 bytes"),
        (b"\xff" * 11, "longer than 10 bytes"),
    ],
)
def test_nonsense_is_damage(record: bytes, what: str, names: Names) -> None:
    with pytest.raises(RecordingError, match=what) as caught:
        Definitions(record, names, Path("x.reenact"))
    assert caught.value.fault == "damaged"


def test_what_was_not_defined_is_damage(names: Names) -> None:
    made = Builder()
    made.site("acquire", "a.py", 1)
    made.object("lock", site=44)
    found = define(made, names)
    lookups = (
        lambda: found.site(2),
        lambda: found.paths[1],
        lambda: found.object(found.site(1), 2),
        lambda: found.object(found.site(1), -1),
        lambda: found.object(found.site(1), 1),
        lambda: found.thread_objects[3],
    )
    for lookup in lookups:
        with pytest.raises(RecordingError, match="is not defined"):
            lookup()


def test_text_that_is_not_utf8_is_escaped(names: Names) -> None:
    found = Definitions(varints(1, 3) + b"a\xff\x1b", names, Path("x.reenact"))
    assert found.strings == ["a\\xff\x1b"]


def test_paths_of_nested_threads(names: Names) -> None:
    made = Builder()
    child = made.thread(0, 3)
    made.thread(child, 2)
    assert [define(made, names).paths[index] for index in range(3)] == ["0", "0.3", "0.3.2"]


def test_a_long_chain_of_threads_takes_no_square_of_memory(names: Names) -> None:
    made = Builder()
    chain = b"".join(varints(5, index, index - 1, 1) for index in range(1, 50_000))
    found = Definitions(made.payloads["definitions"] + chain, names, Path("x.reenact"))
    assert found.paths[1000] == "0" + ".1" * 1000
    assert found.paths[1001] == "#1001"
    assert sum(len(found.paths[index]) for index in range(50_000)) < 2_000_000


def test_objects_are_decoded_again_after_many(
    monkeypatch: pytest.MonkeyPatch, names: Names
) -> None:
    monkeypatch.setattr(definitions, "_KEPT", 4)
    made = Builder()
    site = made.site("put", "a.py", 1)
    for address in range(20):
        made.object("queue", site, address)
    found = define(made, names)
    for _ in range(2):
        assert [found.objects[number].address for number in range(1, 21)] == list(range(20))
    assert len(found.objects) <= 4


@pytest.mark.parametrize("what", definitions.MOST)
def test_too_many_of_anything_is_refused(
    what: str, monkeypatch: pytest.MonkeyPatch, names: Names
) -> None:
    monkeypatch.setitem(definitions.MOST, what, 3)
    made = Builder()
    for number in range(5):
        made.site("put", f"{number}.py", number)
        made.source(f"{number}.py", "00")
        made.thread(0, number)
        made.call(number, "x")
        made.module(f"m{number}")
    with pytest.raises(RecordingError, match=f"more than 3 {what}") as caught:
        define(made, names)
    assert caught.value.fault == "oversized"
