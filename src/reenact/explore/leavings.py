"""What a run leaves in the interpreter, and the next run of the same test must not find.

Owns the state of `random`, and levels and handlers of the loggers that were there before: a fixture
that adds a handler and never removes it would have one more of them in every schedule.
"""

from __future__ import annotations

import random
import sys
from typing import Any


class Leavings:
    """Knows how it was as this was made."""

    def __init__(self) -> None:
        self._random = random.getstate()
        self._loggers = [(each, each.level, list(each.handlers)) for each in _loggers()]

    def restore(self) -> None:
        random.setstate(self._random)
        for logger, level, handlers in self._loggers:
            if logger.handlers != handlers:
                logger.handlers[:] = handlers
            if logger.level != level:
                logger.setLevel(level)


def _loggers() -> list[Any]:
    logging = sys.modules.get("logging")
    if logging is None:
        return []
    known = list(logging.root.manager.loggerDict.values())  # and places for loggers to come
    return [logging.root, *(each for each in known if isinstance(each, logging.Logger))]
