"""Runs unittest modules and writes one JSON line a test: [id, outcome, last line of the failure].

`run_unittests.py RESULTS MODULE[@WORD]...`; with a word, only tests whose id contains it. Run by
`test_cpython.py`, under stock Python and under the engine.
"""

from __future__ import annotations

import json
import sys
import unittest
from collections.abc import Iterator
from typing import TextIO


class Outcomes(unittest.TestResult):
    """A test is what happened to it last and worst: subtests and clean-up can still fail it."""

    def __init__(self, file: TextIO) -> None:
        super().__init__()
        self.file = file

    def say(self, test: unittest.TestCase, outcome: str, text: str = "") -> None:
        lines = text.strip().splitlines()
        self.file.write(json.dumps([test.id(), outcome, lines[-1] if lines else ""]) + "\n")
        self.file.flush()

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        self.say(test, "started")

    def addSuccess(self, test: unittest.TestCase) -> None:
        self.say(test, "passed")

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        self.say(test, "skipped", reason)

    def addExpectedFailure(self, test: unittest.TestCase, err: object) -> None:
        self.say(test, "passed")

    def addFailure(self, test: unittest.TestCase, err: object) -> None:
        self.say(test, "failed", self._exc_info_to_string(err, test))  # type: ignore[attr-defined]

    addError = addFailure

    def addSubTest(self, test: unittest.TestCase, subtest: object, err: object) -> None:
        if err is not None:
            self.addFailure(test, err)


def tests_of(suite: unittest.TestSuite) -> Iterator[unittest.TestCase]:
    for each in suite:
        if isinstance(each, unittest.TestSuite):
            yield from tests_of(each)
        else:
            yield each


def main(results: str, names: list[str]) -> None:
    chosen = unittest.TestSuite()
    for name in names:
        module, _, word = name.partition("@")
        suite = unittest.defaultTestLoader.loadTestsFromName(module)
        chosen.addTests(test for test in tests_of(suite) if word in test.id())
    with open(results, "w", encoding="utf-8") as file:
        chosen.run(Outcomes(file))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
