"""Rows of a database cursor, made by the program's own row factory on its side of the boundary."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Rows:
    """Before the stand-in among the bases of a cursor, which says what a row is made of."""

    __slots__ = ()

    def _reenact_row(self, row: Any) -> Any:
        raise NotImplementedError

    def fetchone(self) -> Any:
        return self._reenact_row(super().fetchone())  # type: ignore[misc]

    def fetchmany(self, *args: Any, **names: Any) -> list[Any]:
        rows = super().fetchmany(*args, **names)  # type: ignore[misc]
        return [self._reenact_row(row) for row in rows]

    def fetchall(self) -> list[Any]:
        rows = super().fetchall()  # type: ignore[misc]
        return [self._reenact_row(row) for row in rows]

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        return self._reenact_row(super().__next__())  # type: ignore[misc]
