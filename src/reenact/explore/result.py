"""What a search came to, for those who asked for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reenact.explore.after import Story
from reenact.explore.search import Coverage, Verdict, coverage_fields
from reenact.findings import Failure
from reenact.strategies.searching import Switch

JSON_VERSION = 1


@dataclass(slots=True)
class Result:
    """`verdict` is "passed", "failed" or "inconclusive", the last with `reasons`.

    `schedule` is text which `reenact.follow` runs again; `recording` is the path of a recording
    that `reenact replay` replays, None if there is none, for `recording_problem`.
    """

    verdict: Verdict
    coverage: Coverage
    reasons: tuple[str, ...] = ()
    story: Story = field(default_factory=Story)
    recording: Path | None = None
    recording_problem: str = ""
    strategy: str = ""
    loaded: tuple[str, ...] = ()  # modules that the process of the search had loaded

    @property
    def failure(self) -> Failure | None:
        return self.story.failure

    @property
    def schedule(self) -> str:
        return self.story.schedule

    @property
    def explanation(self) -> str:
        return self.story.explanation

    @property
    def switches(self) -> tuple[Switch, ...]:
        return self.story.switches

    @property
    def label(self) -> str:
        """ "reachable with the GIL" or "free-threaded only"; "" if nothing failed."""
        return self.story.label

    @property
    def runs(self) -> int:
        return self.coverage.runs

    def as_dict(self) -> dict[str, Any]:
        """The `--json` form; see docs/reference/json.md."""
        return {
            "version": JSON_VERSION,
            "verdict": self.verdict,
            "reasons": list(self.reasons),
            "coverage": coverage_fields(self.coverage),
            "strategy": self.strategy,
            **self.story.as_dict(),
            "recording": None if self.recording is None else str(self.recording),
            "recording_problem": self.recording_problem,
        }
