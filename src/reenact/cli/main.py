"""The command line: one file a command; this one only finds it.

`python -m reenact` and the `reenact` script both come here.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from reenact import __version__
from reenact.cli import dump, info, pack, record, replay

COMMANDS = (record, replay, info, dump, pack)
DESCRIPTION = "Record a threaded Python program's execution and replay it exactly."


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="reenact", description=DESCRIPTION)
    made.add_argument("--version", action="version", version=f"reenact {__version__}")
    commands = made.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.add_parser(commands)
    return made


def main(argv: Sequence[str] | None = None) -> int:
    args = parser().parse_args(argv)
    code: int = args.run(args)
    return code
