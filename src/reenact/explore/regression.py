"""Writes a regression test for a failure: a small file for pytest, with the schedule in it.

It fails as long as the bug is there, and passes once it is fixed. Then the schedule may be stale,
which alone would prove nothing: the test explores instead, so that it never passes unseen.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from reenact.errors import UsageError
from reenact.explore.command import Task
from reenact.explore.result import Result
from reenact.explore.runs import Settings
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
        reenact.follow(run, SCHEDULE{options})
    except reenact.StaleSchedule:
        # The program has changed, and the schedule does not fit it any more. That may be the fix,
        # or not: a short search of other schedules takes its place.
        result = reenact.explore(run, runs={runs}{points}{options})
        assert result.verdict != "failed", result.explanation
'''


_TEST_OF_RACES = '''\
"""{title}

Written by `reenact explore`. Fails as long as the race is there; passes once it is gone.
"""

{imports}


def test_{name}():
    {make}
    findings = reenact.races(run{runs}{options})
    assert findings.verdict != "found", str(findings)
'''


def write(path: Path, task: Task, result: Result) -> None:
    """For what `reenact explore` found in a script or module."""
    assert result.failure is not None
    program = task.program
    arguments = "".join(f", {json.dumps(argument)}" for argument in program.argv)
    imports = "import reenact\nfrom reenact.explore.program import module"
    if program.mode == "module":
        make = f"run = module({json.dumps(program.target)}{arguments})"
    else:
        relative = os.path.relpath(program.target, path.parent)
        imports = "from pathlib import Path\n\n" + imports.replace("module", "program")
        make = f"run = program(Path(__file__).parent / {json.dumps(relative)}{arguments})"
    name = Path(program.target).stem
    _write(path, imports, make, result.schedule, result.failure, name, task.settings)


def write_test(
    path: Path, target: str, schedule: str, failure: Failure, settings: Settings | None = None
) -> None:
    """For a function, as `package.module:name`."""
    place, _, name = target.rpartition(":")
    first = name.partition(".")[0]
    imports = f"import reenact\nfrom {place} import {first}"
    _write(path, imports, f"run = {name}", schedule, failure, name, settings or Settings())


def _write(
    path: Path,
    imports: str,
    make: str,
    schedule: str,
    failure: Failure,
    name: str,
    settings: Settings,
) -> None:
    if failure.is_found_by_looking:
        path.write_text(_of_races(imports, make, schedule, failure, name, settings), "utf-8")
        return
    if not schedule:
        raise UsageError("no test was written: the failure has no schedule that could be followed")
    text = _TEST.format(
        title=_title(failure),
        imports=imports,
        schedule=schedule.replace("\\", "\\\\").replace('"', '\\"'),
        name=_identifier(name),
        make=make,
        runs=RUNS,
        points="" if settings.points == "accesses" else f", points={settings.points!r}",
        options=_options(settings),
    )
    path.write_text(text, "utf-8")


def _of_races(
    imports: str, make: str, schedule: str, failure: Failure, name: str, settings: Settings
) -> str:
    """A race is mostly there in every run; if it took switches to come to it, several are made."""
    takes_switches = " goes on" in schedule
    return _TEST_OF_RACES.format(
        title=_title(failure),
        imports=imports,
        name=_identifier(name),
        make=make,
        runs=f", runs={RUNS}" if takes_switches else "",
        options=_options(settings),
    )


def _identifier(name: str) -> str:
    return re.sub(r"\W+", "_", name).strip("_") or "it"


def _options(settings: Settings) -> str:
    """Arguments of `follow` and `explore`, as far as they are not the default ones."""
    usual = Settings()
    pairs = [
        ("instrument", settings.instrument, usual.instrument),
        ("step_limit", settings.step_limit, usual.step_limit),
        ("patience", settings.patience_s, usual.patience_s),
        ("real_clock", settings.real_clock, usual.real_clock),
    ]
    return "".join(f", {name}={value!r}" for name, value, default in pairs if value != default)


def _title(failure: Failure) -> str:
    """One line that can stand in a docstring."""
    return failure.summary.replace("\\", "/").replace('"', "'")[:90].rstrip(".") + "."
