"""`reenact.explore(function)`: the search from inside a program, and the decorator for tests."""

from __future__ import annotations

import functools
import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from reenact import _core
from reenact.engine import following
from reenact.engine.launch import Program
from reenact.errors import UsageError
from reenact.explore import after, called, keep
from reenact.explore.function import Function, prepare
from reenact.explore.result import Result
from reenact.explore.runs import PATIENCE_S, STEP_LIMIT, Points, Settings
from reenact.explore.search import RUNS, Coverage, Found, Limits, Search, coverage_fields, total
from reenact.explore.workers import Workers
from reenact.findings import Failure
from reenact.strategies.searching import Switch

if TYPE_CHECKING:
    from reenact.explore.raced import Judge

SHRINK_RUNS = 300
Test = TypeVar("Test", bound=Callable[..., None])


class ExplorationFailed(AssertionError):
    """A test that is explored has failed under some schedule; the text explains it."""

    def __init__(self, result: Result) -> None:
        super().__init__(told(result))
        self.result = result


def explore(
    function: Callable[[], object],
    *,
    strategy: str = "auto",
    runs: int = RUNS,
    seconds: float | None = None,
    seed: int = 0,
    jobs: int = 1,
    points: Points = "accesses",
    instrument: tuple[str, ...] | list[str] = (),
    check: Callable[[], object] | None = None,
    step_limit: int = STEP_LIMIT,
    patience: float = PATIENCE_S,
    real_clock: bool = False,
    record: str | os.PathLike[str] | None = None,
    progress: Callable[[Coverage], None] | None = None,
    find: tuple[str, ...] | list[str] = (),
    baseline: str | os.PathLike[str] | None = None,
) -> Result:
    """Call `function` under many schedules, until one fails.

    It is called again and again in this process, and must build what it uses. A failure is an
    exception in any thread, a deadlock, a lost wake-up or a livelock; `check`, called after each
    run, may raise for what else is wrong. Delays as long as `patience`, in seconds of virtual time,
    come last. A failure is recorded into the file `record`, or one of a name of its own if that is
    "". With "races" in `find`, a race is a failure, too, unless it is suppressed, as it is by the
    file `baseline`.
    """
    if points not in following.POINTS:
        raise UsageError(f"unknown points {points!r}", advice="Use sync, ticks or accesses.")
    if jobs < 1:
        raise UsageError(f"jobs is {jobs}", advice="Give at least 1.")
    if called.is_loading:
        return Result("inconclusive", Coverage(), ("a run of another search loads this program",))
    settings = Settings(
        points,
        tuple(instrument),
        step_limit,
        patience,
        real_clock,
        check,
        races=judge(find, points, baseline),
    )
    limits = Limits(runs, seconds)
    if jobs > 1:
        found = _in_parallel(function, settings, strategy, seed, limits, jobs)
    with Function(function, settings) as runner:
        if jobs == 1:
            found = Search(runner, strategy, seed, limits, progress).go()
        what = called.target_of(function) or getattr(function, "__qualname__", repr(function))
        story = after.look_into(found, runner, settings, what, SHRINK_RUNS)
    result = Result(found.verdict, found.coverage, found.reasons, story, strategy=found.strategy)
    if story.failure is not None and record is not None:
        _record(function, settings, result, record)
    return result


def judge(
    find: tuple[str, ...] | list[str], points: str, baseline: str | os.PathLike[str] | None
) -> Judge | None:
    """Who judges the races of a search, if it is to find them."""
    if not find and baseline is None:
        return None
    from reenact.explore.raced import judge_of

    return judge_of(find, points, baseline, Path.cwd())


def explored(**options: Any) -> Callable[[Test], Test]:
    """A decorator: the test is run under many schedules, and fails if one of them does."""

    def decorate(test: Test) -> Test:
        @functools.wraps(test)
        def wrapped(*args: Any, **names: Any) -> None:
            result = explore(lambda: test(*args, **names), **options)
            if result.verdict != "passed":
                raise ExplorationFailed(result)

        return wrapped  # type: ignore[return-value]

    return decorate


def told(result: Result) -> str:
    """A result in words."""
    if result.failure is None:
        return "inconclusive: " + "; ".join(result.reasons)
    lines = [f"failed in run {result.runs}: {result.failure.summary}"]
    if result.label:
        lines.append(f"({result.label})")
    for part in (result.explanation, result.schedule):
        if part:
            lines += ["", part]
    if result.recording is not None:
        lines += ["", f"recorded in {result.recording}"]
    return "\n".join(lines)


def _record(
    function: Callable[[], object],
    settings: Settings,
    result: Result,
    record: str | os.PathLike[str],
) -> None:
    target = called.target_of(function)
    if not target:
        result.recording_problem = "the function cannot be imported by its name"
        return
    assert result.failure is not None
    line = following.text(result.switches, settings.terms)
    program = Program("module", "reenact.explore.called", (target, line), keep.packages(settings))
    path = Path(os.fspath(record) or _default_path(function))
    result.recording_problem = keep.keep(program, result.switches, settings, result.failure, path)
    if not result.recording_problem:
        result.recording = path


def _default_path(function: Callable[[], object]) -> str:
    name = getattr(function, "__name__", "function")
    return tempfile.mktemp(prefix=f"{name}-", suffix=".reenact", dir=os.getcwd())


def _in_parallel(
    function: Callable[[], object],
    settings: Settings,
    strategy: str,
    seed: int,
    limits: Limits,
    jobs: int,
) -> Found:
    """This process forked: each part searches on its own, and says what it found."""
    prepare(settings)
    with Workers() as workers:
        for number in range(jobs):
            ours, theirs = os.pipe()
            pid = os.fork()
            if pid == 0:
                share = limits.share(number, jobs)
                _work(function, settings, strategy, seed, share, number, theirs)
            os.close(theirs)
            workers.add(pid, ours)
        everybody = list(workers.alive)
        for said in workers.listen(1.0):
            words = {} if said is None else said[1].get("found", {})
            if words.get("verdict") == "failed" or words.get("coverage", {}).get("exhausted"):
                workers.stop()
    return _merged([each.latest["found"] for each in everybody if "found" in each.latest], jobs)


def _work(
    function: Callable[[], object],
    settings: Settings,
    strategy: str,
    seed: int,
    limits: Limits,
    number: int,
    descriptor: int,
) -> None:
    try:
        _core.explore_share(True)
        with Function(function, settings, number) as runner:
            found = Search(runner, strategy, seed, limits, worker=number).go()
        words = {
            "verdict": found.verdict,
            "reasons": found.reasons,
            "coverage": coverage_fields(found.coverage),
            "switches": found.switches,
            "strategy": found.strategy,
            "failure": None if found.failure is None else found.failure.as_dict(),
        }
        os.write(descriptor, json.dumps({"found": words}).encode() + b"\n")
    finally:
        os._exit(0)


def _merged(said: list[dict[str, Any]], jobs: int) -> Found:
    coverage = total([Coverage(**words["coverage"]) for words in said])
    reasons = dict.fromkeys(reason for words in said for reason in words["reasons"])
    for words in said:
        if words["failure"] is not None:
            return Found(
                "failed",
                tuple(reasons),
                coverage,
                Failure.from_dict(words["failure"]),
                tuple(Switch(*switch) for switch in words["switches"]),
                strategy=words["strategy"],
            )
    if len(said) < jobs and not coverage.exhausted:
        reasons["a process of the search ended before it was through"] = None
    return Found("inconclusive" if reasons else "passed", tuple(reasons), coverage)
