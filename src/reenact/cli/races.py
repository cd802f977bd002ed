"""`reenact races`: find races and lock orders in one run of a program, or in a recording."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reenact.analysis import baseline, sarif, text
from reenact.analysis.report import Report, report_of
from reenact.cli.apart import apart
from reenact.cli.exits import ends_well
from reenact.cli.program import add_options, program_of, settings_of
from reenact.cli.record import choices_of
from reenact.cli.wording import Terminal, printable, signal_name
from reenact.config import Settings
from reenact.engine import convert, races, replay
from reenact.engine import report as lines_of
from reenact.errors import UsageError
from reenact.instrument.loader import ACCESSES
from reenact.recordings import format
from reenact.recordings.reader import Recording
from reenact.strategies.queue import LONG_TURNS

_EXITS = {"none": 0, "found": 1, "inconclusive": 3}
DEADLOCK = 122
_NOTHING: dict[str, Any] = {"version": 1, "races": [], "left_out": 0, "overflow": False}
_UNCONTROLLED = {
    "foreign thread": "a thread that Python did not start ran Python code, and was not looked at",
    "stolen baton": "a thread was stuck in a call that is not controlled; what ran meanwhile is "
    "not ordered with it",
    "unblocked signal handler": "a handler of a signal ran outside a point",
}
_OF_RUNS = ("strategy", "seed", "slice", "instrument", "source", "boundary", "strict")

DESCRIPTION = """\
Run a Python program once, or replay a recording, and report every pair of accesses to the same
thing that nothing orders (races), locks that are taken in a cycle, locks that are held while
waiting for something else, and locks that are never released. The report goes to standard error.

Exit code 0: none (warnings do not count). 1: a race or a cycle of locks was found.
3: inconclusive, with the reason.
"""
EXAMPLES = """\
examples:
  reenact races app.py --workers 8
  reenact races -m pytest tests/test_pool.py              a module, as python -m runs it
  reenact races app.reenact                               of what happened then
  reenact races --write-baseline races.json app.py        what is known from now on
  reenact races --baseline races.json app.py              only what is new
  reenact races --sarif races.sarif app.py                for code-scanning services
"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "races",
        help="find races and lock orders of a program or a recording",
        usage="reenact races [options] [--] SCRIPT ARGS... | -m MODULE ARGS... | RECORDING",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_output(parser)
    parser.add_argument(
        "--sample",
        type=_part,
        default=1.0,
        metavar="R",
        help="look at this share of the variables only, 0 < R <= 1: faster, and may miss races",
    )
    parser.add_argument(
        "--heuristic",
        action="store_true",
        help="take on trust that ordinary code does nothing unusual (docs/reference/accesses.md): "
        "faster, and may miss races",
    )
    add_options(parser)
    parser.set_defaults(run=run)


def _add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--json",
        action="store_true",
        help="the report as JSON on standard output; what the program prints there goes to "
        "standard error",
    )
    parser.add_argument("--sarif", metavar="PATH", help="write the report as SARIF 2.1.0, too")
    parser.add_argument("--baseline", metavar="PATH", help="do not tell what stands in this file")
    parser.add_argument(
        "--write-baseline",
        metavar="PATH",
        help="write what is found into this file, together with what is in --baseline",
    )


def _part(text: str) -> float:
    value = float(text)
    if not 0 < value <= 1:
        raise argparse.ArgumentTypeError("must be greater than 0, and at most 1")
    return value


@dataclass(frozen=True, slots=True)
class Outputs:
    """Where things go. Whole paths, since a replay may change the directory."""

    is_json: bool
    sarif: str | None
    baseline: str | None
    new_baseline: str | None

    @classmethod
    def of(cls, args: argparse.Namespace) -> Outputs:
        base = None if args.baseline is None else os.path.abspath(args.baseline)
        return cls(
            args.json,
            _to_write("--sarif", args.sarif),
            base,
            _to_write("--write-baseline", args.write_baseline),
        )


def _to_write(option: str, name: str | None) -> str | None:
    """Said before the program has run, which may take long."""
    if name is None:
        return None
    path = Path(os.path.abspath(name))
    if path.is_dir() or not path.parent.is_dir():
        what = "is a directory" if path.is_dir() else "is in a directory that does not exist"
        raise UsageError(f"{name} {what}", where=option, advice="Give the name of a file.")
    return str(path)


@dataclass(frozen=True, slots=True)
class Run:
    """A run that was looked at: what was seen, where its files are, and how it went."""

    raw: dict[str, Any]
    root: str
    reasons: tuple[str, ...]
    exit_code: int
    is_whole: bool
    is_heuristic: bool

    def report(self, settings: Settings, known: Collection[str]) -> Report:
        return report_of(
            self.raw,
            self.root,
            ignored=settings.ignored,
            known=known,
            reasons=self.reasons,
            exit_code=self.exit_code,
            is_whole=self.is_whole,
            is_heuristic=self.is_heuristic,
        )


@ends_well
def run(args: argparse.Namespace) -> int:
    settings = settings_of(args)
    outputs = Outputs.of(args)
    known = {} if outputs.baseline is None else baseline.read(outputs.baseline)
    with apart(outputs.is_json):
        looked = _look(args, settings)
    report = looked.report(settings, known)
    if outputs.new_baseline is not None:
        keys = _write_baseline(outputs.new_baseline, report, known)
        report = looked.report(settings, keys)
    if outputs.sarif is not None:
        document = sarif.document_of(report)
        Path(outputs.sarif).write_text(json.dumps(document, indent=2) + "\n", "utf-8")
    tell(report, outputs.is_json)
    return _EXITS[report.verdict]


def _write_baseline(path: str, report: Report, known: dict[str, baseline.Entry]) -> set[str]:
    """Returns all keys that stand in it."""
    found = [*report.findings]
    found += [each.finding for each in report.suppressed if each.how == "baseline"]
    count = baseline.write(path, found, known)
    _say(f"wrote {count:,} {'finding' if count == 1 else 'findings'} to {path}")
    return {*known, *(each.key for each in found)}


def _look(args: argparse.Namespace, settings: Settings) -> Run:
    rest = args.program
    if args.module is None and rest and is_recording(rest[0]):
        return _look_over(args, rest, args.heuristic or settings.is_heuristic)
    if settings.packages is None:
        raise UsageError(
            "races are found in instrumented code only",
            where=str(settings.origin("no-instrument")),
            advice="Leave out no-instrument.",
        )
    root = os.getcwd()
    is_heuristic = args.heuristic or settings.is_heuristic
    looked = races.live(
        program_of(args, settings),
        choices_of(settings, LONG_TURNS),
        args.sample,
        is_heuristic=is_heuristic,
    )
    return _run_of(looked, args.sample, root, (), is_heuristic)


def _look_over(args: argparse.Namespace, rest: list[str], is_heuristic: bool) -> Run:
    given = [name for name in _OF_RUNS if getattr(args, name) is not None]
    if given or args.no_instrument:
        name = given[0] if given else "no-instrument"
        raise UsageError(
            "a recording is replayed as it was recorded",
            where=f"--{name}",
            advice="Leave out the option, or name a program instead of a recording.",
        )
    if rest[1:]:
        raise UsageError(
            f"{rest[1]} comes after a recording",
            advice="A recorded program has the arguments that it had.",
        )
    with convert.opened(rest[0]) as recording:
        replay.check_usable(recording)
        for path in replay.changed_sources(recording):
            _say(f"{path} has changed since it was recorded; the replay may diverge")
        return over(recording, args.sample, is_heuristic)


def over(recording: Recording, sample: float = 1.0, is_heuristic: bool = False) -> Run:
    """A replay that was looked at."""
    is_heuristic = is_heuristic and ACCESSES not in recording.header.instrument.packages
    looked, replayed = races.over(recording, sample, is_heuristic)
    reasons = _cut(recording, replayed)
    return _run_of(looked, sample, recording.header.cwd, reasons, is_heuristic)


def _cut(recording: Recording, replayed: replay.Replayed) -> tuple[str, ...]:
    """Why the replay did not come to the program's end."""
    outcome = replayed.outcome
    if outcome is not None and outcome.reason == "end of recording":
        return ("the recording ends before the program does",)
    if not replayed.has_diverged:
        return ()
    for line in lines_of.replayed(recording, replayed):
        _say(line)
    return (f"the replay diverged from the recording at step {replayed.last_step:,}",)


def _run_of(
    looked: races.Looked,
    sample: float,
    root: str,
    reasons: tuple[str, ...],
    is_heuristic: bool,
) -> Run:
    """`reasons`: why the run did not come to its end, as far as is known already."""
    ended = looked.ended
    found = [*reasons]
    if ended.signal is not None:
        found.append(f"the program was killed by {signal_name(ended.signal)}")
    elif looked.raw is None and not reasons:
        found.append("the program ended before it could say what was seen")
    if ended.exit_code == DEADLOCK:
        found.append("all threads of the program wait for ever (a deadlock; see reenact record)")
    is_whole = not found
    found += [_UNCONTROLLED[each] for each in dict.fromkeys(looked.notes) if each in _UNCONTROLLED]
    raw = looked.raw if looked.raw is not None else {**_NOTHING, "sample": sample}
    return Run(raw, root, tuple(found), ended.exit_code, is_whole, is_heuristic)


def is_recording(name: str) -> bool:
    """And not a program: by its name, or by how it begins."""
    path = Path(name)
    if path.name.endswith((".reenact", ".reenact.d")):
        return True
    if path.is_dir():
        return (path / format.HEADER).is_file() and not (path / "__main__.py").is_file()
    try:
        with open(path, "rb") as file:
            return file.read(len(format.PACKED_MAGIC)) == format.PACKED_MAGIC
    except OSError:
        return False


def tell(report: Report, is_json: bool) -> None:
    if is_json:
        print(json.dumps(report.as_dict(), indent=2))
        return
    terminal = Terminal(sys.stderr)
    for row in text.rows(report):
        parts = [(style, printable(words)) for style, words in row]
        terminal.line("".join(terminal.paint(style, w) if style else w for style, w in parts))


def _say(words: str) -> None:
    print(f"reenact: {printable(words)}", file=sys.stderr, flush=True)
