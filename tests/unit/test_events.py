"""Names of kinds, and what people read."""

from __future__ import annotations

import pytest

from reenact.events import Event, Names, Object, ScheduleEntry, Site

SITE = Site(3, "acquire", "app.py", "work", 12)


@pytest.mark.parametrize("kind, name", [(0, "none"), (1, "start"), (2, "operation 2")])
def test_unknown_operations_are_shown_by_number(kind: int, name: str) -> None:
    assert Names(("none", "start")).operation(kind) == name


@pytest.mark.parametrize(
    "thing, name",
    [
        (Object("lock", 3), "lock 3"),
        (Object("thread", 1, path="0.1"), "thread 0.1"),
        (Object("thread", 0, path="0"), "thread 0"),
        (Object("none", 0), ""),
    ],
)
def test_objects_have_names(thing: Object, name: str) -> None:
    assert thing.name == name


def test_an_event_takes_its_operation_from_its_site() -> None:
    assert Event(1, "0", Object("lock", 1), SITE).operation == "acquire"


def test_values_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        SITE.line = 13  # type: ignore[misc]


@pytest.mark.parametrize("kind, is_switch", [("preempt", True), ("steal", True), ("end", False)])
def test_switches(kind: str, is_switch: bool) -> None:
    assert ScheduleEntry(1, kind, 0).is_switch == is_switch
