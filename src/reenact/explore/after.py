"""What is made of a failure once it is found: fewer switches, a schedule as text, an explanation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from reenact.explore.runs import Runner, Settings
from reenact.explore.search import Found
from reenact.findings import Failure
from reenact.strategies.searching import Switch


@dataclass(slots=True)
class Story:
    """A failure as it is told."""

    failure: Failure | None = None
    switches: tuple[Switch, ...] = ()
    schedule: str = ""
    explanation: str = ""
    label: str = ""

    def as_dict(self) -> dict[str, Any]:
        return {
            "failure": None if self.failure is None else self.failure.as_dict(),
            "switches": [list(switch) for switch in self.switches],
            "schedule": self.schedule,
            "explanation": self.explanation,
            "label": self.label,
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
        )


def look_into(found: Found, runner: Runner, settings: Settings, what: str, budget: int) -> Story:
    """Shrink and explain; nothing that goes wrong here may lose the failure itself."""
    if found.failure is None:
        return Story()
    return Story(found.failure, found.switches, "", found.failure.traceback, "")
