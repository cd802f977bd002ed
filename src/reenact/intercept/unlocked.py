"""What C code of the standard library shares without a lock, where the order of accesses is kept.

Each of these is called through a function of the core's that takes note of it first. Methods of
containers have sites where they are called by their names; without a GIL, those that are bound and
called elsewhere, by C code, say, are among these, too.
"""

from __future__ import annotations

import _collections  # type: ignore[import-not-found]
import _functools  # type: ignore[import-not-found]
import _io
import _random
import _weakref
import builtins
import itertools
import sys
import types

from reenact import _core, pyversion
from reenact.instrument.containers import METHODS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

_METHODS: dict[type, tuple[str, ...]] = {
    _random.Random: ("random", "getrandbits", "seed", "getstate", "setstate"),
    _io.StringIO: (
        *("write", "writelines", "read", "readline", "readlines"),
        *("getvalue", "seek", "tell", "truncate", "close"),
    ),
    _io.BytesIO: (
        *("write", "writelines", "read", "read1", "readinto", "readline", "readlines"),
        *("getvalue", "getbuffer", "seek", "tell", "truncate", "close"),
    ),
}
_OURS = __file__.removesuffix("intercept/unlocked.py")
_CONTAINERS: tuple[type, ...] = (
    *(list, dict, set, bytearray),
    *(_collections.deque, _collections.defaultdict, _collections.OrderedDict),
)
_SHOWN: tuple[Iterable[object], ...] = (set(), {}, {}.values(), {}.items())
_ITERATORS: dict[type, tuple[str, ...]] = {
    itertools.count: (),
    itertools.cycle: (),
    types.GeneratorType: ("send", "throw", "close"),
    **{type(iter(each)): () for each in _SHOWN},
}


def install() -> None:
    """Before the program's first line."""
    for kind, names in _METHODS.items():
        _core.order_methods(kind, names)
    if not pyversion.HAS_GIL:
        for kind in _CONTAINERS:
            _core.order_bound(kind, METHODS)
        for kind, names in _ITERATORS.items():
            _core.order_iterators(kind)
            _core.order_methods(kind, ("__next__", *names))
        builtins.id = _core.tell_addresses(_OURS)
        builtins.print = _core.order_prints(builtins.print)
        _core.mark_keys()
        _order_deaths()
    _order_caches()
    builtins.__import__ = _core.order_imports(builtins.__import__)


def _order_deaths() -> None:
    """What the core has put into the module of C code is also in the other, if that is there."""
    _core.order_deaths(_weakref)
    loaded = sys.modules.get("weakref")
    if loaded is not None:
        for name in ("_remove_dead_weakref", "getweakrefs", "getweakrefcount"):
            setattr(loaded, name, getattr(_weakref, name))


def _order_caches() -> None:
    """A cache calls the function that it is of between looking for a result and keeping it."""
    c_code: Any = _functools
    native = c_code._lru_cache_wrapper
    _core.order_caches(native)

    def cache(function: Any, *rest: Any) -> Any:
        return _core.make_cache(native, function, *rest)

    c_code._lru_cache_wrapper = cache
    loaded: Any = sys.modules.get("functools")
    if loaded is not None:
        loaded._lru_cache_wrapper = cache
    _core.hide_frames(cache.__code__)
