"""What is said of a failure that a search has found, besides pytest's own words."""

from __future__ import annotations

from reenact import _core
from reenact.explore import after
from reenact.explore.after import Story
from reenact.explore.search import Found
from reenact.strategies.searching import AMONG, PREEMPTS, Step, Switch
from reenact_pytest.schedules import Schedules

SHRINKING_RUNS = 100


def budget(a_run_s: float, seconds: float | None) -> int:
    """How many runs may be made to shrink a failure: so many as the search itself had time for."""
    if seconds is None or a_run_s * SHRINKING_RUNS <= seconds:
        return SHRINKING_RUNS
    return int(seconds / a_run_s)


def describe(
    found: Found, schedules: Schedules, steps: list[Step], budget: int
) -> tuple[Story, str]:
    """The story of a failure, and it as text; `steps` are those of the run that failed."""
    story = after.look_into(
        found, schedules, schedules.settings, what=schedules.item.nodeid, budget=budget
    )
    explanation = story.explanation
    failure = found.failure
    if failure is not None and (failure.is_found_by_looking or explanation == failure.traceback):
        explanation = ""  # pytest has said it already
    text = "\n".join(part for part in (story.label, story.schedule, explanation) if part)
    return story, text or listing(found.switches, steps)


def listing(switches: tuple[Switch, ...], steps: list[Step]) -> str:
    """The switches, one a line; `steps` are those of the run that they make."""
    if not switches:
        return "It fails without any preemption."
    lines = ["It fails with these switches:"]
    sites = {(step.thread, step.position): step.site for step in steps}
    for switch in switches:
        lines.append(f"  {_words(switch)}{_place(sites.get((switch.thread, switch.position), 0))}")
    return "\n".join(lines)


def _words(switch: Switch) -> str:
    if switch.kind == AMONG:
        return f"of the tasks that are ready, number {switch.to + 1} goes on"
    how = "is preempted by" if switch.kind == PREEMPTS else "waits, and on goes"
    return f"thread {switch.thread} {how} thread {switch.to}"


def _place(site: int) -> str:
    if not site:
        return ""
    operation, file, line, function = _core.explore_site(site)
    if not file:
        return ""
    return f" before {_core.OPERATIONS[operation]}, {file}:{line} in {function}"
