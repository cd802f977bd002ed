"""Random generators that take their seed from the operating system take it through us.

`os.urandom` is a row of the table; the C generator reads the same bytes without calling it.
"""

from __future__ import annotations

import posix
import sys

from reenact import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

_SEED_BYTES = 32


def patch(module: ModuleType) -> None:
    native = module.Random.seed

    def seed(self: Any, a: Any = None, /) -> None:
        if a is None:
            a = int.from_bytes(posix.urandom(_SEED_BYTES), "little")
        native(self, a)

    _core.put(module.Random, "seed", seed)


def settle() -> None:
    """The shared generator of a module that was loaded before us has some state or other."""
    random = sys.modules.get("random")
    if random is not None:
        recorded = _core.call("_random.Random.getstate", random._inst.getstate, "recorded", 0)
        random._inst.setstate(recorded())
