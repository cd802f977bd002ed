"""The last epoch, run again in a copy without anybody looking: does it come to the same end?

A copy that replays compares each of its operations with the log, and stops where one differs. What
is left to ask is whether it has come to the step, the thread and the failure that the process
stands at. One that has not is tried again, and how often is told: under the serial engine the first
try must do.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from reenact.debug.process import ENDS, Process, ProcessGone, Reason
from reenact.guard.keeper import Failure

MOST_TRIES = 3


@dataclass(frozen=True, slots=True)
class Again:
    """How many tries it took, and what the last one did otherwise: nothing, if it agreed."""

    tries: int
    disagreement: str = ""


def run_again(failure: Failure) -> Again:
    """Until it agrees, or has been tried often enough."""
    disagreement = ""
    for tries in range(1, MOST_TRIES + 1):
        disagreement = _try(failure)
        if not disagreement:
            return Again(tries)
    return Again(MOST_TRIES, disagreement)


def _try(failure: Failure) -> str:
    assert failure.frozen is not None
    copied = failure.frozen.copy()
    if copied is None:
        return failure.frozen.refusal
    try:
        copied.become_replay(failure.step)
        copied.run(-1)
        return _difference(failure, copied)
    except ProcessGone:
        return _difference_of_ends(failure, copied.pid)
    finally:
        copied.close()


def _difference(failure: Failure, copied: Process) -> str:
    step, thread, reason = copied.step, copied.thread, copied.reason
    if reason is Reason.DIVERGED:
        return _outcome(copied)
    if failure.signal is not None:
        return f"it was not killed, but came to step {step}"
    if step != failure.step or (failure.thread >= 0 and thread != failure.thread):
        return f"it came to step {step} in thread {thread}, not {failure.step} in {failure.thread}"
    if (failure.reason is Reason.DEADLOCK) != (reason is Reason.DEADLOCK) or reason not in ENDS:
        return f"it ended otherwise: {reason.name.lower()}"
    if failure.reason in (Reason.PLACE, Reason.STEP) and _outcome(copied):
        return "it did not fail there"
    return ""


def _outcome(copied: Process) -> str:
    """What the core has to say of its end; a failure that the program told of needs no words."""
    words = str(copied.talk().get("outcome", "")).replace("\t", " ").splitlines()
    return "; ".join(words[:4])


def _difference_of_ends(failure: Failure, pid: int) -> str:
    _, status = os.waitpid(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    if failure.signal is not None and code == -failure.signal:
        return ""
    return f"its process ended with {code}"
