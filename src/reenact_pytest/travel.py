"""The process in which the debugger is opened at a saved failure: it is recorded first.

Started by `journey.py`, and has the terminal. It records a session of pytest (`recorded.py`) in
which the test runs under the saved choices, and nothing is shown of that. If the test does not fail
as it had been saved there is no recording, and no debugger.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from reenact.cli import main as commands
from reenact.engine.launch import Program
from reenact.explore import keep
from reenact_pytest import artefact, options, recorded
from reenact_pytest.journey import Request

NOT_OPENED = 9


def main() -> None:
    request = Request(**json.loads(sys.argv[1]))
    os.chdir(request.cwd)
    path = Path(request.artefact).with_suffix(".reenact")
    problem = _record(request, path)
    if problem:
        print(f"reenact: no time travel, but pdb: {problem}", file=sys.stderr, flush=True)
        sys.exit(NOT_OPENED)
    print(f"recorded in {path}; open it again with: reenact debug {path}", flush=True)
    if artefact.load(request.artefact).failure.is_found_by_looking:
        print("nothing failed but for what was found by looking: `races all` shows it", flush=True)
    sys.exit(commands.main(["debug", str(path)]))


def _record(request: Request, path: Path) -> str:
    """ "" or why there is no recording of the failure."""
    problem = _record_once(request, path, request.is_warm)
    return problem and _record_once(request, path, not request.is_warm)


def _record_once(request: Request, path: Path, is_warm: bool) -> str:
    saved = artefact.load(request.artefact)
    settings = saved.settings
    if saved.failure.is_found_by_looking:
        settings = options.with_races(settings, Path(request.root), saved.test)
    terms = recorded.Terms(request.path, request.loaded, request.threads, is_warm)
    argv = (terms.text(), *request.args)
    program = Program("module", "reenact_pytest.recorded", argv, keep.packages(settings))
    path.unlink(missing_ok=True)
    expected = recorded.FAILED_AGAIN
    return keep.keep(program, saved.switches, settings, saved.failure, path, exit_code=expected)
