"""The options that name a program and say how it is run: of `record`, `sources` and `races`."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from reenact import config, strategies
from reenact.config import Settings
from reenact.engine.launch import Program
from reenact.errors import UsageError
from reenact.inputs import SOURCES

_VALUED = (
    *("-o", "--strategy", "--seed", "--slice", "--instrument"),
    *("--source", "--boundary", "--config"),
    *("--runs", "--seconds", "-j", "--jobs", "--points", "--patience", "--step-limit"),
    *("--write-test", "--shrink", "--hang", "--find"),
    *("--sarif", "--baseline", "--write-baseline", "--sample", "--on-failure"),
    *("--epoch", "--tools", "--engine", "--order"),
)


def add_options(parser: argparse.ArgumentParser) -> None:
    _add_choices(parser)
    _add_inputs(parser)
    files = parser.add_mutually_exclusive_group()
    files.add_argument(
        "--config", metavar="FILE", help="settings; default: the nearest pyproject.toml"
    )
    files.add_argument("--no-config", action="store_true", help="no settings from a file")
    parser.add_argument("-m", dest="module", metavar="MODULE", help=argparse.SUPPRESS)
    parser.add_argument("program", nargs="*", help=argparse.SUPPRESS)


def _add_choices(parser: argparse.ArgumentParser) -> None:
    known = "; ".join(f"{each.name}: {each.summary}" for each in strategies.BUILTIN.values())
    parser.add_argument(
        "--strategy",
        help=f"who runs next ({known}; or module:Class of your own). Default: {config.STRATEGY}",
    )
    parser.add_argument("--seed", type=int, metavar="N", help="what random starts from")
    parser.add_argument(
        "--slice", type=int, metavar="N", help="ticks between two choices of the strategy"
    )
    parser.add_argument(
        "--instrument",
        action="append",
        metavar="PKG",
        help="a package to put preemption points into, besides your own code",
    )
    parser.add_argument(
        "--no-instrument", action="store_true", help="points at synchronisation only"
    )


def _add_inputs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--source",
        action="append",
        metavar="NAME=TREATMENT",
        help=f"what becomes of an outside input: {', '.join(SOURCES)}; "
        "recorded (default), passed or refused",
    )
    parser.add_argument(
        "--boundary",
        action="append",
        metavar="MODULE:NAME",
        help="a function or class whose calls are recorded as a whole; * for all of a module",
    )
    parser.add_argument(
        "--strict",
        action=argparse.BooleanOptionalAction,
        help="end the run at what is not under control, instead of noting it",
    )


def arrange(argv: list[str]) -> list[str]:
    """Our own options end where the program begins: what follows is the program's."""
    at = 0
    while at < len(argv) and argv[at].startswith("-") and argv[at] not in ("--", "-m"):
        at += 2 if argv[at] in _VALUED else 1
    if argv[at : at + 1] == ["-m"]:
        at += 2
    program = argv[at + 1 :] if argv[at : at + 1] == ["--"] else argv[at:]
    return [*argv[:at], "--", *program]


def settings_of(args: argparse.Namespace) -> Settings:
    return config.settle(_options(args), _file(args))


def _options(args: argparse.Namespace) -> dict[str, object]:
    """What was said, by the names that settings have in the file."""
    said = {
        "instrument": args.instrument,
        "no-instrument": args.no_instrument or None,
        "strategy": args.strategy,
        "seed": args.seed,
        "slice": args.slice,
        "strict": args.strict,
        "boundary": args.boundary,
        "sources": None if args.source is None else dict(map(_source, args.source)),
    }
    return {name: value for name, value in said.items() if value is not None}


def _source(text: str) -> tuple[str, str]:
    name, equals, treatment = text.partition("=")
    if not equals:
        raise UsageError(
            f"{text!r} is not NAME=TREATMENT",
            where="--source",
            advice="For example: --source clock=passed",
        )
    return name, treatment


def _file(args: argparse.Namespace) -> config.File | None:
    if args.config is not None:
        return config.read_named(args.config)
    path = None if args.no_config else config.find(Path.cwd())
    return None if path is None else config.read(path)


def program_of(args: argparse.Namespace, settings: Settings) -> Program:
    rest = args.program
    if args.module is not None:
        return Program("module", args.module, tuple(rest), settings.packages, settings.inputs)
    if not rest:
        raise UsageError("no program given", advice="Try: reenact record app.py")
    if not os.path.exists(rest[0]):
        raise UsageError(f"there is no file {rest[0]}", advice="Name the script to run.")
    return Program("script", rest[0], tuple(rest[1:]), settings.packages, settings.inputs)
