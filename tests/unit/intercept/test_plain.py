"""Values come back from their plain form as they were, and nothing but values does."""

from __future__ import annotations

import collections
import enum
import math
import uuid
import zoneinfo
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from typing import Any, NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as some

from reenact import _core
from reenact.intercept import plain


def left_over(value: Any) -> NoReturn:
    raise LookupError(value)


def there_and_back(value: Any) -> Any:
    coded = plain.encode(value, left_over)
    assert _core.is_plain(coded)
    return plain.decode(coded, left_over)


ZONES = some.one_of(
    some.none(),
    some.just(UTC),
    some.timedeltas(timedelta(hours=-23), timedelta(hours=23)).map(timezone),
)
SCALARS = some.one_of(
    some.none(),
    some.booleans(),
    some.integers(),
    some.floats(allow_nan=False),
    some.text(),
    some.binary(),
    some.decimals(allow_nan=False),
    some.fractions(),
    some.uuids(),
    some.dates(),
    some.timedeltas(),
    some.datetimes(timezones=ZONES),
    some.times(timezones=ZONES),
    some.complex_numbers(allow_nan=False),
    some.frozensets(some.integers()),
)
VALUES = some.recursive(
    SCALARS,
    lambda inner: some.one_of(
        some.lists(inner, max_size=3),
        some.tuples(inner, inner),
        some.dictionaries(some.text(), inner, max_size=3),
        some.sets(some.dates(), max_size=3),
    ),
    max_leaves=8,
)


@given(VALUES)
def test_values_come_back(value: Any) -> None:
    back = there_and_back(value)
    assert back == value
    assert type(back) is type(value)


class Color(enum.Enum):
    RED = "red"


class Mode(enum.IntFlag):
    READ = 1
    WRITE = 2


Point = collections.namedtuple("Point", "x y")


class Named(str):
    pass


class Odd(Exception):
    def __init__(self, first: int, second: int) -> None:
        super().__init__(f"{first} and {second}")
        self.first = first


@pytest.mark.parametrize(
    "value",
    [
        Color.RED,
        Mode.READ,
        Mode.READ | Mode.WRITE,
        Point(1, Decimal("2.50")),
        Ellipsis,
        NotImplemented,
        range(1, 9, 2),
        slice(None, 3),
        collections.OrderedDict(a=date(2020, 1, 2)),
        datetime(2020, 10, 25, 2, 30, fold=1, tzinfo=zoneinfo.ZoneInfo("Europe/Berlin")),
        Fraction(1, 3),
        [uuid.UUID(int=7), {"deep": (time(1, 2, fold=1),)}],
    ],
    ids=str,
)
def test_types_with_a_rule(value: Any) -> None:
    back = there_and_back(value)
    assert back == value
    assert type(back) is type(value)
    assert repr(back) == repr(value)


def test_decimal_that_is_no_number() -> None:
    assert there_and_back(Decimal("sNaN123")).is_snan()
    assert math.isnan(there_and_back([float("nan"), {1}])[0])


def test_a_memoryview_is_its_bytes() -> None:
    assert bytes(there_and_back(memoryview(b"abc"))) == b"abc"


def test_derived_values_become_their_base() -> None:
    assert type(there_and_back([Named("a"), {1}])[0]) is str


def test_an_exception_has_its_class_arguments_and_attributes() -> None:
    error = Odd(1, 2)
    error.add_note("a note")
    back = there_and_back(error)
    assert type(back) is Odd
    assert (back.args, back.first, back.__notes__) == (("1 and 2",), 1, ["a note"])


def test_exceptions_of_the_builtins() -> None:
    missing = FileNotFoundError(2, "missing", "a file")
    back = there_and_back(missing)
    assert (type(back), back.errno, back.filename) == (FileNotFoundError, 2, "a file")
    assert there_and_back(StopIteration(5)).value == 5


def test_an_exception_that_cannot_be_found_becomes_its_base() -> None:
    class Hidden(KeyError):
        pass

    assert type(there_and_back(Hidden("x"))) is KeyError


def test_what_has_no_rule_is_left_over() -> None:
    with pytest.raises(LookupError):
        there_and_back([object()])


@pytest.mark.parametrize(
    "coded",
    [
        ("enum", "os", "system", "x", None),
        ("enum", "subprocess", "Popen", "x", None),
        ("named tuple", "subprocess", "Popen", ["ls"]),
        ("error", "subprocess", "Popen", ("plain", ("ls",)), ("plain", {}), None),
        ("error", "no.such", "Module", ("plain", ()), ("plain", {}), None),
        ("os.system", ["ls"]),
        ("unheard of", 1),
    ],
    ids=str,
)
def test_a_recording_cannot_make_anything_else(coded: Any) -> None:
    with pytest.raises((ValueError, LookupError)):
        plain.decode(coded, left_over)
