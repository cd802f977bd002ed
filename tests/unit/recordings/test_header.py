"""header.json and end.json: whatever is wrong with a field, the error names it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from reenact.errors import RecordingError
from reenact.inputs import Inputs
from reenact.recordings.header import End, Header, Instrument, Strategy

from . import build


def parse(**changes: Any) -> Header:
    return Header.from_json(json.dumps(build.HEADER | changes).encode(), "x.reenact")


def test_a_header_is_parsed() -> None:
    header = parse()
    assert header.argv == ("app.py", "--count", "3")
    assert header.strategy == Strategy("queue", 7, 1000)
    assert header.instrument == Instrument(True, ("app",))
    assert header.environment["PASSWORD"] == "secret"


def test_a_header_round_trips() -> None:
    header = parse(cwd="/caf\u00e9/\udcff")
    assert Header.from_json(header.to_json().encode(), "x.reenact") == header
    later = {"inputs", "engine", "order"}
    assert json.loads(header.to_json()).keys() == build.HEADER.keys() | later


INPUTS = {"sources": {"clock": "passed"}, "boundary": ["a.b:*"], "strict": True}


def test_inputs_are_parsed_and_round_trip() -> None:
    header = parse(inputs=INPUTS)
    assert header.inputs == Inputs({"clock": "passed"}, ("a.b:*",), True)
    assert Header.from_json(header.to_json().encode(), "x.reenact") == header


def test_a_header_from_before_there_were_inputs_has_the_defaults() -> None:
    assert "inputs" not in build.HEADER
    assert parse().inputs == Inputs()


def test_a_source_that_is_not_known_is_passed_over() -> None:
    assert parse(inputs=INPUTS | {"sources": {"smells": "inhaled"}}).inputs.sources["clock"] == (
        "recorded"
    )


@pytest.mark.parametrize(
    "inputs, words",
    [
        (None, "field 'inputs' is not a table"),
        ({}, "field 'sources' is missing"),
        (INPUTS | {"sources": []}, "field 'sources' is not a table"),
        (INPUTS | {"sources": {"clock": 1}}, "inputs, sources: field 'clock' is not text"),
        (INPUTS | {"sources": {"clock": "x"}}, "field 'clock' is not one of recorded, passed"),
        (INPUTS | {"sources": {"signals": "refused"}}, "field 'signals' is not one of"),
        (INPUTS | {"boundary": "a:b"}, "field 'boundary' is not a list of text"),
        (INPUTS | {"boundary": ["a:b c=d"]}, "field 'boundary' is not a list of module:name"),
        (INPUTS | {"boundary": ["a:b\0c"]}, "field 'boundary' is not a list of module:name"),
        (INPUTS | {"strict": 1}, "field 'strict' is not true or false"),
    ],
)
def test_wrong_inputs_are_named(inputs: object, words: str) -> None:
    with pytest.raises(RecordingError, match=words) as caught:
        parse(inputs=inputs)
    assert caught.value.fault == "damaged"


@pytest.mark.parametrize("end", [End("exited", 3, None, 0.5), End("killed", -9, 9, 2.0)])
def test_an_end_round_trips(end: End) -> None:
    assert End.from_json(end.to_json().encode(), "x.reenact") == end


def test_unknown_fields_are_passed_over() -> None:
    assert parse(colour="blue") == parse()


@pytest.mark.parametrize("name", build.HEADER)
def test_a_missing_field_is_named(name: str) -> None:
    fields = {key: value for key, value in build.HEADER.items() if key != name}
    with pytest.raises(RecordingError, match=f"'{name}' is missing") as caught:
        Header.from_json(json.dumps(fields).encode(), "x.reenact")
    assert caught.value.fault == "damaged"


@pytest.mark.parametrize("name", build.HEADER)
@pytest.mark.parametrize("value", [None, 1.5, [1], {"a": 1}, True])
def test_a_field_of_another_type_is_named(name: str, value: object) -> None:
    with pytest.raises(RecordingError, match=f"'{name}'|{name}: field") as caught:
        parse(**{name: value})
    assert caught.value.fault == "damaged"


@pytest.mark.parametrize("name", build.END)
@pytest.mark.parametrize("value", ["never", [], -1.5, "1"])
def test_a_wrong_end_is_named(name: str, value: object) -> None:
    with pytest.raises(RecordingError, match=name):
        End.from_json(json.dumps(build.END | {name: value}).encode(), "x.reenact")


def test_a_newer_format_is_newer_whatever_its_fields_are() -> None:
    with pytest.raises(RecordingError, match="format 4") as caught:
        Header.from_json(b'{"format": 4, "argv": 0}', "x.reenact")
    assert caught.value.fault == "newer"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe{}",
        b"[" * 200_000,
        b'{"a":' * 200_000,
        b'{"format": ' + b"9" * 10_000 + b"}",
        b'{"format": NaN}',
        b'{"format": 0}',
        b'{"format": -1}',
    ],
)
def test_what_is_no_header_is_damaged(data: bytes) -> None:
    with pytest.raises(RecordingError) as caught:
        Header.from_json(data, "x.reenact")
    assert caught.value.fault == "damaged"


def test_enormous_numbers_are_no_problem() -> None:
    data = json.dumps(build.END | {"seconds": 10**400, "exit_code": 10**30}).encode()
    assert End.from_json(data, "x.reenact").seconds == 1e300
