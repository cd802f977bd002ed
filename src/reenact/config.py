"""The settings of a recording: `[tool.reenact]` in pyproject.toml, and options on top.

Called by the commands that record or say what would be recorded. A layer is the command line or
the file; both are checked by the same rules, and a wrong setting is an error that names its
option, or its file and line. What is not set anywhere has its default. Whether a strategy exists
is not known here, but to `reenact.strategies`.
"""

from __future__ import annotations

import json
import os
import re
from bisect import bisect_left
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reenact.errors import UsageError
from reenact.inputs import RECORDED, SOURCES, Inputs, is_boundary, is_module, treatments

NAME = "pyproject.toml"
STRATEGY = "queue"
_TABLE = ("tool", "reenact")
_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a setting comes from: an option, a line of a file or, if both are empty, nowhere."""

    option: str = ""
    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        if self.option:
            return self.option
        return f"{self.file} line {self.line}" if self.file else "default"


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line says, by the names that settings have in the file."""

    values: Mapping[str, Any]

    def origin(self, *path: str) -> Origin:
        if path[0] == "sources":
            return Origin(option="--source")
        is_off = path[0] == "strict" and not self.values["strict"]
        return Origin(option="--no-strict" if is_off else f"--{path[0]}")


@dataclass(frozen=True, slots=True)
class File:
    """What a file says; lines are looked up only when somebody asks where."""

    path: Path
    text: str
    values: Mapping[str, Any]

    def origin(self, *path: str) -> Origin:
        return Origin(file=_shown(self.path), line=line_of(self.text, (*_TABLE, *path)))


Layer = Options | File


@dataclass(frozen=True, slots=True)
class Settings:
    """What is in force; `packages` is None for no ticks at all. The first layer is strongest."""

    packages: tuple[str, ...] | None
    strategy: str
    seed: int | None
    slice: int | None
    inputs: Inputs
    layers: tuple[Layer, ...] = ()
    ignored: tuple[str, ...] = ()  # races that are not to be told: names of variables, and files
    is_heuristic: bool = False  # races are looked for with fewer sites, on trust

    def origin(self, *path: str) -> Origin:
        """Of a setting, `sources` and a source, or a list and an entry of it."""
        for layer in self.layers:
            if _holds(layer.values, path):
                return layer.origin(*path)
        return Origin()

    @property
    def file(self) -> str:
        """The file that has settings for us, if there is one."""
        paths = [layer.path for layer in self.layers if isinstance(layer, File) and layer.values]
        return _shown(paths[0]) if paths else ""


def find(directory: Path) -> Path | None:
    """The nearest pyproject.toml at or above a directory."""
    for place in (directory, *directory.parents):
        if os.path.isfile(place / NAME):
            return place / NAME
    return None


def read(path: Path) -> File:
    text = _text(path)
    if "reenact" not in text:
        return File(path, text, {})
    try:
        document = _parse(text)
    except ValueError as error:
        raise _broken(path, text, error) from None
    return File(path, text, _table(document, path, text))


def _parse(text: str) -> dict[str, Any]:
    """The document; ValueError if it is none."""
    import tomllib  # takes longer to load than most files have anything for us

    return tomllib.loads(text)


def read_named(name: str) -> File:
    """A file that was asked for must have something to say."""
    file = read(Path(name))
    if not _holds(_parse(file.text), _TABLE):
        raise UsageError(
            "it has no table [tool.reenact]",
            where=name,
            advice="Give --config a file with one: docs/reference/configuration.md.",
        )
    return file


def settle(options: Mapping[str, Any], file: File | None = None) -> Settings:
    """Check both layers, and put the options on top of the file."""
    layers = (Options(options),) if file is None else (Options(options), file)
    for layer in layers:
        _check(layer)
    settings = Settings(
        packages=_packages(layers),
        strategy=_strongest(layers, "strategy", STRATEGY),
        seed=_strongest(layers, "seed"),
        slice=_strongest(layers, "slice"),
        inputs=_inputs(layers),
        layers=layers,
        ignored=_ignored(layers),
        is_heuristic=_is_heuristic(layers),
    )
    _check_boundaries(settings)
    return settings


def line_of(text: str, path: tuple[str, ...]) -> int:
    """The line on which the statement begins that brings `path` into the document.

    tomllib does not say. But a document can be cut before any statement, and not within one: so
    `path` is missing from what is cut before its line, and in what is cut at or after it.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    cuts = range(len(lines) + 1)
    return bisect_left(cuts, True, key=lambda cut: _holds(_beginning(lines, cut), path))


def _beginning(lines: list[str], cut: int) -> dict[str, Any]:
    """The document up to `cut`, or to the end of the statement that is there."""
    for end in range(cut, len(lines)):
        with suppress(ValueError):
            return _parse("\n".join(lines[:end]))
    return _parse("\n".join(lines))


def _text(path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(
            f"it cannot be read: {error.strerror}",
            where=str(path),
            advice="Give --config another file, or use --no-config.",
        ) from None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(
            "it is not UTF-8 text",
            where=str(Origin(file=_shown(path), line=line)),
            advice="Save it as UTF-8, or leave it out with --no-config.",
        ) from None


def _broken(path: Path, text: str, error: ValueError) -> UsageError:
    message = str(error)
    place = _PLACE.search(message)
    line = int(place[1]) if place is not None and place[1] else len(text.rstrip().split("\n"))
    return UsageError(
        f"it is not TOML: {_PLACE.sub('', message)}",
        where=str(Origin(file=_shown(path), line=line)),
        advice="Mend that line, or leave the file out with --no-config.",
    )


def _table(document: Mapping[str, Any], path: Path, text: str) -> Mapping[str, Any]:
    """`[tool.reenact]`, empty if it is not there."""
    values: Any = document
    for depth, name in enumerate(_TABLE, 1):
        values = values.get(name, {})
        if not isinstance(values, dict):
            line = line_of(text, _TABLE[:depth])
            raise UsageError(
                f"{'.'.join(_TABLE[:depth])} is not a table",
                where=str(Origin(file=_shown(path), line=line)),
                advice="Begin our settings with a line [tool.reenact].",
            )
    table: Mapping[str, Any] = values
    return table


def _holds(values: Any, path: tuple[str, ...]) -> bool:
    """Whether there is such a key in a table of tables, or such an entry in a list."""
    for name in path:
        if not isinstance(values, (dict, list)) or name not in values:
            return False
        values = values[name] if isinstance(values, dict) else None
    return True


def _shown(path: Path) -> str:
    """Relative where that is shorter: people open it."""
    relative = os.path.relpath(path)
    return relative if len(relative) < len(str(path)) else str(path)


@dataclass(frozen=True, slots=True)
class _Key:
    """What a setting must be, in words and as a test; of a list, the test is of its entries."""

    wanted: str
    in_file: str
    as_option: str
    is_right: Callable[[Any], bool]
    is_list: bool = False

    def wrong_parts(self, value: Any) -> list[Any]:
        if self.is_list and isinstance(value, list):
            return [entry for entry in value if not self.is_right(entry)]
        return [] if not self.is_list and self.is_right(value) else [value]


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_between(first: int, bits: int) -> Callable[[Any], bool]:
    return lambda value: type(value) is int and first <= value < 1 << bits


KEYS = {
    "instrument": _Key(
        "a list of packages",
        'instrument = ["requests"]',
        "--instrument requests",
        lambda value: _is_text(value) and is_module(value),
        is_list=True,
    ),
    "no-instrument": _Key("true or false", "no-instrument = true", "--no-instrument", _is_flag),
    "strategy": _Key("a name", 'strategy = "random"', "--strategy random", _is_text),
    "seed": _Key(f"a number from 0 to {(1 << 64) - 1}", "seed = 7", "--seed 7", _is_between(0, 64)),
    "slice": _Key(
        f"a number from 1 to {(1 << 62) - 1}", "slice = 100", "--slice 100", _is_between(1, 62)
    ),
    "strict": _Key("true or false", "strict = true", "--strict", _is_flag),
    "boundary": _Key(
        "a list of module:name or module:*",
        'boundary = ["psycopg2:connect"]',
        "--boundary psycopg2:connect",
        lambda value: _is_text(value) and is_boundary(value),
        is_list=True,
    ),
    "sources": _Key(
        "a table of sources",
        'sources = { clock = "passed" }',
        "--source clock=passed",
        lambda value: isinstance(value, dict),
    ),
    "races": _Key(
        "a table with ignore and heuristic",
        'races = { ignore = ["Account.balance"] }',
        "",  # there is no option
        lambda value: isinstance(value, dict),
    ),
}


def _check(layer: Layer) -> None:
    for name, value in layer.values.items():
        _check_value(layer, name, value)
    for source, treatment in layer.values.get("sources", {}).items():
        _check_source(layer, source, treatment)
    for name, value in layer.values.get("races", {}).items():
        _check_races(layer, name, value)
    if layer.values.get("no-instrument") and layer.values.get("instrument"):
        raise UsageError(
            "instrument and no-instrument contradict each other",
            where=str(layer.origin("no-instrument")),
            advice="Leave out one of the two.",
        )


def _check_value(layer: Layer, name: str, value: Any) -> None:
    if name not in KEYS:
        raise UsageError(
            f"there is no setting {name!r}",
            where=str(layer.origin(name)),
            advice=f"Settings are {', '.join(KEYS)}.",
        )
    key = KEYS[name]
    for part in key.wrong_parts(value):
        example = key.in_file if isinstance(layer, File) else key.as_option
        raise UsageError(
            f"{name} must be {key.wanted}, not {json.dumps(part, default=str)}",
            where=str(layer.origin(name)),
            advice=f"For example: {example}",
        )


def _check_source(layer: Layer, source: str, treatment: Any) -> None:
    origin = ("sources", source)
    if source not in SOURCES:
        raise UsageError(
            f"there is no source {source!r}",
            where=str(layer.origin(*origin)),
            advice=f"Sources are {', '.join(SOURCES)}.",
        )
    if treatment not in treatments(source):
        raise UsageError(
            f"{source} cannot be {json.dumps(treatment, default=str)}",
            where=str(layer.origin(*origin)),
            advice=f"It can be one of {', '.join(treatments(source))}.",
        )


def _check_races(layer: Layer, name: str, value: Any) -> None:
    where = str(layer.origin("races", name))
    if name not in ("ignore", "heuristic"):
        raise UsageError(
            f"there is no setting {name!r} of races",
            where=where,
            advice="There are ignore and heuristic.",
        )
    if name == "heuristic":
        if not isinstance(value, bool):
            raise UsageError(
                "races.heuristic must be true or false", where=where, advice="heuristic = true"
            )
        return
    if not isinstance(value, list) or not all(map(_is_text, value)):
        raise UsageError(
            "races.ignore must be a list of variables and files",
            where=where,
            advice='For example: ignore = ["Account.balance", "app/cache.py"]',
        )


def _check_boundaries(settings: Settings) -> None:
    """What is recorded as one call is not run in a replay: there can be no ticks in it."""
    for boundary in settings.inputs.boundary:
        module = boundary.partition(":")[0]
        for package in settings.packages or ():
            if f"{module}.".startswith(f"{package}."):
                raise UsageError(
                    f"the boundary {boundary} lies in {package}, which is instrumented "
                    f"({settings.origin('instrument', package)})",
                    where=str(settings.origin("boundary", boundary)),
                    advice="Leave out one of the two: a replay does not run what is in a boundary.",
                )


def _strongest(layers: tuple[Layer, ...], name: str, default: Any = None) -> Any:
    return next((layer.values[name] for layer in layers if name in layer.values), default)


def _added_up(layers: tuple[Layer, ...], name: str) -> tuple[str, ...]:
    """Lists of the layers follow one another, each entry once."""
    entries = [entry for layer in reversed(layers) for entry in layer.values.get(name, [])]
    return tuple(dict.fromkeys(entries))


def _ignored(layers: tuple[Layer, ...]) -> tuple[str, ...]:
    tables = [layer.values.get("races", {}) for layer in layers]
    return tuple(dict.fromkeys(entry for table in tables for entry in table.get("ignore", [])))


def _is_heuristic(layers: tuple[Layer, ...]) -> bool:
    tables = [layer.values.get("races", {}) for layer in layers]
    return next((bool(table["heuristic"]) for table in tables if "heuristic" in table), False)


def _packages(layers: tuple[Layer, ...]) -> tuple[str, ...] | None:
    """The strongest layer that says anything about it says whether there are ticks at all."""
    for layer in layers:
        if layer.values.get("no-instrument"):
            return None
        if "instrument" in layer.values or "no-instrument" in layer.values:
            break
    return _added_up(layers, "instrument")


def _inputs(layers: tuple[Layer, ...]) -> Inputs:
    tables = [layer.values.get("sources", {}) for layer in layers]
    chosen = {
        source: next((table[source] for table in tables if source in table), RECORDED)
        for source in SOURCES
    }
    return Inputs(chosen, _added_up(layers, "boundary"), _strongest(layers, "strict", False))
