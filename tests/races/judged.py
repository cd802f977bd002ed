"""What `reenact races` says of a program of the suite, compared with what the table says.

    python -m tests.races.judged [--seeds N] [--strategy random] [--slice N] [NAME...]

Prints every difference. The command is called in this process, since a new one for each of some
hundred programs would take as long as all that they do; `test_programs.py` calls it once as a user
does.
"""

from __future__ import annotations

import argparse
import io
import json
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from reenact.cli.main import main
from tests.races.table import PROGRAMS, Program, Variable

Lines = frozenset[int]  # one, if both accesses are at the same
_EXITS = {"none": 0, "found": 1, "inconclusive": 3}


def differences(program: Program, *options: str) -> list[str]:
    """What `reenact races` gets wrong of a program; nothing if all is well."""
    found, code = reported(program.path, *options)
    if found["reasons"] or found["exit_code"] != 0:
        return [f"it did not run well: {found['reasons']}, exit code {found['exit_code']}"]
    expected = "found" if program.races else "none"
    wrong = [] if found["verdict"] == expected else [f"the verdict is {found['verdict']}"]
    if code != _EXITS[found["verdict"]]:
        wrong.append(f"exit code {code} with verdict {found['verdict']}")
    races = [each for each in found["findings"] if each["kind"] == "race"]
    return [*wrong, *missing(program, races), *unexpected(program, races)]


def reported(path: Path, *options: str) -> tuple[dict[str, Any], int]:
    """The report of one run, and the exit code of the command."""
    output = io.StringIO()
    with redirect_stdout(output):
        code = main(["races", "--json", "--no-config", *options, str(path)])
    document: dict[str, Any] = json.loads(output.getvalue())
    return document, code


def missing(program: Program, races: list[dict[str, Any]]) -> list[str]:
    seen = [(each["variable"], lines_of(program, each)) for each in races]
    return [
        f"not reported: {race.variable.name or race.variable.type}, lines {sorted(lines)}"
        for race in program.races
        for lines in [frozenset([program.lines[race.first], program.lines[race.second]])]
        if not any(is_same(race.variable, each) and lines == at for each, at in seen)
    ]


def unexpected(program: Program, races: list[dict[str, Any]]) -> list[str]:
    return [
        f"reported: {each['variable']['short']}, {places(each)}"
        for each in races
        if not any(
            is_same(race.variable, each["variable"])
            and lines_of(program, each)
            in [
                frozenset(program.lines[name] for name in pair)
                for pair in ((race.first, race.second), *race.also)
            ]
            for race in program.races
        )
    ]


def is_same(variable: Variable, told: dict[str, Any]) -> bool:
    return (
        told["kind"] in variable.kinds
        and variable.name in ("", told["name"])
        and variable.type in ("", told["type"].rpartition(".")[2])
    )


def lines_of(program: Program, race: dict[str, Any]) -> Lines:
    """The two lines, if both are in the program's own file."""
    both = (race["first"], race["second"])
    if any(Path(access["file"]).name != program.path.name for access in both):
        return frozenset()
    return frozenset(access["line"] for access in both)


def places(race: dict[str, Any]) -> str:
    return " and ".join(
        f"{access['mode']} at {Path(access['file']).name}:{access['line']}"
        for access in (race["first"], race["second"])
    )


def _print_differences() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--strategy", default="random")
    parser.add_argument("--slice", type=int)
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    chosen = [each for each in PROGRAMS if not args.names or each.name in args.names]
    slice = [] if args.slice is None else [f"--slice={args.slice}"]
    count = 0
    for program in chosen:
        for seed in range(args.seeds):
            options = [f"--strategy={args.strategy}", f"--seed={seed}", *slice]
            for text in differences(program, *options):
                print(f"{program.name}, seed {seed}: {text}", flush=True)
                count += 1
    print(f"{len(chosen)} programs, {args.seeds} seeds, {count} differences")
    return min(count, 1)


if __name__ == "__main__":
    sys.exit(_print_differences())
