"""The race detector, and the watch on locks, in the process of the program: switched on, and asked
at the end.

For one run of a program `child.py` calls `prepare` before the gate is opened, and `start` after.
What was found is written as one document, the *raw findings*, into a file next to the log,
whichever way the process ends as far as Python or the gate end it. The launcher reads it:
`engine/races.py`. A search calls `install` once, `begin` and `end` for each of its runs.
"""

from __future__ import annotations

import atexit
import marshal
import os

from reenact import _core
from reenact.engine import edges, machinery
from reenact.instrument import loader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

_OURS = os.path.dirname(os.path.dirname(__file__)) + "/"  # our own frames tell nobody anything
_exit = os._exit
_descriptor = -1
_sample = 1.0
_is_installed = False


def prepare() -> None:
    """Before the gate is opened: what is done here, the program does not see."""
    global _descriptor
    _descriptor = _core.open_findings()
    install()
    _core.at_last(_write)
    atexit.register(_finish)
    os._exit = _exit_with_findings


def start(text: str, has_points: bool) -> None:
    """Look for races from now on; `text` is the share of variables, and a seed."""
    sample, _, seed = text.partition(":")
    begin(float(sample), int(seed or 0), has_points)


def install() -> None:
    """What has to be patched, once in this process and for good."""
    global _is_installed
    if not _is_installed:
        _is_installed = True
        machinery.tell_core()
        edges.install()


def begin(sample: float = 1.0, seed: int = 0, has_points: bool = False) -> None:
    """Forget what was found, and look from now on. In a search sites are points in any case, else
    only if they are to be: in a replay of a recording in which they were."""
    global _sample
    _sample = sample
    edges.begin()
    _core.races_begin(sample, seed, has_points)
    _core.locks_watch(True)


def end() -> dict[str, Any]:
    """Look no more; the raw findings."""
    document = found()
    _core.races_end()
    _core.locks_watch(False)
    return document


def found() -> dict[str, Any]:
    """The raw findings so far."""
    races, left_out, overflow, forgotten = _core.races_found()
    for race in races:
        made = race["variable"]["created"]
        for holder in (race["first"], race["second"], *([made] if made else ())):
            holder["stack"] = [each for each in holder["stack"] if not each[0].startswith(_OURS)]
    return {
        "version": 1,
        "races": [race for race in races if not _is_lent(race["first"], race["second"])],
        "left_out": left_out,
        "overflow": overflow,
        "forgotten": forgotten,
        "unseen": [*loader.unseen(), *map(_told_late, _core.sites_asleep()[1])],
        "sample": _sample,
        "locks": _core.locks_found(),
        "threads": [{"index": index, "name": name} for index, name in sorted(edges.names.items())],
    }


def _is_lent(*accesses: dict[str, Any]) -> bool:
    """Are all of them in code that has sites for another reason? `edges` says what it orders."""
    return all(each["stack"] and each["stack"][0][0] in loader.lent for each in accesses)


def _told_late(name: str) -> str:
    return (
        f"attribute {name} is set by code that was loaded, or by a name that was made up, after "
        "threads had read attributes of that name: what they read was not looked at"
    )


def _finish() -> None:
    _core.close(False)
    _write()


def _write() -> None:
    document = end()
    os.ftruncate(_descriptor, 0)
    os.pwrite(_descriptor, marshal.dumps(document), 0)


def _exit_with_findings(status: int) -> NoReturn:
    _core.quietly(_write)
    _exit(status)
