"""`with_accesses.py watched|unwatched MODULES SCRIPT ARGS...`: SCRIPT, with sites in its imports.

The package `test`, and the modules that are named with commas between, are rewritten with accesses,
and each access is told to a watcher that counts, and to one in place of the race detector; unless
they are not to be there, since a tracer sees them called. Run by `test_accesses.py`.
"""

from __future__ import annotations

import itertools
import runpy
import sys
from types import CodeType

from reenact import _core
from reenact.instrument import loader
from reenact.instrument.rewrite import PLACEHOLDER


def plant(code: CodeType) -> CodeType:
    return _core.plant(code, PLACEHOLDER)


def main() -> None:
    _, manner, modules, script, *_ = sys.argv
    sys.argv[:3] = []
    counter = itertools.count()
    policy = loader.Policy(["test", *modules.split(",")], accesses=True)
    loader.install(policy, plant, lambda path, digest: None, _core.in_child)
    if manner == "watched":
        _core.watch_accesses(lambda *access: next(counter))
        _core.watch_races(lambda *access: None)
    runpy.run_path(script, run_name="__main__")
    _core.watch_accesses(None)
    _core.watch_races(None)
    print(next(counter), "accesses")


if __name__ == "__main__":
    main()
