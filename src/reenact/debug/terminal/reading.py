"""What a statement reads: the names, attributes and items in its expressions, as texts.

From the source alone; only how long a list is, that a comprehension goes through, is asked for.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterable, Iterator

MOST_ITEMS = 8  # of a list that a comprehension goes through
Length = Callable[[str], int | None]  # of what an expression means; None if it is no list
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp)
_CONDITIONAL = (ast.If, ast.While)


def read_by(around: list[ast.stmt], length: Length) -> list[str]:
    """Of the first statement; the others are those around it. Whoever raises an exception did so
    because a test came out as it did: that is read, too."""
    if not around:
        return []
    expressions = _expressions(around[0])
    if isinstance(around[0], ast.Raise):
        expressions += [each.test for each in around[1:] if isinstance(each, _CONDITIONAL)][:1]
    found = (text for each in expressions for text in _operands(each, length))
    return list(dict.fromkeys(found))


def written_by(around: list[ast.stmt]) -> list[str]:
    """What the first statement assigns to."""
    statement = around[0] if around else None
    if isinstance(statement, ast.Assign):
        targets: Iterable[ast.expr] = statement.targets
    elif isinstance(statement, (ast.AugAssign, ast.AnnAssign)):
        targets = [statement.target]
    else:
        return []
    return [ast.unparse(each) for each in targets if not isinstance(each, (ast.Tuple, ast.List))]


def _expressions(statement: ast.stmt) -> list[ast.expr]:
    """Those that the statement itself evaluates; a block's statements are others."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return []
    if isinstance(statement, ast.Assert):
        return [statement.test]
    if isinstance(statement, ast.Assign):
        targets = [each for each in statement.targets if not isinstance(each, ast.Name)]
        return [statement.value, *_inner(targets)]
    if isinstance(statement, (ast.For, ast.AsyncFor)):
        return [statement.iter]
    if isinstance(statement, (ast.With, ast.AsyncWith)):
        return [each.context_expr for each in statement.items]
    return [each for each in ast.iter_child_nodes(statement) if isinstance(each, ast.expr)]


def _inner(targets: list[ast.expr]) -> list[ast.expr]:
    """What is read to find out what is written to: the keys."""
    return [each.slice for each in targets if isinstance(each, ast.Subscript)]


def _operands(node: ast.AST, length: Length) -> Iterator[str]:
    if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
        yield from _path(node, length)
    elif isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute):
            yield from _operands(node.func.value, length)
        for each in (*node.args, *node.keywords):
            yield from _operands(each, length)
    elif isinstance(node, _COMPREHENSIONS):
        yield from _unrolled(node, length)
    elif not isinstance(node, (ast.Lambda, ast.DictComp)):
        for below in ast.iter_child_nodes(node):
            yield from _operands(below, length)


def _path(node: ast.Name | ast.Attribute | ast.Subscript, length: Length) -> Iterator[str]:
    """The whole of it can be written to; of what it begins with, only that is told."""
    if _begins_with_name(node):
        yield ast.unparse(node)
    elif not isinstance(node, ast.Name):
        yield from _operands(node.value, length)
    if isinstance(node, ast.Subscript):
        yield from _operands(node.slice, length)


def _begins_with_name(node: ast.expr) -> bool:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
            return False
        node = node.value
    return isinstance(node, ast.Name)


def _unrolled(node: ast.ListComp | ast.SetComp | ast.GeneratorExp, length: Length) -> Iterator[str]:
    """`f(x.a) for x in xs` reads `xs[0].a`, `xs[1].a` and so on."""
    (first, *others) = node.generators
    count, target = None, first.target
    if not others and isinstance(target, ast.Name) and _begins_with_name(first.iter):
        count = length(ast.unparse(first.iter))
    if count is None or not isinstance(target, ast.Name):
        yield from _operands(first.iter, length)
        return
    for index in range(min(count, MOST_ITEMS)):
        item = ast.Subscript(first.iter, ast.Constant(index), ast.Load())
        for part in (node.elt, *first.ifs):
            replaced = _Replaced(target.id, item).visit(copy.deepcopy(part))
            yield from _operands(replaced, length)


class _Replaced(ast.NodeTransformer):
    """A name by an expression."""

    def __init__(self, name: str, by: ast.expr) -> None:
        self._name, self._by = name, by

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._by if node.id == self._name else node
