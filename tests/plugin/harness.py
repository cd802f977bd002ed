"""Runs pytest with the plugin, in a process of its own, on test files that are written for it."""

from __future__ import annotations

import re
import sys
import textwrap
from contextlib import suppress
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

TIMEOUT_S = 120

HAS_ENTRY_POINT = any(point.value == "reenact_pytest" for point in entry_points(group="pytest11"))

# Two threads add to a counter without a lock: right in the plain run, wrong in some other.
COUNTER = """
    import threading
    import pytest

    class Counter:
        def __init__(self):
            self.value = 0

        def add(self):
            value = self.value
            self.value = value + 1

    def together(*functions):
        threads = [threading.Thread(target=each) for each in functions]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
"""


class Session:
    """What pytest said and how it ended."""

    def __init__(self, result: pytest.RunResult) -> None:
        self.code = int(result.ret)
        self.out = result.stdout.str() + result.stderr.str()
        self.counts: dict[str, int] = {}
        with suppress(ValueError):  # it did not come to a summary
            self.counts = result.parseoutcomes()

    @property
    def counted(self) -> dict[str, int]:
        return {
            name: n
            for name, n in self.counts.items()
            if not name.startswith(("warning", "subtest"))
        }

    def searched(self) -> tuple[int, int]:
        """Tests that were explored, and schedules."""
        found = re.search(r"(\d+) tests? explored: (\d+) schedules", self.out)
        assert found, self.out
        return int(found[1]), int(found[2])

    def single(self) -> int:
        found = re.search(r"(\d+) tests? without concurrency", self.out)
        assert found, self.out
        return int(found[1])

    def replay_path(self) -> str:
        found = re.search(r"--reenact-replay (\S+\.json)", self.out)
        assert found, self.out
        return found[1]


class Bench:
    """A directory with tests in it."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester
        pytester.makeini("[pytest]\n")

    @property
    def path(self) -> Path:
        return self.pytester.path

    def write(self, body: str, name: str = "test_it.py", head: str = COUNTER) -> None:
        text = textwrap.dedent(head) + "\n" + textwrap.dedent(body)
        (self.path / name).write_text(text, "utf-8")

    def plain(self, *args: str) -> Session:
        return self._run(*args)

    def reenact(self, *args: str) -> Session:
        return self._run("--reenact", "--reenact-runs", "60", *args)

    def replay(self, path: str, *args: str) -> Session:
        return self._run("--reenact-replay", path, *args)

    def typing(self, typed: str, *args: str) -> Session:
        """With something to read, which is no terminal."""
        command = (sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *args)
        return Session(self.pytester.run(*command, stdin=typed.encode(), timeout=TIMEOUT_S))

    def spawn(self, *args: str) -> Any:
        """With a terminal."""
        command = " ".join((sys.executable, "-m", "pytest", *args))
        return self.pytester.spawn(command, expect_timeout=TIMEOUT_S)

    def _run(self, *args: str) -> Session:
        run = self.pytester.runpytest_subprocess
        return Session(run("-p", "no:cacheprovider", *args, timeout=TIMEOUT_S))
