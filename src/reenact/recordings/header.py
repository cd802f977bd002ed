"""`header.json` and `end.json`: what was run, and how it ended.

The launcher makes a `Header` or an `End` and stores its `to_json()`; the reader parses what it
finds, which may come from a stranger, so every field is checked by name and type. Fields that
are not known are passed over: a newer reenact may add some without a new format.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NoReturn

from reenact.errors import RecordingError
from reenact.inputs import SOURCES, Inputs, is_boundary, treatments
from reenact.recordings import format
from reenact.recordings.members import check_version

MODES = ("script", "module", "command", "block")
ADDRESSES = ("fixed", "random")
ENGINES = ("serial", "parallel", "converted")  # as the core numbers them
ORDERS = ("sync", "ditto", "light")
ENDINGS = ("exited", "killed", "deadlock", "lost")

Path = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class Strategy:
    name: str
    seed: int
    slice: int


@dataclass(frozen=True, slots=True)
class Instrument:
    enabled: bool
    packages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Header:
    """What was run, where, and with what."""

    reenact: str
    python: str
    cache_tag: str
    platform: str
    machine: str
    libc: str
    executable: str
    flags: tuple[str, ...]
    mode: str
    target: str
    argv: tuple[str, ...]
    cwd: str
    environment: Mapping[str, str]
    hash_seed: str
    addresses: str
    strategy: Strategy
    instrument: Instrument
    started: str
    inputs: Inputs = field(default_factory=Inputs)
    engine: str = "serial"
    order: str = "sync"  # what the parallel engine takes note of
    format: int = field(default=format.FORMAT)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self) | {"inputs": self.inputs.as_dict()}

    def to_json(self) -> str:
        return json.dumps(self.as_dict(), indent=2) + "\n"

    @classmethod
    def from_json(cls, data: bytes, path: Path) -> Header:
        """Parse and check; `path` is the recording, named in errors."""
        fields = _Fields.parse(data, path, format.HEADER)
        fields.check_format()
        return cls(
            format=fields.integer("format"),
            strategy=_strategy(fields.table("strategy")),
            instrument=_instrument(fields.table("instrument")),
            inputs=_inputs(fields.table("inputs")) if fields.has("inputs") else Inputs(),
            engine=fields.choice("engine", ENGINES) if fields.has("engine") else "serial",
            order=fields.choice("order", ORDERS) if fields.has("order") else "sync",
            mode=fields.choice("mode", MODES),
            addresses=fields.choice("addresses", ADDRESSES),
            environment=fields.mapping("environment"),
            flags=fields.texts("flags"),
            argv=fields.texts("argv"),
            **{name: fields.text(name) for name in _TEXTS},
        )


_TEXTS = (
    "reenact",
    "python",
    "cache_tag",
    "platform",
    "machine",
    "libc",
    "executable",
    "target",
    "cwd",
    "hash_seed",
    "started",
)


@dataclass(frozen=True, slots=True)
class End:
    """How the run ended, as the launcher saw it."""

    ended: str
    exit_code: int
    signal: int | None
    seconds: float

    def to_json(self) -> str:
        return json.dumps(asdict(self), indent=2) + "\n"

    @classmethod
    def from_json(cls, data: bytes, path: Path) -> End:
        fields = _Fields.parse(data, path, format.END)
        return cls(
            ended=fields.choice("ended", ENDINGS),
            exit_code=fields.integer("exit_code"),
            signal=None if fields.is_null("signal") else fields.integer("signal"),
            seconds=fields.seconds("seconds"),
        )


def _strategy(fields: _Fields) -> Strategy:
    return Strategy(fields.text("name"), fields.natural("seed", 64), fields.natural("slice", 63))


def _instrument(fields: _Fields) -> Instrument:
    return Instrument(fields.boolean("enabled"), fields.texts("packages"))


def _inputs(fields: _Fields) -> Inputs:
    """A source that is not known is passed over, like a field."""
    sources = fields.table("sources")
    known = [name for name in SOURCES if sources.has(name)]
    return Inputs(
        {name: sources.choice(name, treatments(name)) for name in known},
        fields.boundaries("boundary"),
        fields.boolean("strict"),
    )


class _Fields:
    """One JSON object and the checks on its fields; every failure names the field."""

    def __init__(self, values: Mapping[str, Any], path: Path, place: str) -> None:
        self._values = values
        self._path = path
        self._place = place

    @classmethod
    def parse(cls, data: bytes, path: Path, member: str) -> _Fields:
        # RecursionError: JSON nested deeper than the parser goes.
        try:
            values = json.loads(data.decode("utf-8"))
        except (ValueError, RecursionError):
            raise RecordingError(path, "damaged", f"{member} is not JSON") from None
        if not isinstance(values, dict):
            raise RecordingError(path, "damaged", f"{member} is not a JSON object")
        return cls(values, path, member)

    def check_format(self) -> None:
        """Before any other field: a newer format may have changed them all."""
        version = self.integer("format")
        if version < 1:
            self._fail("format", "a format number")
        check_version(self._path, version)

    def text(self, name: str) -> str:
        value = self._values.get(name)
        return value if isinstance(value, str) else self._fail(name, "text")

    def integer(self, name: str) -> int:
        value = self._values.get(name)
        if not isinstance(value, int) or isinstance(value, bool):
            self._fail(name, "an integer")
        return value

    def natural(self, name: str, bits: int) -> int:
        """What fits into the core's integer for it."""
        value = self.integer(name)
        if not 0 <= value < 1 << bits:
            self._fail(name, f"a number of {bits} bits")
        return value

    def boolean(self, name: str) -> bool:
        value = self._values.get(name)
        return value if isinstance(value, bool) else self._fail(name, "true or false")

    def seconds(self, name: str) -> float:
        value = self._values.get(name)
        if not isinstance(value, (int, float)) or not 0 <= value < math.inf:
            self._fail(name, "a number of seconds")
        return float(min(value, 1e300))  # an integer may be too large for a float

    def choice(self, name: str, choices: tuple[str, ...]) -> str:
        value = self.text(name)
        return value if value in choices else self._fail(name, "one of " + ", ".join(choices))

    def texts(self, name: str) -> tuple[str, ...]:
        value = self._values.get(name)
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            self._fail(name, "a list of text")
        return tuple(value)

    def boundaries(self, name: str) -> tuple[str, ...]:
        value = self.texts(name)
        return value if all(map(is_boundary, value)) else self._fail(name, "a list of module:name")

    def mapping(self, name: str) -> dict[str, str]:
        value = self._values.get(name)
        if not isinstance(value, dict) or not all(isinstance(v, str) for v in value.values()):
            self._fail(name, "a table of text")
        return value

    def table(self, name: str) -> _Fields:
        value = self._values.get(name)
        if not isinstance(value, dict):
            self._fail(name, "a table")
        return _Fields(value, self._path, f"{self._place}, {name}")

    def has(self, name: str) -> bool:
        return name in self._values

    def is_null(self, name: str) -> bool:
        return name in self._values and self._values[name] is None

    def _fail(self, name: str, wanted: str) -> NoReturn:
        seen = "is missing" if name not in self._values else f"is not {wanted}"
        raise RecordingError(self._path, "damaged", f"{self._place}: field {name!r} {seen}")
