"""Races in released packages: `reenact races` tells of the right two lines, in one ordinary run.

The programs and packages are those of `tests/detection/test_real.py`, where a search has to find an
execution that fails; here none fails. Releases in which the race is gone are told nothing of.
"""

from __future__ import annotations

import sys
from typing import Any

import pytest

from tests.detection.real.table import REAL_BUGS
from tests.detection.test_real import told

BUGS = {bug.name: bug for bug in REAL_BUGS}
Lines = frozenset[tuple[str, str]]

# The two lines between which the bug lies: function and source.
FOUND: dict[str, Lines] = {
    "sqlparse_lexer": frozenset(
        {
            ("Lexer.get_default_instance", "if cls._default_intance is None:"),
            ("Lexer.get_default_instance", "cls._default_intance = cls()"),
        }
    ),
    "httpcore_status": frozenset(
        {
            ("ConnectionPool.handle_request", "self._requests.append(status)"),
            ("ConnectionPool.response_closed", "self._requests.remove(status)"),
        }
    ),
    "otel_reservoir": frozenset(
        {
            (
                "SimpleFixedSizeExemplarReservoir._find_bucket_index",
                "self._measurements_seen += 1",
            ),
            ("SimpleFixedSizeExemplarReservoir._reset", "self._measurements_seen = 0"),
        }
    ),
    "redis_pool": frozenset(
        {
            (
                "ConnectionPool.make_connection",
                "if self._created_connections >= self.max_connections:",
            ),
            ("ConnectionPool.make_connection", "self._created_connections += 1"),
        }
    ),
    "logging_handler": frozenset(
        {
            ("Logger.callHandlers", "for hdlr in c.handlers:"),
            ("Logger.removeHandler", "self.handlers.remove(hdlr)"),
        }
    ),
}

pytestmark = pytest.mark.skipif(
    sys.version_info[:2] != (3, 11), reason="the pinned releases of the packages are for 3.11"
)


def races(name: str, packages: tuple[str, ...]) -> tuple[str, set[Lines]]:
    """The verdict, and the two lines of each race."""
    document = told(BUGS[name], packages, "races")
    found = [each for each in document["findings"] if each["kind"] == "race"]
    return document["verdict"], {frozenset(map(_line, _accesses(race))) for race in found}


def _accesses(race: dict[str, Any]) -> list[dict[str, Any]]:
    return [race["first"], race["second"]]


def _line(access: dict[str, Any]) -> tuple[str, str]:
    innermost = access["stack"][0]
    return innermost["function"], innermost["source"].strip()


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", FOUND)
def test_the_two_lines_are_told(name: str) -> None:
    verdict, lines = races(name, BUGS[name].buggy)
    assert verdict == "found"
    assert FOUND[name] in lines


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", [name for name in FOUND if BUGS[name].fixed is not None])
def test_the_release_without_the_race_is_told_nothing_of(name: str) -> None:
    assert races(name, BUGS[name].fixed or ()) == ("none", set())
