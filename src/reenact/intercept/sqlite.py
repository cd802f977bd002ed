"""`sqlite3`: its C module is a boundary.

Connections, cursors and blobs are stand-ins. What the module does in Python's terms is done in
Python, on the program's side: factories of connections, cursors and rows, adapters, and the short
cuts of a connection that make a cursor. So the program's own factories and adapters run under the
gate. Functions, aggregates, converters and hooks of the program's are called back by the library.
"""

from __future__ import annotations

from reenact import _core
from reenact.intercept import crossing
from reenact.intercept.handed import Reflected
from reenact.intercept.proxies import Proxy
from reenact.intercept.rows import Rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType
    from typing import Any

_AS_THEY_ARE = (type(None), int, float, str, bytes, bytearray)
_AGGREGATE_METHODS = ("step", "finalize", "value", "inverse")
_CONNECT_FACTORY = 5  # place of `factory` among the arguments of connect()


def patch(module: ModuleType) -> None:
    """`_sqlite3`, as it is loaded."""
    native: Any = module
    adapt, protocol = native.adapt, native.PrepareProtocol

    def adapted(value: Any) -> Any:
        return value if type(value) in _AS_THEY_ARE else adapt(value, protocol, value)

    def parameters(given: Any) -> Any:
        if isinstance(given, (tuple, list)) or not hasattr(given, "keys"):
            return tuple([adapted(value) for value in given])
        return {name: adapted(given[name]) for name in given.keys()}  # noqa: SIM118

    cursor = _cursor_class(native.Cursor, parameters)
    connection = _connection_class(native.Connection, cursor)
    if hasattr(native, "Blob"):
        native.Blob = crossing.stand_in(native.Blob)
    native.Row, native.Cursor, native.Connection = Row, cursor, connection
    native.register_converter = crossing.crossing(
        "sqlite3.register_converter", native.register_converter
    )
    native.connect = _connect(native.connect, connection)


def _connect(real: Any, connection: type) -> Any:
    def connect(*args: Any, **names: Any) -> Any:
        if len(args) > _CONNECT_FACTORY:
            return args[_CONNECT_FACTORY](*args, **names)
        return names.get("factory", connection)(*args, **names)

    connect.__doc__ = real.__doc__
    return connect


def _connection_class(real: type, cursor_class: type) -> type:
    base: Any = crossing.stand_in(real)

    class Connection(base):  # type: ignore[misc]
        __slots__ = ("row_factory",)
        __doc__ = real.__doc__

        def __init__(self, *args: Any, **names: Any) -> None:
            """The factory has done its work: it made this object."""
            if len(args) > _CONNECT_FACTORY:
                args = (*args[:_CONNECT_FACTORY], real, *args[_CONNECT_FACTORY + 1 :])
            names.pop("factory", None)
            super().__init__(*args, **names)
            self.row_factory = None

        def cursor(self, factory: Any = cursor_class) -> Any:
            made_one = factory(self)
            if not isinstance(made_one, cursor_class):
                name = type(made_one).__name__
                raise TypeError(f"factory must return a cursor, not {name}")
            if self.row_factory is not None:
                made_one.row_factory = self.row_factory
            return made_one

        def execute(self, *args: Any) -> Any:
            """With a cursor of the module's own class, whatever `cursor` was overridden with."""
            return Connection.cursor(self).execute(*args)

        def executemany(self, *args: Any) -> Any:
            return Connection.cursor(self).executemany(*args)

        def executescript(self, *args: Any) -> Any:
            return Connection.cursor(self).executescript(*args)

        def iterdump(self, **names: Any) -> Any:
            from sqlite3.dump import _iterdump  # type: ignore[attr-defined]

            return _iterdump(self, **names)

        def create_aggregate(self, name: Any, n_arg: Any, aggregate_class: Any) -> None:
            super().create_aggregate(name, n_arg, _reflecting(aggregate_class))

        def create_window_function(self, name: Any, num_params: Any, kind: Any, /) -> None:
            super().create_window_function(name, num_params, _reflecting(kind))

    return crossing.named_like(real, Connection)


def _reflecting(kind: Any) -> Any:
    """Makes instances whose methods the library calls."""
    if kind is None:
        return None

    def make() -> Reflected:
        made = kind()
        return Reflected(made, *(name for name in _AGGREGATE_METHODS if hasattr(made, name)))

    return make


def _cursor_class(real: type, parameters: Any) -> type:
    base: Any = crossing.stand_in(real)

    class Cursor(Rows, base):  # type: ignore[misc]
        __slots__ = ("row_factory",)
        __doc__ = real.__doc__

        def __init__(self, cursor: Any, /) -> None:
            super().__init__(cursor)
            self.row_factory: Any = None

        def execute(self, sql: Any, given: Any = (), /) -> Any:
            return super().execute(sql, parameters(given))

        def executemany(self, sql: Any, given: Any, /) -> Any:
            return super().executemany(sql, tuple([parameters(one) for one in given]))

        def _reenact_row(self, row: Any) -> Any:
            is_raw = row is None or self.row_factory is None
            return row if is_raw else self.row_factory(self, row)

    return crossing.named_like(real, Cursor)


class Row:
    """`sqlite3.Row`, which is made of a cursor's description and a tuple."""

    __slots__ = ("_names", "_values")

    _names: tuple[str, ...]
    _values: tuple[Any, ...]

    __module__, __qualname__ = "sqlite3", "Row"

    def __new__(cls, cursor: Any, data: Any, /) -> Any:
        if not isinstance(cursor, Proxy) or not hasattr(cursor, "description"):
            raise TypeError(f"Row() argument 1 must be sqlite3.Cursor, not {type(cursor).__name__}")
        if not isinstance(data, tuple):
            raise TypeError(f"Row() argument 2 must be tuple, not {type(data).__name__}")
        row = object.__new__(cls)
        row._names = tuple(column[0] for column in cursor.description or ())
        row._values = data
        return row

    def keys(self) -> list[str]:
        return list(self._names)

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, str):
            return self._values[key]
        for name, value in zip(self._names, self._values, strict=False):
            if name == key or (name.isascii() and name.lower() == key.lower()):
                return value
        raise IndexError("No item with that key")

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values)

    def __hash__(self) -> int:
        return hash(self._names) ^ hash(self._values)

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, Row):
            return NotImplemented
        return (self._names, self._values) == (other._names, other._values)


_core.hide_frames(patch.__code__)
