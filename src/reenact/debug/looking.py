"""What an expression or a variable looks like, in a frame of the program. Runs in a copy of it."""

from __future__ import annotations

import ast
import builtins
import io
import pprint
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout
from itertools import islice
from types import FrameType, TracebackType
from typing import Any

from reenact.debug.frames import OURS
from reenact.debug.writes import arguments_of

LONGEST = 10_000  # characters of a text that is shown
MOST_CHILDREN = 200
_HARMLESS = (
    ast.Expression,
    ast.Name,
    ast.Attribute,
    ast.Subscript,
    ast.Constant,
    ast.Slice,
    ast.Tuple,
    ast.List,
    ast.Dict,
    ast.Set,
    ast.BinOp,
    ast.UnaryOp,
    ast.BoolOp,
    ast.Compare,
    ast.IfExp,
    ast.JoinedStr,
    ast.FormattedValue,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
    ast.comprehension,
    ast.keyword,
    ast.expr_context,
    ast.operator,
    ast.unaryop,
    ast.boolop,
    ast.cmpop,
)
_ONLY_LOOK = frozenset(
    (
        *("abs", "all", "any", "bool", "callable", "dir", "enumerate", "float", "format"),
        *("getattr", "hasattr", "hash", "hex", "id", "int", "isinstance", "issubclass", "len"),
        *("list", "max", "min", "ord", "range", "repr", "reversed", "round", "set", "sorted"),
        *("str", "sum", "tuple", "type", "vars", "zip"),
    )
)


def shown(value: object, pretty: bool = False) -> str:
    """As a person would see it; an object whose own repr fails is still an object."""
    try:
        text = pprint.pformat(value) if pretty else repr(value)
    except Exception as error:
        text = f"<{type(value).__name__} at {id(value):#x}: its repr raised {error!r}>"
    return text if len(text) <= LONGEST else text[:LONGEST] + "..."


def evaluate(text: str, frame: FrameType, pretty: bool) -> dict[str, Any]:
    """The value of an expression; a statement is carried out, and has none."""
    names = {**frame.f_globals, **frame.f_locals}
    try:
        tree: ast.Module | ast.Expression
        try:
            tree = ast.parse(text.strip(), "<typed>", "eval")
        except SyntaxError:
            tree = ast.parse(text, "<typed>", "exec")
        changes = not all(_is_harmless(each, names) for each in _nodes(tree))
        printed = io.StringIO()
        with redirect_stdout(printed):
            if isinstance(tree, ast.Module):
                exec(compile(tree, "<typed>", "exec"), names)
                return {"value": None, "changes": changes, "printed": printed.getvalue()}
            value = eval(compile(tree, "<typed>", "eval"), names)
    except BaseException as error:
        return {"raised": type(error).__name__, "message": str(error), "changes": False}
    return {
        "value": shown(value, pretty),
        "type": type(value).__name__,
        "children": has_children(value),
        "changes": changes,
        "printed": printed.getvalue(),
    }


def _nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """As `ast.walk`, which imports when it is called, maybe what the program has not finished."""
    todo = [tree]
    while todo:
        node = todo.pop()
        yield node
        todo.extend(ast.iter_child_nodes(node))


def _is_harmless(node: ast.AST, names: dict[str, Any]) -> bool:
    """Whether it only looks, as far as can be told without a look at the program's own methods."""
    if not isinstance(node, ast.Call):
        return isinstance(node, _HARMLESS)
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    is_builtin = names.get(name, getattr(builtins, name, None)) is getattr(builtins, name, None)
    return name in _ONLY_LOOK and is_builtin


def has_children(value: object) -> bool:
    return next(children(value), None) is not None


def children(value: Any) -> Iterator[tuple[str, object]]:
    """Attributes and items that a value consists of, by the name an expression would use. Methods
    of its own are not called: they may do anything, and fail."""
    kind = type(value)
    if issubclass(kind, (str, bytes, int, float, complex, bool, type(None))):
        return
    if issubclass(kind, dict):
        yield from ((f"[{shown(key)}]", item) for key, item in list(dict.items(value)))
        return
    for held, form in ((list, "[{}]"), (tuple, "[{}]"), (set, "{{{}}}"), (frozenset, "{{{}}}")):
        if issubclass(kind, held):
            yield from ((form.format(at), each) for at, each in enumerate(held.__iter__(value)))
            return
    for name in _attributes(value):
        try:
            yield f".{name}", object.__getattribute__(value, name)
        except Exception:
            continue


def _attributes(value: object) -> Iterator[str]:
    try:
        own = object.__getattribute__(value, "__dict__")
    except Exception:
        own = None
    if isinstance(own, dict) and not issubclass(type(value), type):
        yield from (name for name in list(own) if isinstance(name, str))
    for kind in type(value).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__"):
                mangled = name.startswith("__") and not name.endswith("__")
                yield f"_{kind.__name__.lstrip('_')}{name}" if mangled else name


def variables(frame: FrameType, scope: str, path: list[int], text: str = "") -> dict[str, Any]:
    """The variables of a scope, or the children of one of them: `path` has the place of each. The
    one variable of the scope "expression" is the value of an expression."""
    if scope == "expression":
        found = [(text, eval(text.strip(), {**frame.f_globals, **frame.f_locals}))]
    else:
        names: Mapping[str, object] = frame.f_locals if scope == "locals" else frame.f_globals
        found = [(name, value) for name, value in names.items() if _is_shown(name)]
    for place in path:
        found = list(islice(children(found[place][1]), MOST_CHILDREN))
    return {
        "variables": [
            {
                "name": name,
                "value": shown(value),
                "type": type(value).__name__,
                "children": has_children(value),
            }
            for name, value in found
        ]
    }


def failure() -> dict[str, Any]:
    """The exception that is handled, in words."""
    error = sys.exception()
    if error is None:
        return {}
    kind = type(error)
    module = "" if kind.__module__ in ("builtins", "__main__") else f"{kind.__module__}."
    try:
        message = str(error)
    except Exception as another:
        message = f"(its str raised {another!r})"
    try:
        trace = "".join(traceback.format_exception(kind, error, _theirs(error.__traceback__)))
    except Exception:
        trace = ""
    return {"kind": f"{module}{kind.__qualname__}", "message": message, "trace": trace}


def _theirs(trace: TracebackType | None) -> TracebackType | None:
    """Without our own frames on top."""
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith(OURS):
        trace = trace.tb_next
    return trace


def _is_shown(name: str) -> bool:
    return name != "__builtins__"


def arguments(frame: FrameType) -> dict[str, Any]:
    local = frame.f_locals
    names = arguments_of(frame.f_code)
    return {"arguments": [[name, shown(local[name])] for name in names if name in local]}


def complete(text: str, frame: FrameType) -> dict[str, Any]:
    """What a name, or an attribute after a dot, could go on as."""
    names: dict[str, Any] = {**frame.f_globals, **frame.f_locals}
    before, dot, last = text.rpartition(".")
    if not dot:
        return {"names": sorted(each for each in names if each.startswith(last))}
    try:
        value = eval(before, names)
    except Exception:
        return {"names": []}
    return {"names": [f"{before}.{each}" for each in dir(value) if each.startswith(last)]}
