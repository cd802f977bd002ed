"""`reenact instrument`: a source file with the sites of its accesses; what has none, and why."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from reenact.cli.exits import ends_well
from reenact.cli.wording import Terminal, printable
from reenact.errors import ReenactError
from reenact.instrument.rewrite import ALL, DETECTOR, HEURISTIC
from reenact.instrument.rewriting import CONSTANT
from reenact.instrument.shown import Shown, show

DESCRIPTION = """\
Show a source file with its sites: the places where `reenact explore` and `reenact races` look at
an access to something that threads could share. Below each line stands what is read and written
there, with its column; then what was left out, since no other thread can see it, and why. Nothing
is run.
"""
EXAMPLES = """\
examples:
  reenact instrument app.py                    the source, with its sites
  reenact instrument --races app.py            as `reenact races` has it: it needs fewer
  reenact instrument --json app.py | jq .cut   for programs (docs/reference/json.md)
"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "instrument",
        help="show a source file with the accesses that are looked at",
        usage="reenact instrument [--races | --heuristic] [--json] FILE",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", metavar="FILE", help="a Python source file")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    manners = parser.add_mutually_exclusive_group()
    manners.add_argument(
        "--races",
        dest="manner",
        action="store_const",
        const=DETECTOR,
        help="as for `reenact races`, not for `reenact explore`",
    )
    manners.add_argument(
        "--heuristic",
        dest="manner",
        action="store_const",
        const=HEURISTIC,
        help="as for `reenact races --heuristic`",
    )
    parser.set_defaults(run=run, manner=ALL)


@ends_well
def run(args: argparse.Namespace) -> int:
    shown = read(args.file, args.manner)
    terminal = Terminal()
    if args.json:
        terminal.line(json.dumps(as_json(args.file, shown), indent=2))
        return 0
    for text in page(shown):
        terminal.line(printable(text))
    return 0


def read(path: str, manner: str = ALL) -> Shown:
    try:
        with open(path, "rb") as file:
            return show(file.read(), path, manner)
    except OSError as error:
        raise ReenactError(f"cannot read {path}: {error.strerror}") from None
    except (SyntaxError, ValueError, RecursionError) as error:
        raise ReenactError(f"{path} is no Python source that can be rewritten: {error}") from None


def page(shown: Shown) -> Iterator[str]:
    below: dict[int, list[tuple[int, str]]] = {}
    for site in shown.sites:
        below.setdefault(site.line, []).append((site.column, site.text))
    for cut in shown.cut:
        if cut.reason != CONSTANT:
            below.setdefault(cut.line, []).append((cut.column, f"- {cut.text}"))
    for number, line in enumerate(shown.lines, 1):
        if line or number < len(shown.lines):
            yield f"{number:>5}  {line}".rstrip()
        for column, text in sorted(below.get(number, ())):
            yield f"       |{column:>4} {text}"
    yield ""
    yield from totals(shown)


def totals(shown: Shown) -> Iterator[str]:
    yield f"{_count(len(shown.sites), 'site')}; {_count(len(shown.cut), 'access')} left out"
    constants = sorted({cut.name for cut in shown.cut if cut.reason == CONSTANT})
    if constants:
        yield f"never bound again once others can see them: {', '.join(constants)}"


def _count(number: int, noun: str) -> str:
    plural = noun + ("es" if noun.endswith("s") else "s")
    return f"{number:,} {noun if number == 1 else plural}"


def as_json(path: str, shown: Shown) -> dict[str, Any]:
    return {
        "format": 1,
        "file": path,
        "sites": [asdict(site) | {"text": site.text} for site in shown.sites],
        "cut": [asdict(cut) for cut in shown.cut],
    }
