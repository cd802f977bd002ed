"""Exploring: running a program again and again, each time with other choices, until it fails.

`reenact.explore` is this package and the function of `api.py` at once: which of the two a name is
bound to must not depend on what was imported first.
"""

from __future__ import annotations

import sys
from types import ModuleType


class _Callable(ModuleType):
    def __call__(self, *args: object, **names: object) -> object:
        from reenact.explore import api

        explore = api.explore
        return explore(*args, **names)  # type: ignore[arg-type]


sys.modules[__name__].__class__ = _Callable
