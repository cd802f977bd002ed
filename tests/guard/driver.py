"""Runs a program in epochs and says of each failure how its re-execution compares with it."""

from __future__ import annotations

import ast
import json
import os
import sys
from pathlib import Path

from reenact.debug.traveller import Move
from reenact.engine.launch import Choices, Program
from reenact.guard.epoch import EpochTraveller
from reenact.guard.keeper import Failure, Keeper, Limits
from reenact.recordings.reader import Recording
from tests.guard.image import POOLS, compare


def look(failure: Failure) -> dict[str, object]:
    """Run the epoch again without looking, and then with."""
    with EpochTraveller(
        Recording.open(failure.directory), frozen=failure.frozen, until=failure.step
    ) as traveller:
        stop = traveller.open()
        asked = os.environ.get("ASKED", "None")
        value = traveller.ask("evaluate", thread=stop.thread, text=asked)["value"]
        said = traveller.ask("evaluate", thread=stop.thread, text=POOLS)
        again = traveller._start()
        try:
            again.run(-1)
            difference = compare(failure.pid, again.pid, ast.literal_eval(said["value"]))
            reason = again.reason.name
        finally:
            again.close()
        back = traveller.backward(Move(thread=stop.thread))
        return {
            "text": failure.text,
            "reason": reason,
            "step": failure.step,
            "first": traveller.beginning.step,
            "compared": difference.compared,
            "differing": difference.differing,
            "where": difference.first,
            "why": stop.why,
            "thread": stop.thread,
            "value": value,
            "line": stop.frame.line if stop.frame else None,
            "back": back.frame.line if back.frame else None,
        }


def main() -> None:
    seconds, target, *argv = sys.argv[1:]
    seen: list[dict[str, object]] = []

    def on_failure(failure: Failure) -> bool:
        seen.append(look(failure))
        return True

    keeper = Keeper(
        Program("script", target, tuple(argv)),
        Choices("queue", 0, 0, 5000),
        Limits(seconds=float(seconds)),
        on_failure,
    )
    ended = keeper.run()
    said = {"exit": ended.exit_code, "epochs": keeper.epochs, "failures": seen}
    Path(os.environ["SAID"]).write_text(json.dumps(said), "utf-8")


if __name__ == "__main__":
    main()
