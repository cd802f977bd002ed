"""`--reenact-replay PATH --pdb`: what the session has to do with the time-travel debugger.

The debugger is in a process of its own (`travel.py`), which has the terminal meanwhile: this one is
under the gate of a search. The session waits, and reports the failure as ever.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

import pytest

from reenact import _core
from reenact.engine.record import interpreter_flags
from reenact.intercept.processes import bootstrap

_OPENED = (0, 130)  # the exit codes of `reenact debug`, the second after Ctrl-C


@dataclass(frozen=True, slots=True)
class Request:
    """To the process that has the debugger."""

    artefact: str
    cwd: str
    root: str
    path: list[str]
    loaded: list[str]
    threads: list[tuple[int, int]]
    is_warm: bool
    args: list[str]


class Journey:
    """Knows how the session began, and what the test has loaded since."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.path = list(sys.path)
        self.environment = dict(os.environ)
        self.loaded: list[str] = []
        self.threads: list[tuple[int, int]] = []
        self.is_warm = False  # it takes a run before it for the test to fail
        self._is_over = False

    @property
    def is_wanted(self) -> bool:
        """Once; and who names a debugger of their own gets that one."""
        has = self.config.getoption
        asked = has("usepdb", False) and not has("usepdb_cls", None)
        return bool(has("reenact_replay") and asked) and not self._is_over

    @contextmanager
    def noting(self) -> Iterator[None]:
        """What the test loads by itself, it found loaded when it failed."""
        before = set(sys.modules)
        self.threads = _core.explore_threads()
        try:
            yield
        finally:
            self.loaded = [name for name in sys.modules if name not in before]

    def open_debugger(self, report: pytest.TestReport) -> bool:
        """Returns when it is left; False if there was none, and the reason was said."""
        self._is_over = True
        with self._terminal():
            writer = self.config.get_terminal_writer()
            writer.line()
            report.toterminal(writer)
            writer.sep(">", "entering reenact debug: the failure is recorded first")
            writer.flush()
            code: int = _core.quietly(_run, self._command(), self.environment)
        return code in _OPENED

    @contextmanager
    def _terminal(self) -> Iterator[None]:
        """The real one: what pytest catches goes there meanwhile."""
        capture: Any = self.config.pluginmanager.getplugin("capturemanager")
        if capture is None:
            yield
            return
        capture.suspend_global_capture(in_=True)
        try:
            yield
        finally:
            capture.resume_global_capture()

    def _command(self) -> list[str]:
        given = self.config.invocation_params
        without = ["--no-cov"] if self.config.pluginmanager.hasplugin("_cov") else []
        request = Request(
            self.config.option.reenact_replay,
            str(given.dir),
            str(self.config.rootpath),
            self.path,
            self.loaded,
            self.threads,
            self.is_warm,
            [*map(str, given.args), *without],
        )
        code = bootstrap("reenact_pytest.travel")
        return [sys.executable, *interpreter_flags(), "-c", code, json.dumps(asdict(request))]


def _run(command: list[str], environment: dict[str, str]) -> int:
    """Ctrl-C is for whoever has the terminal."""
    pid = os.posix_spawn(command[0], command, environment)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    finally:
        signal.signal(signal.SIGINT, before)
