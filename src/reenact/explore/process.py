"""The process that explores a program: made by `command.py`, it forks the runs.

Reads its task from a descriptor, and writes what it finds to another, one JSON object a line. It
has the addresses, the hash seed and the patches that a recorded process has, so that what it finds
can be recorded with the same choices.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

from reenact import _core
from reenact.engine import child
from reenact.explore import after, runs, search
from reenact.explore.pinned import pinned
from reenact.explore.runs import Settings
from reenact.explore.script import Script
from reenact.explore.search import Coverage, Found, Limits, Search
from reenact.inputs import Inputs

_TOLD_EVERY_S = 0.1
_STATE_EVERY_S = 2.0  # a search that is stopped goes on from the last one


def main() -> None:
    task_descriptor, descriptor = map(int, sys.argv[1:3])
    with os.fdopen(task_descriptor) as file:
        task = json.load(file)
    os.set_inheritable(descriptor, False)
    _core.die_with_launcher()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the command hears it, and ends this process
    explore(task, Told(descriptor))
    os._exit(0)


class Told:
    """What is said to the command."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.next = 0.0
        self.next_state = time.monotonic() + _STATE_EVERY_S

    def say(self, **words: Any) -> None:
        data = json.dumps(words).encode() + b"\n"
        while data:
            data = data[os.write(self.descriptor, data) :]

    def progress(self, coverage: Coverage, state: Callable[[], Any]) -> None:
        now = time.monotonic()
        if now >= self.next_state:
            self.next_state = now + _STATE_EVERY_S
            self.say(state=state())
        if now >= self.next:
            self.next = now + _TOLD_EVERY_S
            self.say(progress=search.coverage_fields(coverage))


def explore(task: dict[str, Any], told: Told) -> None:
    for name in task["hidden"].split():
        os.environ.pop(name, None)
    settings = _settings(task["settings"])
    kind, target, argv = task["mode"], task["target"], task["argv"]
    policy = child.instrument(" ".join(task["packages"]) if task["packages"] is not None else "-")
    runs.take_over(Inputs.parse(task["inputs"]))
    is_package = child.complete_path(kind, target)

    def execute() -> None:
        child.run_program(kind, target, argv, policy, is_package)

    child.fail = _raise  # type: ignore[assignment]
    runner = Script(execute, settings, task["hang_s"])
    hunt = Search(
        runner,
        task["strategy"],
        task["seed"],
        Limits(task["runs"], task["seconds"]),
        progress=lambda coverage: told.progress(coverage, hunt.state),
        worker=task["worker"],
    )
    if task["state"] is not None:
        hunt.restore(task["state"])
    with pinned(task["worker"]):
        found = hunt.go()
    told.say(progress=search.coverage_fields(found.coverage), state=hunt.state())
    told.say(found=found_fields(found, runner, settings, task))


def _settings(fields: dict[str, Any]) -> Settings:
    races = None
    if fields["races"] is not None:
        from reenact.explore.raced import Judge

        races = Judge(**fields["races"])
    return Settings(**{**fields, "instrument": tuple(fields["instrument"]), "races": races})


def _raise(error: BaseException) -> None:
    """The program's exceptions are what a search looks for: they are not printed here."""
    raise error


def _of_races(settings: Settings) -> list[str]:
    """What was loaded for the sake of races, and what that loaded."""
    return [] if settings.races is None else ["reenact.explore.raced"]


def found_fields(
    found: Found, runner: Script, settings: Settings, task: dict[str, Any]
) -> dict[str, Any]:
    runner.hurry()
    told = after.look_into(found, runner, settings, what=task["what"], budget=task["shrink"])
    return {
        "verdict": found.verdict,
        "reasons": list(found.reasons),
        "coverage": search.coverage_fields(found.coverage),
        "strategy": found.strategy,
        "loaded": [__name__, *_of_races(settings), *runner.loaded],
        **told.as_dict(),
    }
