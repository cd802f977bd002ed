"""`reenact run`: run a program for real, and go back to look when something goes wrong."""

from __future__ import annotations

import argparse
import re
import sys

from reenact.cli.debug import show
from reenact.cli.exits import ends_well
from reenact.cli.program import add_options, program_of, settings_of
from reenact.cli.record import choices_of
from reenact.cli.wording import signal_name
from reenact.guard.failing import Looker
from reenact.guard.keeper import MEGABYTES, Keeper, Limits
from reenact.strategies.queue import TURNS_BY_TIME

DESCRIPTION = """\
Run a program as it is, in epochs. At an uncaught exception in any thread, a deadlock, a fatal
signal or a call of reenact.rollback(), the last epoch is run again, identically, in a copy of the
process, with eyes open: values, who wrote them last, which lines ran, races. Whether it agreed, and
after how many tries, is told. Then the program ends, goes on, or is looked at with the debugger.
Exits with the program's own exit code; with 1 if it was stopped at a failure.
"""
EXAMPLES = """\
examples:
  reenact run app.py
  reenact run --on-failure continue --epoch 5s server.py --port 8000
  reenact run --on-failure debug app.py
"""
_TOOLS = {"overflow": 1, "use-after-free": 2}
_UNITS = {"s": "seconds", "mb": "megabytes", "steps": "steps"}


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "run",
        usage="reenact run [options] [--] SCRIPT ARGS... | -m MODULE ARGS...",
        help="run for real, and run the last moments again when something goes wrong",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--on-failure",
        choices=("stop", "continue", "debug"),
        default="stop",
        help="after the report: end the program (the default), let it go on, or open the debugger",
    )
    parser.add_argument(
        "--epoch",
        action="append",
        type=_limit,
        default=[],
        metavar="N[s|mb|steps]",
        help="an epoch ends after so many seconds, megabytes of log "
        f"({MEGABYTES:g} by default) or steps",
    )
    parser.add_argument(
        "--tools",
        type=_tools,
        default=0,
        metavar="TOOL,...",
        help="overflow, use-after-free: find the lines that write where nobody may",
    )
    add_options(parser)
    parser.set_defaults(run=run)


def _tools(text: str) -> int:
    names = text.split(",")
    for name in names:
        if name not in _TOOLS:
            raise argparse.ArgumentTypeError(f"{name!r}: there are {' and '.join(_TOOLS)}")
    return sum({_TOOLS[name] for name in names})


def _limit(text: str) -> tuple[str, float]:
    found = re.fullmatch(r"([0-9.]+)(s|mb|steps)", text.lower())
    try:
        value = float(found[1]) if found else 0.0
    except ValueError:
        value = 0.0
    if found is None or value <= 0:
        raise argparse.ArgumentTypeError(f"{text!r}: give 5s, 32mb or 100000steps")
    return _UNITS[found[2]], value


@ends_well
def run(args: argparse.Namespace) -> int:
    given = dict(args.epoch)
    limits = Limits(
        given.get("megabytes", MEGABYTES),
        int(given.get("steps", 0)),
        given.get("seconds", 0.0),
    )
    settings = settings_of(args)
    looker = Looker(args.on_failure, show)
    keeper = Keeper(
        program_of(args, settings),
        choices_of(settings, TURNS_BY_TIME),
        limits,
        looker.handle,
        tools=args.tools,
        on_end=looker.look_from_the_start,
    )
    ended = keeper.run()
    if keeper.refusal and keeper.epochs == 0:
        _say(f"there were no epochs: {keeper.refusal}; {_instead(keeper, looker)}")
    if ended.signal is not None:
        _say(f"killed by {signal_name(ended.signal)}")
    if keeper.failures:
        _say(f"{_count(keeper.failures, 'failure')} in {_count(keeper.epochs, 'epoch')}")
        _say(_tried(looker))
    return ended.exit_code


def _instead(keeper: Keeper, looker: Looker) -> str:
    """Of epochs."""
    if not keeper.failures:
        return "nothing has failed"
    was_looked_at = looker.disagreed or any(looker.agreed.values())
    return "all was run again from the start" if was_looked_at else "nothing could be run again"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")


def _tried(looker: Looker) -> str:
    words = [
        f"{number} at the first try" if tries == 1 else f"{number} at try {tries}"
        for tries, number in sorted(looker.agreed.items())
        if number
    ]
    if looker.disagreed:
        words.append(f"{looker.disagreed} went another way each time")
    return "run again: " + (", ".join(words) or "none")


def _say(text: str) -> None:
    print(f"reenact: {text}", file=sys.stderr, flush=True)
