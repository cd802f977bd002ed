"""What a program took in from outside, in words: for `dump --inputs` and for `info`."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from reenact.cli.wording import printable, signal_name
from reenact.intercept.table import TABLE
from reenact.recordings.reader import Recording
from reenact.recordings.values import Cut, Input, Opened, Pairs, Record

LONGEST_TEXT = 160
KEPT = 1 << 16

_OWNERS = {row.owner.replace(":", "."): row.source for row in reversed(TABLE)}
_CALLS = {
    f"{row.owner.replace(':', '.')}.{name}": row.source for row in TABLE for name in row.names
}


def source_of(call: str) -> str:
    """The source that a call belongs to, or "other"."""
    return _CALLS.get(call) or _OWNERS.get(call.rpartition(".")[0], "other")


@dataclass(slots=True)
class Total:
    """The inputs of one source: how many, and how many bytes of text and data they hold."""

    source: str
    count: int = 0
    bytes: int = 0


def totals(recording: Recording) -> list[Total]:
    """Of every source that has inputs, largest count first."""
    found: dict[str, Total] = {}
    for each in recording.inputs(kept=0):
        if each.kind != "begins":
            source = source_of(each.call.name)
            total = found.setdefault(source, Total(source))
            total.count += 1
            total.bytes += _bytes_of(each.value) + _bytes_of(each.filled)
    return sorted(found.values(), key=lambda total: (-total.count, total.source))


def _bytes_of(value: Any) -> int:
    """Only of what is itself text or data: with nothing kept, that is all that is told apart."""
    return value.size if isinstance(value, Cut) and isinstance(value.value, bytes | str) else 0


def lines(recording: Recording) -> Iterator[str]:
    """For people: number, call, and what came of it."""
    for number, each in enumerate(recording.inputs(KEPT), 1):
        yield f"{number:>9}  {printable(each.call.name):<28} {printable(words(each))}"


def words(each: Input) -> str:
    if each.kind == "begins":
        return "began, and waited"
    if each.kind == "performed":
        return "was performed, and is in a replay"
    if each.kind == "signalled":
        return f"was interrupted by {signal_name(each.value)}"
    if each.kind == "raised":
        return f"raised {_exception(each.value)}"
    if each.filled is not None:
        return f"returned {shown(each.value)}, and filled a buffer with {shown(each.filled)}"
    opened = "" if each.opened is None else f": {_opened(each.opened)}"
    return f"returned {shown(each.value)}{opened}"


def _opened(opened: Opened) -> str:
    if opened.place != "file":
        named = {"null": "a device", "socket": "a pipe, terminal or socket"}
        return named.get(opened.place, f"a {opened.place}")
    held = {
        "own": "as the program left it",
        "empty": "empty",
        "hole": f"{opened.argument:,} bytes, not to be read",
        "kept": f"contents kept at byte {opened.argument:,} of files",
    }
    return f"file {opened.file}, {held[opened.contents]}"


def _exception(raised: Record) -> str:
    args, file, other, _ = raised.fields
    given = ", ".join(map(shown, args)) if isinstance(args, tuple) else shown(args)
    names = " and ".join(shown(name) for name in (file, other) if name is not None)
    return f"{raised.name}({given})" + (f" for {names}" if names else "")


def shown(value: Any) -> str:
    """As Python would write it, cut short."""
    text = _written(value)
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}..."


def _written(value: Any) -> str:
    if isinstance(value, Cut):
        return f"{_written(value.value)[:LONGEST_TEXT]}... ({value.size:,} in all)"
    if isinstance(value, Record):
        return f"{value.name}({', '.join(map(shown, value.fields))})"
    if isinstance(value, Pairs):
        return "{" + ", ".join(f"{shown(key)}: {shown(item)}" for key, item in value) + "}"
    if isinstance(value, bytes | bytearray | str) and len(value) > LONGEST_TEXT:
        return f"{value[:LONGEST_TEXT]!r}... ({len(value):,} in all)"
    if isinstance(value, tuple):
        return f"({', '.join(map(shown, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, list):
        return f"[{', '.join(map(shown, value))}]"
    if isinstance(value, frozenset):
        return "{" + ", ".join(sorted(map(shown, value))) + "}"
    return repr(value)


def as_json(number: int, each: Input) -> dict[str, Any]:
    """The object that docs/reference/json.md describes."""
    fields: dict[str, Any] = {
        "type": "input",
        "number": number,
        "call": each.call.name,
        "source": source_of(each.call.name),
        "kind": each.kind,
    }
    if each.kind in ("returned", "raised", "signalled"):
        fields["value"] = _plain(each.value)
    if each.filled is not None:
        fields["filled"] = _plain(each.filled)
    if each.opened is not None:
        fields["opened"] = _opened_json(each.opened)
    return fields


def _opened_json(opened: Opened) -> dict[str, Any]:
    if opened.place != "file":
        return {"place": opened.place}
    return {
        "place": opened.place,
        "file": opened.file,
        "contents": opened.contents,
        "argument": opened.argument,
    }


def _plain(value: Any) -> Any:
    """In JSON: what it has no form for is an object with one field that names it."""
    if isinstance(value, Cut):
        return {"cut": _plain(value.value), "size": value.size}
    if isinstance(value, Record):
        return {"record": value.name, "fields": [_plain(each) for each in value.fields]}
    if isinstance(value, Pairs):
        return {"dict": [[_plain(key), _plain(item)] for key, item in value]}
    if isinstance(value, bytes | bytearray):
        return {"bytes": base64.b64encode(value).decode("ascii")}
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    if isinstance(value, frozenset):
        return {"set": sorted((_plain(each) for each in value), key=repr)}
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": repr(value)}
    return value
