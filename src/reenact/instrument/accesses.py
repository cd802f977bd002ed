"""Accesses: puts a site before everything in a source file that reads or writes what threads share.

Owns where sites stand; what one looks like: `sites.py`. A site is a constant: `SITE[a].b` for
`a.b`; `SITE @ value` where Python would warn of a subscript or fold it; `-SITE` where there is no
value, as before a global is read: `-SITE and G`.

A site comes right before its access, after all operands that can themselves hold a point, and after
the key of an item. If some come after the object, the site goes around the last of them and finds
the object on the interpreter's stack, *depth* places down: `a[SITE[f(i)]]`. In `a.b += c` a second
site, `SITE1[a].b += SITE2[c]`, comes between the read and the write.

Each instruction put in bears the position of the one it precedes, as ticks do: line events and
tracebacks stay those of the untouched program. Works after the ticks were placed, from the
outside in, with a stack of its own.

Left out on purpose: comparisons and arithmetic of whole containers; `getattr`, `setattr` and other
functions of C that are not in `containers.py`; the store of `for G in`, `with
x as G` and `except E as G`, which is told right after it happened; what a pattern of `match`
reads.
"""

from __future__ import annotations

import _ast
from _ast import AST

from reenact.instrument.containers import (
    CONSUMERS,
    ITERATING,
    KEYED,
    METHODS,
    changes_argument,
    consumed_by,
    is_nobodys,
)
from reenact.instrument.places import before, first_place, last_place
from reenact.instrument.rewrite import position
from reenact.instrument.scopes import COMPREHENSIONS, Names, slots, viewed
from reenact.instrument.sites import (
    ATTRIBUTE,
    CLOSURE,
    CONTENTS,
    GLOBAL,
    ITEM,
    MEMBER,
    METHOD,
    MOST_OPERANDS,
    TURN,
    Sites,
    is_constant_name,
    operands,
    wrap,
    wrap_operand,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from reenact.instrument.places import Place
    from reenact.instrument.scopes import Scope

_VARIABLES = {"global": GLOBAL, "closure": CLOSURE}
_COMMUTING = (_ast.Add, _ast.BitOr)  # `+=` of a list and `|=` of a set only add to it


def insert_accesses(tree: _ast.Module) -> None:
    """Put sites into *tree*, which has its ticks already."""
    _Rewriter(Names(tree)).rewrite(tree)


class _Rewriter:
    def __init__(self, names: Names) -> None:
        self.names = names
        self.scope: Scope  # that of the node being looked at
        self.site = Sites().site
        self.pairs = 0
        self.done: set[int] = set()  # nodes whose own access an outer node has dealt with
        self.inserted: list[tuple[_ast.stmt, _ast.stmt]] = []  # what to put before which statement
        self.handlers = {
            _ast.Attribute: self._attribute,
            _ast.Subscript: self._item,
            _ast.Call: self._call,
            _ast.Compare: self._compare,
            _ast.Starred: self._starred,
            _ast.Dict: self._dict,
            _ast.YieldFrom: self._yield_from,
            _ast.For: self._for,
            _ast.AsyncFor: self._async_for,
            _ast.With: self._with,
            _ast.AsyncWith: self._with,
            _ast.ExceptHandler: self._binding_head,
            _ast.If: self._test,
            _ast.While: self._test,
            _ast.IfExp: self._test,
            _ast.Assert: self._test,
            _ast.UnaryOp: self._not,
            _ast.BoolOp: self._bool,
            _ast.Assign: self._assign,
            _ast.AnnAssign: self._annotated,
            _ast.NamedExpr: self._walrus,
            _ast.AugAssign: self._augmented,
            _ast.Delete: self._delete,
            _ast.Import: self._binding,
            _ast.ImportFrom: self._binding,
            _ast.FunctionDef: self._binding,
            _ast.AsyncFunctionDef: self._binding,
            _ast.ClassDef: self._binding,
        } | dict.fromkeys(COMPREHENSIONS, self._comprehension)

    def rewrite(self, tree: _ast.Module) -> None:
        pending: list[tuple[Any, Scope]] = [(tree, self.names.scopes[id(tree)])]
        while pending:
            node, self.scope = pending.pop()
            handler = self.handlers.get(type(node))
            if handler is not None:
                handler(node)
            inner = self.names.scopes.get(id(node), self.scope)
            for holder, field, index, child, outside in slots(node):
                scope = self.scope if outside else inner
                if not self._read_variable(holder, field, index, child, scope):
                    pending.append((child, scope))
        _insert(tree, self.inserted)

    def _pair(self) -> int:
        self.pairs += 1
        return self.pairs

    def _is_trivial(self, node: Any) -> bool:
        """Can *node* hold no point, however it is evaluated?"""
        if isinstance(node, _ast.Name):
            return not self.names.variable(self.scope, self.scope.mangled(node.id))
        if isinstance(node, _ast.UnaryOp):
            return isinstance(node.operand, _ast.Constant)
        if isinstance(node, _ast.Tuple):
            return all(map(self._is_trivial, node.elts))
        if isinstance(node, _ast.Slice):
            return all(map(self._is_trivial, (node.lower, node.upper, node.step)))
        return node is None or isinstance(node, _ast.Constant)

    def _is_unshared(self, node: AST) -> bool:
        """Is *node* a value, or the view of one, that no other thread can reach?"""
        if is_nobodys(node) or self.names.is_private(self.scope, node):
            return True
        return any(self.names.is_private(self.scope, each) for each in viewed(node))

    # Attributes, items and calls.

    def _attribute(self, node: Any) -> None:
        if id(node) in self.done or is_nobodys(node.value) or _is_super(node.value):
            return
        writes = not isinstance(node.ctx, _ast.Load)
        name = self.scope.mangled(node.attr)
        site = self.site(ATTRIBUTE, node, name, writes=writes)
        node.value = wrap(site, node.value, last_place(node))

    def _item(self, node: Any, pair: int = 0) -> None:
        """With a *pair*, the read of an augmented assignment. The key lies in the site's hand."""
        if id(node) in self.done or self._is_unshared(node.value):
            return
        writes = not pair and not isinstance(node.ctx, _ast.Load)
        deletes = isinstance(node.ctx, _ast.Del)
        site = self.site(ITEM, node, writes=writes, deletes=deletes, pair=pair, depth=1)
        node.slice = wrap(site, node.slice, position(node))

    def _call(self, node: Any) -> None:
        if isinstance(node.func, _ast.Attribute) and node.func.attr in METHODS:
            self._method(node)
        elif changes_argument(node.func):
            self._argument(node, writes=True)
        elif self._is_consumer(node.func):
            self._argument(node, consumed_by(node.func.id))
        for keyword in node.keywords:
            if keyword.arg is None:
                keyword.value = self._contents(keyword.value, "keys")

    def _method(self, node: Any) -> None:
        func = node.func
        self.done.add(id(func))
        if func.attr in ITERATING and node.args and not isinstance(node.args[0], _ast.Starred):
            node.args[0] = self._contents(node.args[0])
        if self._is_unshared(func.value):
            return
        last = self._last_operand(node)
        if last is None and func.attr in KEYED and _has_plain_operands(node) and node.args:
            last = 0
        site = self.site(
            METHOD, func, func.attr, writes=METHODS[func.attr], remembers=last is not None
        )
        func.value = wrap(site, func.value, last_place(func))
        if last is not None:
            site = self.site(METHOD, func, func.attr, writes=METHODS[func.attr], depth=last + 1)
            wrap_operand(node, last, site)

    def _is_consumer(self, func: Any) -> bool:
        if not isinstance(func, _ast.Name) or func.id not in CONSUMERS:
            return False
        return self.names.is_builtin(self.scope, func.id)

    def _argument(self, node: Any, asks: str = "", writes: bool = False) -> None:
        """A function that reads or writes the contents of its first argument."""
        is_plain = node.args and not isinstance(node.args[0], _ast.Starred)
        if not is_plain or self._is_unshared(node.args[0]):
            return
        last = self._last_operand(node) or 0
        site = self.site(CONTENTS, node.args[0], asks, writes=writes, depth=last)
        wrap_operand(node, last, site)

    def _last_operand(self, node: _ast.Call) -> int | None:
        """The last operand of a plain call that can hold a point."""
        if not _has_plain_operands(node):
            return None
        return _last(not self._is_trivial(each) for each in operands(node))

    # Contents of containers.

    def _contents(self, node: Any, asks: str = "__iter__", place: Place | None = None) -> Any:
        """*node* with a site around it; *asks* is the method by which its contents are asked for.

        Loops and tests go by the position of what they have."""
        if self._is_unshared(node) or is_constant_name(node):
            return node
        return wrap(self.site(CONTENTS, node, asks), node, place or last_place(node))

    def _compare(self, node: Any) -> None:
        for number, op in enumerate(node.ops):
            if isinstance(op, (_ast.In, _ast.NotIn)):
                node.comparators[number] = self._member(node.comparators[number])

    def _member(self, node: Any) -> Any:
        """What is looked for lies right below on the stack."""
        if self._is_unshared(node) or is_constant_name(node):
            return node
        return wrap(self.site(MEMBER, node, "__contains__", depth=0), node, last_place(node))

    def _starred(self, node: Any) -> None:
        if isinstance(node.ctx, _ast.Load):
            node.value = self._contents(node.value)

    def _dict(self, node: Any) -> None:
        for number, key in enumerate(node.keys):
            if key is None:
                node.values[number] = self._contents(node.values[number], "keys")

    def _yield_from(self, node: Any) -> None:
        node.value = self._contents(node.value)

    def _comprehension(self, node: Any) -> None:
        """From the last loop to the first: what a turn evaluates has its own sites by then."""
        inner, outer = self.names.scopes[id(node)], self.scope
        for number, each in reversed(list(enumerate(node.generators))):
            self.scope = inner if number else outer
            is_walk = not each.is_async and not self._is_range(each.iter)
            is_shared = is_walk and not self._is_unshared(each.iter)
            if is_walk:
                each.iter = self._contents(each.iter, place=position(each.iter))
            self.scope = inner
            each.ifs[:] = [self._tested(test) for test in each.ifs]
            if is_shared:
                self._turn(node, number)
        self.scope = outer

    def _turn(self, node: Any, number: int) -> None:
        """A site around what a turn evaluates first: by then the iterator lies on the stack."""
        iterator = node.generators[number].iter
        tests, inner = node.generators[number].ifs, node.generators[number + 1 :]
        if tests:
            tests[0] = self._after_turn(iterator, tests[0])
        elif inner:
            inner[0].iter = self._after_turn(iterator, inner[0].iter)
        elif isinstance(node, _ast.DictComp):
            node.key = self._after_turn(iterator, node.key)
        else:
            node.elt = self._after_turn(iterator, node.elt)

    def _after_turn(self, iterator: Any, value: Any) -> Any:
        return wrap(self.site(TURN, iterator), value, last_place(value))

    def _for(self, node: Any) -> None:
        if not self._is_range(node.iter) and not self._is_unshared(node.iter):
            node.body.insert(1, before(self.site(TURN, node.iter), position(node.body[0])))
            node.iter = self._contents(node.iter, place=position(node.iter))
        self._async_for(node)

    def _is_range(self, node: AST) -> bool:
        if not isinstance(node, _ast.Call) or not isinstance(node.func, _ast.Name):
            return False
        return node.func.id == "range" and self.names.is_builtin(self.scope, "range")

    # Truth.

    def _test(self, node: Any) -> None:
        node.test = self._tested(node.test)

    def _not(self, node: Any) -> None:
        if isinstance(node.op, _ast.Not):
            node.operand = self._tested(node.operand)

    def _bool(self, node: Any) -> None:
        """All but the last are tested; the last is where the whole is."""
        node.values[:-1] = [self._tested(each) for each in node.values[:-1]]

    def _tested(self, node: Any) -> Any:
        if isinstance(node, (_ast.Name, _ast.Attribute)):
            return self._contents(node, "__len__", position(node))
        if isinstance(node, _ast.BoolOp):
            node.values[-1] = self._tested(node.values[-1])
        return node

    # Globals and closures.

    def _read_variable(self, holder: Any, field: str, index: int, node: Any, scope: Scope) -> bool:
        """If *node* reads a shared variable, put a site before it."""
        if not isinstance(node, _ast.Name) or not isinstance(node.ctx, _ast.Load):
            return False
        name = scope.mangled(node.id)
        kind = self.names.variable(scope, name)
        if not kind:
            return False
        point = before(self.site(_VARIABLES[kind], node, name), position(node)).value
        value = _ast.BoolOp(_ast.And(), [point, node], **position(node))
        if index < 0:
            setattr(holder, field, value)
        else:
            getattr(holder, field)[index] = value
        return True

    def _stored(self, target: Any) -> list[Any]:
        """The names in *target* of shared variables."""
        if isinstance(target, (_ast.Tuple, _ast.List)):
            return [name for each in target.elts for name in self._stored(each)]
        if isinstance(target, _ast.Starred):
            return self._stored(target.value)
        return [target] if isinstance(target, _ast.Name) and self._kind(target.id) else []

    def _kind(self, name: str) -> str:
        """ "global" or "closure" if binding *name* here is an access."""
        name = self.scope.mangled(name)
        kind = self.names.variable(self.scope, name)
        is_first = self.scope.parent is None and name not in self.scope.rebound
        return "" if is_first else kind

    def _store(self, name: str, node: Any, **more: Any) -> str:
        kind = _VARIABLES[self._kind(name)]
        return self.site(kind, node, self.scope.mangled(name), writes=True, **more)

    def _assign(self, node: Any) -> None:
        if any(map(_unpacks, node.targets)):
            node.value = self._contents(node.value)
        for target in node.targets:
            for name in self._stored(target):
                node.value = wrap(self._store(name.id, name), node.value, position(name))

    def _annotated(self, node: Any) -> None:
        if node.value is None:
            self.done.add(id(node.target))
            return
        for name in self._stored(node.target):
            node.value = wrap(self._store(name.id, name), node.value, position(name))

    def _walrus(self, node: Any) -> None:
        for name in self._stored(node.target):
            node.value = wrap(self._store(name.id, name), node.value, position(node))

    def _delete(self, node: Any) -> None:
        for target in node.targets:
            for name in self._stored(target):
                self.inserted.append((node, before(self._store(name.id, name), first_place(node))))

    def _binding(self, node: Any) -> None:
        """A definition or an import that binds a shared variable."""
        if getattr(node, "module", None) == "__future__":
            return
        own = [node.name] if hasattr(node, "name") else _imported(node)
        for name in own:
            if self._kind(name):
                self.inserted.append((node, before(self._store(name, node), first_place(node))))

    def _async_for(self, node: Any) -> None:
        self._head(node, self._stored(node.target))

    def _with(self, node: Any) -> None:
        targets = [each.optional_vars for each in node.items]
        self._head(node, [name for each in targets for name in self._stored(each)])

    def _head(self, node: Any, names: list[Any]) -> None:
        sites = [before(self._store(name.id, name), position(name)) for name in names]
        node.body[:0] = sites

    def _binding_head(self, node: Any) -> None:
        if node.name and self._kind(node.name):
            place = first_place(node.body[0])
            node.body.insert(0, before(self._store(node.name, node), place))

    # Augmented assignments.

    def _augmented(self, node: Any) -> None:
        target = node.target
        self.done.add(id(target))
        if isinstance(target, _ast.Name):
            self._augmented_name(node)
            return
        pair = self._pair()
        commutes = isinstance(node.op, _COMMUTING)
        if isinstance(target, _ast.Attribute):
            name = self.scope.mangled(target.attr)
            read = self.site(ATTRIBUTE, target, name, pair=pair)
            target.value = wrap(read, target.value, last_place(target))
            kind, depth = ATTRIBUTE, 2
        elif self._is_unshared(target.value):
            return
        else:
            name, kind, depth = "", ITEM, 3
            self.done.discard(id(target))
            self._item(target, pair)
            self.done.add(id(target))
        write = self.site(
            kind,
            target,
            name,
            writes=True,
            augments=True,
            commutes=commutes,
            depth=depth,
            pair=pair,
        )
        node.value = wrap(write, node.value, position(node))

    def _augmented_name(self, node: Any) -> None:
        target = node.target
        name = self.scope.mangled(target.id)
        kind = self.names.variable(self.scope, name)
        commutes = isinstance(node.op, _COMMUTING)
        if kind:
            pair = self._pair()
            read = self.site(_VARIABLES[kind], target, name, pair=pair)
            self.inserted.append((node, before(read, position(target))))
            write = self.site(
                _VARIABLES[kind],
                target,
                name,
                writes=True,
                augments=True,
                commutes=commutes,
                pair=pair,
            )
            node.value = wrap(write, node.value, position(node))
        elif not isinstance(node.value, (_ast.Constant, _ast.JoinedStr)):
            site = self.site(CONTENTS, target, writes=True, commutes=commutes, depth=1)
            node.value = wrap(site, node.value, position(node))


def _insert(tree: AST, inserted: list[tuple[_ast.stmt, _ast.stmt]]) -> None:
    """Put each statement of *inserted* before its own, wherever that stands."""
    wanted: dict[int, list[_ast.stmt]] = {}
    for statement, new in inserted:
        wanted.setdefault(id(statement), []).append(new)
    pending: list[Any] = [tree] if wanted else []
    while pending:
        node = pending.pop()
        for field in ("body", "handlers", "orelse", "finalbody", "cases"):
            block = getattr(node, field, None)
            if isinstance(block, list):
                block[:] = [new for each in block for new in (*wanted.get(id(each), ()), each)]
                pending += block


def _is_super(node: AST) -> bool:
    """`super().x` reads a class, and Python has instructions of its own for it."""
    return (
        isinstance(node, _ast.Call) and isinstance(node.func, _ast.Name) and node.func.id == "super"
    )


def _has_plain_operands(node: Any) -> bool:
    """Do the operands of a call lie on the stack one by one?"""
    starred = any(isinstance(each, _ast.Starred) for each in node.args)
    packed = any(each.arg is None for each in node.keywords)
    return not starred and not packed and len(operands(node)) <= MOST_OPERANDS


def _last(flags: Iterable[bool]) -> int | None:
    numbers = [number for number, flag in enumerate(flags) if flag]
    return numbers[-1] if numbers else None


def _unpacks(target: AST) -> bool:
    return isinstance(target, (_ast.Tuple, _ast.List))


def _imported(node: Any) -> list[str]:
    return [each.asname or each.name.partition(".")[0] for each in node.names]
