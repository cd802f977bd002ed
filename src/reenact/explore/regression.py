"""Writes a regression test for a failure: a small file for pytest, with the schedule in it.

It fails as long as the bug is there, and passes once it is fixed. Then the schedule may be stale,
which alone would prove nothing: the test explores instead, so that it never passes unseen.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from reenact.explore.command import Task
from reenact.explore.result import Result
from reenact.findings import Failure

RUNS = 200  # of the search that takes the place of a stale schedule

_TEST = '''\
"""{title}

Written by `reenact explore`. Fails as long as the bug is there; passes once it is fixed.
"""

{imports}

SCHEDULE = """\\
{schedule}"""


def test_{name}():
    {make}
    try:
        reenact.follow(run, SCHEDULE)
    except reenact.StaleSchedule:
        # The program has changed, and the schedule does not fit it any more. That may be the fix, or
        # not: a short search of other schedules takes its place.
        result = reenact.explore(run, runs={runs})
        assert result.verdict != "failed", result.explanation
'''


def write(path: Path, task: Task, result: Result) -> None:
    """For what `reenact explore` found in a script or module."""
    assert result.failure is not None
    program = task.program
    arguments = "".join(f", {json.dumps(argument)}" for argument in program.argv)
    if program.mode == "module":
        imports = "import reenact\nfrom reenact.explore.program import module"
        make = f"run = module({json.dumps(program.target)}{arguments})"
    else:
        relative = os.path.relpath(program.target, path.parent)
        imports = (
            "from pathlib import Path\n\nimport reenact\nfrom reenact.explore.program import program"
        )
        make = f"run = program(Path(__file__).parent / {json.dumps(relative)}{arguments})"
    _write(path, imports, make, result.schedule, result.failure, Path(program.target).stem)


def write_test(path: Path, target: str, schedule: str, failure: Failure) -> None:
    """For a function, as `package.module:name`."""
    place, _, name = target.rpartition(":")
    first, *rest = name.split(".")
    imports = f"import reenact\nfrom {place} import {first}"
    _write(path, imports, f"run = {'.'.join([first, *rest])}", schedule, failure, name)


def _write(
    path: Path, imports: str, make: str, schedule: str, failure: Failure, name: str
) -> None:
    text = _TEST.format(
        title=_title(failure),
        imports=imports,
        schedule=schedule.replace("\\", "\\\\").replace('"', '\\"'),
        name=re.sub(r"\W+", "_", name).strip("_") or "it",
        make=make,
        runs=RUNS,
    )
    path.write_text(text, "utf-8")


def _title(failure: Failure) -> str:
    """One line that can stand in a docstring."""
    return failure.summary.replace("\\", "/").replace('"', "'")[:90].rstrip(".") + "."
