"""Record a threaded Python program's execution and replay it exactly.

    with reenact.recording("run.reenact"):
        main()

    reenact.replay("run.reenact")

From the command line: `reenact record app.py`, then `reenact replay app-….reenact`.
"""

from __future__ import annotations

from reenact.version import VERSION as __version__

__all__ = [
    "Deadlock",
    "Divergence",
    "ExplorationFailed",
    "Findings",
    "Livelock",
    "RecordingError",
    "ReenactError",
    "StaleSchedule",
    "UsageError",
    "__version__",
    "begin_epoch",
    "explore",
    "explored",
    "follow",
    "guarded",
    "races",
    "recording",
    "replay",
    "rollback",
]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from reenact.api import replay
    from reenact.engine.block import recording
    from reenact.engine.guarded import begin_epoch, guarded, rollback
    from reenact.errors import (
        Deadlock,
        Divergence,
        Livelock,
        RecordingError,
        ReenactError,
        StaleSchedule,
        UsageError,
    )
    from reenact.explore.api import ExplorationFailed, explore, explored
    from reenact.explore.follow import follow
    from reenact.explore.looking import Findings, races

_HOMES = {
    "explore": "reenact.explore.api",
    "explored": "reenact.explore.api",
    "ExplorationFailed": "reenact.explore.api",
    "recording": "reenact.engine.block",
    "begin_epoch": "reenact.engine.guarded",
    "guarded": "reenact.engine.guarded",
    "rollback": "reenact.engine.guarded",
    "replay": "reenact.api",
    "follow": "reenact.explore.follow",
    "Findings": "reenact.explore.looking",
    "races": "reenact.explore.looking",
    "Deadlock": "reenact.errors",
    "Divergence": "reenact.errors",
    "Livelock": "reenact.errors",
    "RecordingError": "reenact.errors",
    "ReenactError": "reenact.errors",
    "StaleSchedule": "reenact.errors",
    "UsageError": "reenact.errors",
}


def __getattr__(name: str) -> object:
    """Public names load when they are used: the program's process imports this package too."""
    if name not in _HOMES:
        raise AttributeError(f"module 'reenact' has no attribute {name!r}")
    from importlib import import_module

    found = getattr(import_module(_HOMES[name]), name)
    globals()[name] = found  # `explore` is a package of ours as well: the function is what is meant
    return found
