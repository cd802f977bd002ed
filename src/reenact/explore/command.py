"""Explores a program from outside: starts the processes that search, and listens to them.

Called by `reenact explore`. Puts together what the workers say, stops them when one has found a
failure, and has that recorded.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reenact import _core
from reenact.engine import launch, record
from reenact.engine.launch import Program
from reenact.explore import keep
from reenact.explore.after import Story
from reenact.explore.result import Result
from reenact.explore.runs import Settings
from reenact.explore.script import HANG_S
from reenact.explore.search import Coverage, Limits, total
from reenact.explore.workers import Worker, Workers
from reenact.intercept.processes import bootstrap

_BOOTSTRAP = bootstrap("reenact.explore.process")
_PERIOD_S = 0.2
_NO_LIMITS = Limits()
_STATE_VERSION = 2


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be searched, and how."""

    program: Program
    settings: Settings
    strategy: str = "auto"
    seed: int = 0
    limits: Limits = _NO_LIMITS
    jobs: int = 1
    shrink: int = 300  # runs that shrinking may take
    hang_s: float = HANG_S

    @property
    def what(self) -> str:
        program = self.program
        name = f"-m {program.target}" if program.mode == "module" else program.target
        return " ".join([name, *program.argv])

    def state_path(self) -> Path:
        """Where a search that was stopped leaves off, for the same command."""
        looks = self.settings.races is not None
        terms = (self.settings.terms, looks) if looks else self.settings.terms
        settled = repr((self.program, terms, self.strategy, self.seed, self.jobs))
        return Path(".reenact") / f"search-{hashlib.sha256(settled.encode()).hexdigest()[:16]}.json"


def explore(
    task: Task,
    path: Path,
    progress: Callable[[Coverage], None] | None = None,
    is_resumed: bool = False,
) -> Result:
    """Search until a run fails or the limits are reached; a failure is recorded into `path`."""
    states = _load_states(task) if is_resumed else {}
    with Workers() as workers:
        everybody = [_start(workers, task, number, states) for number in range(task.jobs)]
        try:
            failed = _listen(workers, everybody, progress)
        except KeyboardInterrupt:
            _save_states(task, everybody)
            return _put_together(everybody, stopped=True)
    result = _put_together(everybody, found=failed)
    if result.verdict == "failed" and result.failure is not None:
        _record(task, result, path)
    else:
        _save_states(task, everybody)
    return result


def _start(workers: Workers, task: Task, number: int, states: dict[str, Any]) -> Worker:
    environment, hidden = launch.settle(dict(os.environ))
    limits = task.limits.share(number, task.jobs)
    words = {
        "mode": task.program.mode,
        "target": task.program.target,
        "argv": list(task.program.argv),
        "packages": task.program.packages,
        "inputs": task.program.inputs.text(),
        "hidden": hidden,
        "settings": _settings_fields(task.settings),
        "strategy": task.strategy,
        "seed": task.seed,
        "runs": limits.runs,
        "seconds": limits.seconds,
        "worker": number,
        "shrink": task.shrink,
        "hang_s": task.hang_s,
        "what": task.what,
        "state": states.get(str(number)),
    }
    given = os.memfd_create("task")
    os.write(given, json.dumps(words).encode())
    os.lseek(given, 0, os.SEEK_SET)
    ours, theirs = os.pipe()
    for descriptor in (given, theirs):
        os.set_inheritable(descriptor, True)
    flags = record.interpreter_flags()
    command = [sys.executable, *flags, "-P", "-c", _BOOTSTRAP, str(given), str(theirs)]
    _core.fix_addresses()
    pid = os.posix_spawn(sys.executable, command, environment)
    os.close(given)
    os.close(theirs)
    return workers.add(pid, ours)


def _settings_fields(settings: Settings) -> dict[str, Any]:
    return {
        "points": settings.points,
        "instrument": list(settings.instrument),
        "step_limit": settings.step_limit,
        "patience_s": settings.patience_s,
        "real_clock": settings.real_clock,
        "races": None if settings.races is None else settings.races.as_dict(),
    }


def _listen(
    workers: Workers, everybody: list[Worker], progress: Callable[[Coverage], None] | None
) -> Worker | None:
    for said in workers.listen(_PERIOD_S):
        found = {} if said is None else said[1].get("found", {})
        if said is not None and found.get("verdict") == "failed":
            return said[0]
        if found.get("coverage", {}).get("exhausted"):
            workers.stop()  # there is nothing left to find
        if progress is not None:
            progress(_sum(everybody))
    return None


def _sum(everybody: list[Worker]) -> Coverage:
    said = [each.latest["progress"] for each in everybody if "progress" in each.latest]
    return total([Coverage(**fields) for fields in said])


def _put_together(
    everybody: list[Worker], found: Worker | None = None, stopped: bool = False
) -> Result:
    coverage = _sum(everybody)
    if found is not None:
        words = found.latest["found"]
        return Result(
            "failed",
            coverage,
            tuple(words["reasons"]),
            Story.from_dict(words),
            strategy=words["strategy"],
            loaded=tuple(words["loaded"]),
        )
    reasons: dict[str, None] = {}
    for worker in everybody:
        said = worker.latest.get("found")
        if said is None and not stopped and not coverage.exhausted:
            reasons["a process of the search ended before it was through"] = None
        for reason in said["reasons"] if said is not None else ():
            reasons[reason] = None
    if stopped:
        reasons["the search was stopped"] = None
    if coverage.complete == 0 and not reasons:
        reasons["no run came to its end"] = None
    return Result("inconclusive" if reasons else "passed", coverage, tuple(reasons))


def _record(task: Task, result: Result, path: Path) -> None:
    assert result.failure is not None
    problem = keep.keep(
        task.program, result.switches, task.settings, result.failure, path, result.loaded
    )
    if problem:
        result.recording_problem = problem
    else:
        result.recording = path


def _save_states(task: Task, everybody: list[Worker]) -> None:
    said = [each for each in everybody if "state" in each.latest]
    states = {str(each.number): each.latest["state"] for each in said}
    if not states:
        return
    path = task.state_path()
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"version": _STATE_VERSION, "workers": states}), "utf-8")


def _load_states(task: Task) -> dict[str, Any]:
    try:
        saved = json.loads(task.state_path().read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    states = saved.get("workers", {}) if saved.get("version") == _STATE_VERSION else {}
    return states if isinstance(states, dict) else {}
