"""The name of a variable that a person would use.

The core knows an object and an attribute or key of it. What the object is called stands in the
source: `self.items.append(x)` in a method of Cache is about Cache.items. The expression is found by
the line and column of an access, where `instrument/places.py` has put them.
"""

from __future__ import annotations

import ast
import symtable
from collections.abc import Iterator

from reenact.analysis.findings import Access, Called, Variable
from reenact.analysis.sources import Scope, Sources
from reenact.findings import Line

LONGEST = 60  # characters of an expression or a key
# Of these we know no more than what the source calls them.
_NAMED = {"type": "class", "function": "function"}
_MAKERS = ("__init__", "__new__", "__post_init__", "__call__")


def call_it(variable: Variable, accesses: tuple[Access, ...], sources: Sources) -> Called:
    """What to call it; the first of the accesses whose source says something is listened to."""
    if variable.kind == "attribute":
        return _attribute(variable, accesses, sources)
    if variable.kind == "global":
        short = f"{variable.type}.{variable.name}"
        return Called(short, f"global {variable.name} of module {variable.type}")
    if variable.kind == "closure":
        return _closure(variable, accesses, sources)
    return _container(variable, accesses, sources)


def created(variable: Variable) -> str:
    """Where and by whom its object was made, as far as that is known."""
    place = maker(variable.created)
    if place is None or variable.creator is None:
        return ""
    return f" created at {place.file}:{place.line} by {variable.creator}"


def maker(stack: tuple[Line, ...]) -> Line | None:
    """The line that made an object, not the one of its __init__."""
    for line in stack:
        if line.function.rpartition(".")[2] not in _MAKERS:
            return line
    return stack[0] if stack else None


def _attribute(variable: Variable, accesses: tuple[Access, ...], sources: Sources) -> Called:
    name = unmangled(variable)
    for text in _expressions(variable, accesses, sources) if variable.type in _NAMED else ():
        return Called(
            f"{text}.{name}", f"{text}.{name}, an attribute of the {_NAMED[variable.type]}"
        )
    short = f"{variable.type}.{name}"
    owner = f"<{variable.type} at {variable.address:#x}>"
    return Called(short, f"{short} of {owner}{created(variable)}")


def unmangled(variable: Variable) -> str:
    """`_Account__pin` is written `__pin`."""
    for owner in (variable.type, *variable.type.split(".")):
        prefix = f"_{owner.lstrip('_')}__"
        if variable.name.startswith(prefix):
            return variable.name[len(prefix) - 2 :]
    return variable.name


# ---- containers ----


def _container(variable: Variable, accesses: tuple[Access, ...], sources: Sources) -> Called:
    text = next(_expressions(variable, accesses, sources), "")
    at = "" if text else f" at {variable.address:#x}"
    whole = f"the {variable.type} {text}" if text else f"the {variable.type}{at}"
    short = text or variable.type
    if variable.kind == "contents":
        return Called(short, whole + created(variable))
    item = f"item {_cut(variable.name)}" if variable.name else "an item"
    return Called(short, f"{item} of {whole}{created(variable)}")


def _expressions(
    variable: Variable, accesses: tuple[Access, ...], sources: Sources
) -> Iterator[str]:
    for access in accesses:
        node = _expression(variable, access, sources)
        if node is not None:
            yield _cut(_with_class(ast.unparse(node), access, sources))


def _expression(variable: Variable, access: Access, sources: Sources) -> ast.expr | None:
    """What stands for the object in the source of an access."""
    file = access.place.file
    found = sources.nodes_at(file, access.line, access.column)
    for node in found:
        if isinstance(node, ast.Attribute):
            is_inside = variable.kind == "attribute" or sources.is_called(file, node)
            return node.value if is_inside else node
        if isinstance(node, ast.Subscript):
            return node.value if _is_subscripted(node, access) else node
    plain = [node for node in found if not sources.is_called(file, node)]
    names = [node for node in plain if isinstance(node, ast.Name)]
    return (names or plain or [None])[0]


def _is_subscripted(node: ast.Subscript, access: Access) -> bool:
    """Is the access to the container of an item, and not to an item that is a container itself,
    as in `len(table[key])`?"""
    if access.mode.startswith("item") or not isinstance(node.ctx, ast.Load):
        return True
    index = node.slice
    is_negative = isinstance(index, ast.UnaryOp) and isinstance(index.op, ast.USub)
    return isinstance(index, ast.Slice) or is_negative


def _with_class(text: str, access: Access, sources: Sources) -> str:
    """In a method of Cache, `self.items` is Cache.items."""
    place = access.place
    classes = [each for each in sources.scopes(place.file, place.line) if _is_class(each)]
    for owner in classes[-1:]:
        for own in ("self.__class__", "type(self)", "self", "cls"):
            if text == own or text.startswith(f"{own}."):
                return f"{getattr(owner, 'name', own)}{text[len(own) :]}"
    return text


def _is_class(scope: Scope) -> bool:
    return isinstance(scope, ast.ClassDef)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


# ---- closures ----


def _closure(variable: Variable, accesses: tuple[Access, ...], sources: Sources) -> Called:
    for access in accesses:
        owner = _owner(variable.name, access, sources)
        if owner:
            full = f"variable {variable.name} of function {owner}, shared by the functions in it"
            return Called(f"{owner}.{variable.name}", full)
    return Called(variable.name, f"closure variable {variable.name}")


def _owner(name: str, access: Access, sources: Sources) -> str:
    """The function whose local variable it is, as seen from inside."""
    place = access.place
    scopes = sources.scopes(place.file, place.line)
    tables = _tables(sources, place.file)
    for depth in range(len(scopes) - 1, -1, -1):
        table = tables.get(_named(scopes[depth]))
        if table is not None and _binds(table, name):
            return ".".join(_named(each)[0] for each in scopes[: depth + 1])
    return ""


def _named(scope: Scope) -> tuple[str, int]:
    return getattr(scope, "name", "lambda"), scope.lineno


def _tables(sources: Sources, file: str) -> dict[tuple[str, int], symtable.SymbolTable]:
    if not sources.has_tree(file):
        return {}
    pending = [symtable.symtable(sources.text(file), file, "exec")]
    tables = {}
    while pending:
        table = pending.pop()
        tables[table.get_name(), table.get_lineno()] = table
        pending += table.get_children()
    return tables


def _binds(table: symtable.SymbolTable, name: str) -> bool:
    if table.get_type() != "function":
        return False
    try:
        symbol = table.lookup(name)
    except KeyError:
        return False
    return symbol.is_local() and not symbol.is_free()
