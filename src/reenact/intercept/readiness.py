"""`select.select` returns objects of the program's: their places in the lists are recorded."""

from __future__ import annotations

from reenact import _core
from reenact.intercept.table import WAITS, ZERO_SECOND

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import ModuleType
    from typing import Any


def patch(module: ModuleType) -> None:
    native = module.select

    def places(lists: list[list[Any]], *timeout: Any) -> list[list[int]]:
        found = native(*lists, *timeout)
        return [list(_places(*pair)) for pair in zip(found, lists, strict=True)]

    recorded = _core.call("select.select", places, "recorded", WAITS | ZERO_SECOND)

    def select(
        rlist: Iterable[Any], wlist: Iterable[Any], xlist: Iterable[Any], timeout: Any = None, /
    ) -> tuple[list[Any], list[Any], list[Any]]:
        """Wait until one or more descriptors are ready for some kind of I/O."""
        lists = [list(rlist), list(wlist), list(xlist)]
        found = recorded(lists, timeout)
        readable, writable, special = (
            [each[place] for place in chosen] for chosen, each in zip(found, lists, strict=True)
        )
        return readable, writable, special

    module.select = select  # type: ignore[attr-defined]


def _places(found: list[Any], given: list[Any]) -> Iterator[int]:
    """What is found is in the order in which it was given."""
    at = 0
    for each in found:
        while given[at] is not each:
            at += 1
        yield at
        at += 1
