"""How a command ends: its exit code, and an error as one line on standard error.

Every command's `run` is wrapped by `ends_well`, so that no command repeats it. A reader that
went away (`reenact dump x | head`) ends a command quietly.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import wraps

from reenact.cli.wording import printable
from reenact.errors import RecordingError, ReenactError, UsageError

FAILED = 1
USAGE = 2
UNUSABLE_RECORDING = 121

Run = Callable[[argparse.Namespace], int]


def exit_code(error: ReenactError) -> int:
    if isinstance(error, UsageError):
        return USAGE
    return UNUSABLE_RECORDING if isinstance(error, RecordingError) else FAILED


def ends_well(run: Run) -> Run:
    @wraps(run)
    def wrapped(args: argparse.Namespace) -> int:
        try:
            code = run(args)
            sys.stdout.flush()
        except BrokenPipeError:
            return _leave_pipe()
        except ReenactError as error:
            return _report(str(error), exit_code(error))
        except OSError as error:
            return _report(f"the output could not be written: {error}.", FAILED)
        return code

    return wrapped


def _report(text: str, code: int) -> int:
    """What was printed so far comes before the error."""
    with suppress(OSError):
        sys.stdout.flush()
    print(f"reenact: {printable(text)}", file=sys.stderr)
    return code


def _leave_pipe() -> int:
    """The interpreter flushes once more as it exits; that must not fail again."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
    return 0
