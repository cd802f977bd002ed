"""What the terminal says of an exploration, and the exit code of a session.

Works from reports alone, so that it makes no difference which process ran the tests. Imports
nothing of reenact.
"""

from __future__ import annotations

from typing import Any

import pytest

EXIT_INCONCLUSIVE = 7


class Summary:
    """The hooks."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.facts: dict[str, dict[str, Any]] = {}  # by node id

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: Any) -> Any:
        if getattr(report, "reenact", {}).get("status") == "inconclusive":
            return "inconclusive", "?", ("INCONCLUSIVE", {"yellow": True})
        return None

    def pytest_runtest_logreport(self, report: Any) -> None:
        facts = getattr(report, "reenact", None)
        if facts is not None:
            self.facts[report.nodeid] = facts

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        is_open = bool(self._with("inconclusive")) and not self.config.option.reenact_lenient
        if exitstatus == pytest.ExitCode.OK and is_open:
            session.exitstatus = EXIT_INCONCLUSIVE

    def _with(self, status: str) -> dict[str, dict[str, Any]]:
        return {test: facts for test, facts in self.facts.items() if facts.get("status") == status}

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        terminalreporter.section("reenact")
        for line in self._lines():
            terminalreporter.line(line)

    def _lines(self) -> list[str]:
        searched = [facts for facts in self.facts.values() if "schedules" in facts]
        schedules = sum(facts["schedules"] for facts in searched)
        behaviours = sum(facts["behaviours"] for facts in searched)
        explored = self._with("explored").values()
        exhausted = sum(bool(facts["exhausted"]) for facts in explored)
        lines = [
            f"{_tests(len(searched))} explored: {schedules} schedules, {behaviours} distinct "
            f"behaviours; of {_tests(exhausted)} every execution was seen",
            f"{_tests(len(self._with('single')))} without concurrency, run once",
        ]
        leaving = sum(bool(facts.get("leaves")) for facts in self.facts.values())
        if leaving:
            verb = "leaves" if leaving == 1 else "leave"
            lines.append(f"{_tests(leaving)} {verb} threads running, which wait for the outside")
        return lines + self._ignored() + self._inconclusive() + self._failures()

    def _ignored(self) -> list[str]:
        lines = []
        for test, facts in self.facts.items():
            if facts.get("ignored"):
                names = ", ".join(facts["ignored"])
                lines.append(f"{test}: threads end with {names}, which the test passes with")
            for lost in facts.get("lost", ()):
                lines.append(f"{test}: nobody looks at an exception ({lost}), and the test passes")
        return lines

    def _inconclusive(self) -> list[str]:
        lines = []
        for test, facts in self._with("inconclusive").items():
            lines.append(f"INCONCLUSIVE {test}")
            lines += [f"    {reason}" for reason in facts["reasons"]]
        return lines

    def _failures(self) -> list[str]:
        lines = []
        for test, facts in self._with("failed").items():
            lines.append(f"FAILED {test}: {facts['summary']}")
            if facts["artefact"]:
                lines.append(f"    pytest --reenact-replay {facts['artefact']}")
        return lines


def _tests(count: int) -> str:
    return "1 test" if count == 1 else f"{count} tests"
