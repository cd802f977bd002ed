"""`psycopg2`: its C module is a boundary.

Connections, cursors and large objects are stand-ins, so that `psycopg2.extras` and classes of the
program's own derive from them and run as ever. What the C module does in Python's terms is done on
the program's side: factories of connections, cursors and rows, queries composed by `psycopg2.sql`.
Type casters exist on both sides; those written in Python are called back. Adapters run inside the
boundary: a replay does not run them.
"""

from __future__ import annotations

from reenact import _core
from reenact.intercept import crossing, handed, plain
from reenact.intercept.rows import Rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

_COLUMN = "name type_code display_size internal_size precision scale null_ok table_oid table_column"
_DIAGNOSTICS = (
    "column_name constraint_name context datatype_name internal_position internal_query "
    "message_detail message_hint message_primary schema_name severity severity_nonlocalized "
    "source_file source_function source_line sqlstate statement_position table_name"
)
_MOST_NOTICES = 50


def patch(module: ModuleType) -> None:
    """`psycopg2._psycopg`, as it is loaded."""
    native: Any = module
    _know_values(native)
    _know_errors(native.Error, native.Diagnostics)
    native.cursor = _cursor_class(native.cursor)
    native.connection = _connection_class(native.connection, native.cursor)
    for name in ("ReplicationCursor", "ReplicationConnection", "lobject"):
        setattr(native, name, crossing.stand_in(getattr(native, name)))
    for name in ("quote_ident", "encrypt_password", "set_wait_callback"):
        setattr(native, name, crossing.crossing(f"psycopg2.{name}", getattr(native, name)))
    native._connect = _connect(native.connection)
    _patch_casters(native)


def _know_values(native: Any) -> None:
    def parts_of(*names: str) -> Any:
        return lambda value: [getattr(value, name) for name in names]

    plain.know_kind("psycopg2.extensions.Column", parts_of(*_COLUMN.split()))
    plain.know_kind("psycopg2.extensions.Notify", parts_of("pid", "channel", "payload"))
    plain.know_kind("psycopg2.extensions.Xid", parts_of("format_id", "gtrid", "bqual"))


class Diagnostics:
    """What the server said of an error, by field."""

    __module__ = "psycopg2.extensions"

    def __init__(self, fields: dict[str, Any]) -> None:
        self.__dict__.update(fields)


def _know_errors(error: Any, diagnostics: Any) -> None:
    def get(raised: Any) -> dict[str, Any]:
        fields = diagnostics(raised)
        said = {name: getattr(fields, name) for name in _DIAGNOSTICS.split()}
        return {"pgcode": raised.pgcode, "pgerror": raised.pgerror, "diag": said}

    def put(made: Any, state: dict[str, Any]) -> None:
        made.__setstate__({name: state[name] for name in ("pgcode", "pgerror")})
        vars(made)["_reenact_diag"] = state["diag"]

    def diag(made: Any) -> Diagnostics:
        return Diagnostics(vars(made).get("_reenact_diag") or dict.fromkeys(_DIAGNOSTICS.split()))

    plain.know_error(error, get, put)
    _core.put(error, "diag", property(diag))


def _connect(connection: type) -> Any:
    def _connect(
        dsn: Any = None, connection_factory: Any = None, async_: Any = 0, **names: Any
    ) -> Any:
        factory = connection if connection_factory is None else connection_factory
        is_async = names.get("async", async_)
        return factory(dsn, is_async) if is_async else factory(dsn)

    return _connect


def _connection_class(real: type, cursor_class: Any) -> type:
    base: Any = crossing.stand_in(real)
    notices, notifies = _taking("notices"), _taking("notifies")

    class connection(base):  # type: ignore[misc]
        __slots__ = ("_reenact_notices", "_reenact_notifies", "cursor_factory")
        __doc__ = real.__doc__

        def __init__(self, *args: Any, **names: Any) -> None:
            super().__init__(*args, **names)
            self.cursor_factory = None
            self._reenact_notices: list[Any] = []
            self._reenact_notifies: list[Any] = []

        def cursor(
            self,
            name: Any = None,
            cursor_factory: Any = None,
            withhold: Any = False,
            scrollable: Any = None,
        ) -> Any:
            factory = cursor_factory or self.cursor_factory or cursor_class
            made = factory(self, name)
            if not isinstance(made, cursor_class):
                raise TypeError("cursor factory must be subclass of psycopg2.extensions.cursor")
            if withhold:
                made.withhold = withhold
            if scrollable is not None:
                made.scrollable = scrollable
            return made

        @property
        def notices(self) -> list[Any]:
            self._reenact_notices += notices(self)
            del self._reenact_notices[:-_MOST_NOTICES]
            return self._reenact_notices

        @property
        def notifies(self) -> list[Any]:
            self._reenact_notifies += notifies(self)
            return self._reenact_notifies

    return crossing.named_like(real, connection)


def _taking(name: str) -> Any:
    """The program empties the list that it is given: the real one is emptied for it."""

    def take(connection: Any) -> list[Any]:
        there = getattr(connection, name)
        taken = list(there)
        del there[:]
        return taken

    return crossing.crossing(f"psycopg2.extensions.connection.{name}", take)


def _cursor_class(real: type) -> type:
    base: Any = crossing.stand_in(real, lambda connection, name=None: connection.cursor(name))

    class cursor(Rows, base):  # type: ignore[misc]
        __slots__ = ("row_factory",)
        __doc__ = real.__doc__

        def __init__(self, conn: Any, name: Any = None) -> None:
            super().__init__(conn, name)
            self.row_factory = None

        def execute(self, query: Any, vars: Any = None) -> Any:
            return super().execute(_composed(query, self), vars)

        def executemany(self, query: Any, vars_list: Any) -> Any:
            return super().executemany(_composed(query, self), list(vars_list))

        def mogrify(self, query: Any, vars: Any = None) -> Any:
            return super().mogrify(_composed(query, self), vars)

        def copy_expert(self, sql: Any, file: Any, size: int = 8192) -> Any:
            return super().copy_expert(_composed(sql, self), file, size)

        def _reenact_row(self, values: Any) -> Any:
            if values is None or self.row_factory is None:
                return values
            row = self.row_factory(self)
            for index, value in enumerate(values):
                row[index] = value
            return row

    return crossing.named_like(real, cursor)


def _composed(query: Any, cursor: Any) -> Any:
    return query.as_string(cursor) if hasattr(query, "as_string") else query


class _Caster:
    """A caster of the program's: called by the library, or by the program itself."""

    def __init__(self, function: Any) -> None:
        self._function = function
        self._number = handed.hand(function)

    def __call__(self, value: Any, cursor: Any) -> Any:
        if _core.is_quiet():
            return handed.reflection(self._number)(value, cursor)  # type: ignore[operator]
        return self._function(value, cursor)


def _patch_casters(native: Any) -> None:
    new_type, register_type = native.new_type, native.register_type
    scoped = crossing.crossing("psycopg2.register_type", register_type)
    handed.pass_as_it_is(type(native.STRING))

    def new_caster(values: Any, name: Any, castobj: Any = None, **names: Any) -> Any:
        return new_type(values, name, castobj and _Caster(castobj), **names)

    def register(obj: Any, conn_or_curs: Any = None) -> None:
        if conn_or_curs is None:
            register_type(obj)
        else:
            scoped(obj, conn_or_curs)

    native.new_type, native.register_type = new_caster, register


_core.hide_frames(patch.__code__)
