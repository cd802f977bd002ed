"""What is made of a failure once it is found: fewer switches, a schedule, an explanation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from reenact.explore import follow
from reenact.explore.explain import explain
from reenact.explore.gil import BUDGET, prefer_reachable
from reenact.explore.runs import Observable, Settings
from reenact.explore.search import Found
from reenact.explore.shrink import shrink
from reenact.findings import Failure
from reenact.strategies.searching import PREEMPTS, Switch

_LIVELOCK_RUNS = 12  # each of them takes as long as the step limit lets it
_MOST_EXPLAINED = 50  # of so many preemptions nobody can make sense


@dataclass(slots=True)
class Story:
    """A failure as it is told."""

    failure: Failure | None = None
    switches: tuple[Switch, ...] = ()
    schedule: str = ""
    explanation: str = ""
    label: str = ""
    details: dict[str, Any] = field(default_factory=dict)  # the explanation, in its parts

    def as_dict(self) -> dict[str, Any]:
        return {
            "failure": None if self.failure is None else self.failure.as_dict(),
            "switches": [list(switch) for switch in self.switches],
            "schedule": self.schedule,
            "explanation": self.explanation,
            "label": self.label,
            "details": self.details,
        }

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Story:
        failure = fields["failure"]
        return cls(
            None if failure is None else Failure.from_dict(failure),
            tuple(Switch(*switch) for switch in fields["switches"]),
            fields["schedule"],
            fields["explanation"],
            fields["label"],
            fields["details"],
        )


def look_into(
    found: Found, runner: Observable, settings: Settings, what: str, budget: int
) -> Story:
    """Shrink and explain; nothing that goes wrong here may lose the failure itself."""
    if found.failure is None:
        return Story()
    story = Story(found.failure, found.switches, "", found.failure.traceback, "")
    try:
        _tell(story, found.failure, runner, settings, what, budget)
    except Exception as error:
        story.explanation += f"\n(It could not be explained: {type(error).__name__}: {error})"
    return story


def _tell(
    story: Story, failure: Failure, runner: Observable, settings: Settings, what: str, budget: int
) -> None:
    if failure.is_found_by_looking:
        _tell_of_race(story, failure, runner, settings, what, budget)
        return
    if failure.kind == "livelock":
        budget = min(budget, _LIVELOCK_RUNS)
    if budget > 0:
        story.switches = shrink(runner, story.switches, failure, budget)
        story.switches = prefer_reachable(runner, story.switches, failure, min(budget, BUDGET))
    story.schedule = follow.describe(runner, story.switches, what, settings.points)[0].text()
    if sum(each.kind == PREEMPTS for each in story.switches) > _MOST_EXPLAINED:
        return
    explanation = explain(runner, story.switches, failure)
    if explanation is not None:
        story.explanation = explanation.text()
        story.label = explanation.label
        story.details = explanation.as_dict()


def _tell_of_race(
    story: Story, failure: Failure, runner: Observable, settings: Settings, what: str, budget: int
) -> None:
    """The report says it all: how the threads came to it does not matter."""
    if budget > 0:
        story.switches = shrink(runner, story.switches, failure, budget)
    schedule, ran = follow.describe(runner, story.switches, what, settings.points)
    story.schedule = schedule.text()
    if settings.races is None or ran.raw is None or not failure.is_like(ran.race):
        return
    story.failure = ran.race
    story.explanation, story.label, story.details = settings.races.tell(ran.raw)
