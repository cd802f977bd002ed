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

Left out on purpose: operators on containers whose names the file nowhere uses as such
(`likely.py`); the store of `for G in`, `with x as G` and `except E as G`, which is told right after
it happened; what a pattern of `match` reads beyond the contents and the named attributes of its
subject; functions of C that are not in `containers.py`; methods of containers that are passed on
before they are called; what `vars(x)` and `x.__dict__` change, which is told as contents of a dict.
"""

from __future__ import annotations

import _ast
from _ast import AST

from reenact.instrument.again import Again
from reenact.instrument.calls import Calls, is_super
from reenact.instrument.cold import Cold
from reenact.instrument.containers import is_nobodys, makes_container
from reenact.instrument.creation import creations
from reenact.instrument.escapes import Escapes
from reenact.instrument.likely import Likely
from reenact.instrument.merging import merge_ticks
from reenact.instrument.nodes import every
from reenact.instrument.places import before, first_place, last_place
from reenact.instrument.regions import Regions
from reenact.instrument.rewrite import (
    ALL,
    COLD,
    COLD_LOOKED_AT,
    HEURISTIC,
    is_tick,
    position,
)
from reenact.instrument.rewriting import BEFORE, CONSTANT, UNKNOWN, UNLIKELY, WRITTEN
from reenact.instrument.scopes import COMPREHENSIONS, Names, slots
from reenact.instrument.sites import (
    ATTRIBUTE,
    BOTH,
    CLOSURE,
    CONTENTS,
    CREATED,
    GLOBAL,
    ITEM,
    MEMBER,
    TURN,
    is_constant_name,
    wrap,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Set
    from typing import Any

    from reenact.instrument.scopes import Scope
    from reenact.instrument.sites import Sites

_VARIABLES = {"global": GLOBAL, "closure": CLOSURE}
_COMMUTING = (_ast.Add, _ast.BitOr)  # `+=` of a list and `|=` of a set only add to it

# By which methods operators ask for the contents of both their operands.
_OPERATORS = {
    _ast.Eq: "__eq__",
    _ast.NotEq: "__ne__",
    _ast.Lt: "__lt__",
    _ast.LtE: "__le__",
    _ast.Gt: "__gt__",
    _ast.GtE: "__ge__",
    _ast.Add: "__add__",
    _ast.Mult: "__mul__",
    _ast.Sub: "__sub__",
    _ast.BitOr: "__or__",
    _ast.BitAnd: "__and__",
    _ast.BitXor: "__xor__",
}


def insert_accesses(
    tree: _ast.Module, manner: str = ALL, elsewhere: Set[str] = frozenset()
) -> Sites:
    """Put sites into *tree*, which has its ticks already; what was put in, and what was not."""
    rewriter = _Rewriter(tree, manner, elsewhere)
    cold = Cold(tree, manner) if manner in (COLD, COLD_LOOKED_AT) else None
    is_alone = rewriter.is_alone
    regions = Regions(tree, rewriter.names, rewriter.escapes) if is_alone else None
    rewriter.rewrite(tree)
    if cold is not None:
        cold.split()
    if regions is not None:
        regions.insert()
        merge_ticks(tree, rewriter.names)
    return rewriter.sites


class _Rewriter(Calls):
    def __init__(self, tree: _ast.Module, manner: str, elsewhere: Set[str]) -> None:
        names = Names(tree, elsewhere)
        super().__init__(names, Likely(tree), Escapes(tree, names, manner == HEURISTIC), manner)
        self.again = Again(tree, names) if self.is_heuristic else None
        if self.is_heuristic:
            self.replaced = _set_in(tree)
        self.creations = creations(tree)
        self.unseen = {each for found in self.creations.values() for each in found.unseen}
        self.pairs = 0
        self.inserted: list[tuple[_ast.stmt, _ast.stmt]] = []  # what to put before which statement
        self.handlers = {
            _ast.Attribute: self._attribute,
            _ast.Subscript: self._item,
            _ast.Call: self.call,
            _ast.Compare: self._compare,
            _ast.BinOp: self._operator,
            _ast.FormattedValue: self._formatted,
            _ast.Match: self._match,
            _ast.match_case: self._guard,
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
            _ast.FunctionDef: self._function,
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

    # Attributes and items.

    def _attribute(self, node: Any) -> None:
        if id(node) in self.done or is_nobodys(node.value) or is_super(node.value):
            return
        if id(node) in self.unseen:
            self.sites.leave_out(ATTRIBUTE, node, self.scope.mangled(node.attr), UNKNOWN)
            return
        if self._was_told(ATTRIBUTE, node, self.scope.mangled(node.attr)):
            return
        writes = not isinstance(node.ctx, _ast.Load)
        name = self.scope.mangled(node.attr)
        deletes = isinstance(node.ctx, _ast.Del)
        site = self.site(ATTRIBUTE, node, name, writes=writes, deletes=deletes)
        node.value = wrap(site, node.value, last_place(node))

    def _was_told(self, kind: str, node: Any, name: str = "") -> bool:
        is_known = self.again is not None and id(node) in self.again.nodes
        if is_known:
            self.sites.leave_out(kind, node, name, BEFORE)
        return is_known

    def _function(self, node: Any) -> None:
        """A constructor begins with a site that tells of the new object, a finalizer with one that
        tells of its end."""
        self._binding(node)
        creation = self.creations.get(id(node))
        if creation is not None and creation.object:
            names = " ".join(creation.names)
            site = self.site(CREATED, node, names, writes=creation.leaks_early)
            _begin_with(node, site, creation.object)
        elif node.name == "__del__" and self.scope.is_class and _first_parameter(node):
            site = self.site(CREATED, node, "__del__", deletes=True)
            _begin_with(node, site, _first_parameter(node))

    def _item(self, node: Any, pair: int = 0) -> None:
        """With a *pair*, the read of an augmented assignment. The key lies in the site's hand."""
        if id(node) in self.done or self.is_left_out(ITEM, node, node.value):
            return
        if self._was_told(ITEM, node):
            return
        writes = not pair and not isinstance(node.ctx, _ast.Load)
        deletes = isinstance(node.ctx, _ast.Del)
        site = self.site(ITEM, node, writes=writes, deletes=deletes, pair=pair, depth=1)
        node.slice = wrap(site, node.slice, position(node))

    # Contents of containers.

    def _compare(self, node: Any) -> None:
        left = node.left
        for number, op in enumerate(node.ops):
            right = node.comparators[number]
            if isinstance(op, (_ast.In, _ast.NotIn)):
                node.comparators[number] = self._member(right)
            elif type(op) in _OPERATORS:
                node.comparators[number] = self._both(left, right, op)
            left = right

    def _operator(self, node: Any) -> None:
        if isinstance(node.op, _ast.Mod) and _is_text(node.left):
            self._formatted_by(node)
        elif type(node.op) in _OPERATORS:
            node.right = self._both(node.left, node.right, node.op)

    def _both(self, left: AST, right: Any, op: AST) -> Any:
        """Two operands, of which the first lies below the site on the stack."""
        asks = _OPERATORS[type(op)]
        sides = [each for each in (left, right) if not self.is_unshared(each)]
        is_constant = isinstance(left, _ast.Constant) or isinstance(right, _ast.Constant)
        if is_constant or not any(map(self.likely.holds, sides)):
            return right
        if len(sides) == 2:
            site = self.site(BOTH, right, asks)
        else:
            site = self.site(CONTENTS, sides[0], asks, depth=int(sides[0] is left))
        return wrap(site, right, last_place(right))

    def _formatted(self, node: Any) -> None:
        node.value = self.contents(node.value, "__repr__")

    def _formatted_by(self, node: Any) -> None:
        """`"%s" % x`, or `"%s %s" % (x, y)`."""
        if isinstance(node.right, _ast.Tuple):
            elements = node.right.elts
            elements[:] = [self.contents(each, "__repr__") for each in elements]
        else:
            node.right = self.contents(node.right, "__repr__")

    def _match(self, node: Any) -> None:
        """Patterns themselves cannot hold sites: what the subject holds is told before them."""
        patterns = [each for case in node.cases for each in _alternatives(case.pattern)]
        place = last_place(node.subject)
        if any(isinstance(each, (_ast.MatchSequence, _ast.MatchMapping)) for each in patterns):
            node.subject = self.contents(node.subject)
        classes = [each for each in patterns if isinstance(each, _ast.MatchClass)]
        for name in dict.fromkeys(name for each in classes for name in each.kwd_attrs):
            site = self.site(ATTRIBUTE, node.subject, self.scope.mangled(name))
            node.subject = wrap(site, node.subject, place)

    def _member(self, node: Any) -> Any:
        """What is looked for lies right below on the stack."""
        if is_constant_name(node) or self.is_left_out(MEMBER, node, node):
            return node
        return wrap(self.site(MEMBER, node, "__contains__"), node, last_place(node))

    def _starred(self, node: Any) -> None:
        if isinstance(node.ctx, _ast.Load):
            node.value = self.contents(node.value)

    def _dict(self, node: Any) -> None:
        for number, key in enumerate(node.keys):
            if key is None:
                node.values[number] = self.contents(node.values[number], "keys")

    def _yield_from(self, node: Any) -> None:
        node.value = self.contents(node.value)

    def _comprehension(self, node: Any) -> None:
        """From the last loop to the first: what a turn evaluates has its own sites by then."""
        inner, outer = self.names.scopes[id(node)], self.scope
        for number, each in reversed(list(enumerate(node.generators))):
            self.scope = inner if number else outer
            is_walk = not each.is_async and not self.names.is_range(self.scope, each.iter)
            is_shared = is_walk and not self.is_unshared(each.iter)
            if is_walk:
                each.iter = self.contents(each.iter, place=position(each.iter))
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
        is_range = self.names.is_range(self.scope, node.iter)
        if not is_range and not self.is_left_out(CONTENTS, node.iter, node.iter):
            if self.again is not None and id(node) in self.again.loops:
                self.sites.leave_out(TURN, node.iter, "", BEFORE)
            else:
                node.body.insert(1, before(self.site(TURN, node.iter), position(node.body[0])))
            node.iter = self.contents(node.iter, place=position(node.iter))
        self._async_for(node)

    # Truth.

    def _test(self, node: Any) -> None:
        node.test = self._tested(node.test)

    def _guard(self, node: Any) -> None:
        node.guard = node.guard and self._tested(node.guard)

    def _not(self, node: Any) -> None:
        if isinstance(node.op, _ast.Not):
            node.operand = self._tested(node.operand)

    def _bool(self, node: Any) -> None:
        """All but the last are tested; the last is where the whole is."""
        node.values[:-1] = [self._tested(each) for each in node.values[:-1]]

    def _tested(self, node: Any) -> Any:
        if isinstance(node, (_ast.Name, _ast.Attribute, _ast.Subscript, _ast.NamedExpr)):
            if self._is_unlikely(node):
                return node
            return self.contents(node, "__len__", position(node))
        if isinstance(node, _ast.BoolOp):
            node.values[-1] = self._tested(node.values[-1])
        return node

    def _is_unlikely(self, node: Any) -> bool:
        """On trust: what the file nowhere uses like a container is none."""
        is_unlikely = self.is_heuristic and not self.likely.holds(node)
        if is_unlikely:
            self.sites.leave_out(CONTENTS, node, "", UNLIKELY)
        return is_unlikely

    # Globals and closures.

    def _read_variable(self, holder: Any, field: str, index: int, node: Any, scope: Scope) -> bool:
        """If *node* reads a shared variable, put a site before it."""
        if not isinstance(node, _ast.Name) or not isinstance(node.ctx, _ast.Load):
            return False
        name = scope.mangled(node.id)
        kind = self.names.variable(scope, name)
        if not kind:
            self._note_constant(node, name, scope)
            return False
        point = before(self.site(_VARIABLES[kind], node, name), position(node)).value
        value = _ast.BoolOp(_ast.And(), [point, node], **position(node))
        if index < 0:
            setattr(holder, field, value)
        else:
            getattr(holder, field)[index] = value
        return True

    def _note_constant(self, node: Any, name: str, scope: Scope) -> None:
        owner = scope.owner(name)
        is_foreign = owner.function is not scope.function and not owner.is_class
        if is_foreign and name in owner.bindings:
            kind = GLOBAL if owner.parent is None else CLOSURE
            self.sites.leave_out(kind, node, name, CONSTANT)

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

    def _made(self, node: Any, targets: list[Any]) -> None:
        """A container that others may come to know is told of when it is made."""
        if makes_container(node.value) and any(map(self._outlives, targets)):
            site = self.site(CREATED, node.value)
            node.value = wrap(site, node.value, last_place(node.value))

    def _outlives(self, target: AST) -> bool:
        if isinstance(target, _ast.Name):
            return self.names.outlives(self.scope, self.scope.mangled(target.id))
        return isinstance(target, _ast.Attribute)

    def _assign(self, node: Any) -> None:
        self._made(node, node.targets)
        if any(map(_unpacks, node.targets)):
            node.value = self.contents(node.value)
        for target in node.targets:
            for name in self._stored(target):
                node.value = wrap(self._store(name.id, name), node.value, position(name))

    def _annotated(self, node: Any) -> None:
        if node.value is None:
            self.done.add(id(node.target))
            return
        self._made(node, [node.target])
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
        commutes = isinstance(node.op, _COMMUTING)
        if id(target) in self.unseen:
            self.sites.leave_out(ATTRIBUTE, target, self.scope.mangled(target.attr), UNKNOWN)
            self._augmented_value(node, commutes)
            return
        pair = self._pair()
        if isinstance(target, _ast.Attribute):
            name = self.scope.mangled(target.attr)
            if not self._is_read_left_out(ATTRIBUTE, target, name):
                read = self.site(ATTRIBUTE, target, name, pair=pair)
                target.value = wrap(read, target.value, last_place(target))
            kind, depth = ATTRIBUTE, 2
        elif self.is_left_out(ITEM, target, target.value):
            self._augmented_value(node, commutes)  # the item may be a list that others have
            return
        else:
            name, kind, depth = "", ITEM, 3
            if not self._is_read_left_out(ITEM, target, ""):
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

    def _is_read_left_out(self, kind: str, target: Any, name: str) -> bool:
        """The detector takes the write for both."""
        if self.is_alone:
            self.sites.leave_out(kind, target, name, WRITTEN)
        return self.is_alone

    def _augmented_name(self, node: Any) -> None:
        target = node.target
        name = self.scope.mangled(target.id)
        kind = self.names.variable(self.scope, name)
        commutes = isinstance(node.op, _COMMUTING)
        if kind:
            pair = self._pair()
            if not self._is_read_left_out(_VARIABLES[kind], target, name):
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
        else:
            self._augmented_value(node, commutes)

    def _augmented_value(self, node: Any, commutes: bool) -> None:
        """A variable that nobody shares may stand for a list that others have."""
        is_text = isinstance(node.value, (_ast.Constant, _ast.JoinedStr))
        is_plain = isinstance(node.target, _ast.Name) and not self.likely.holds(node.value)
        if is_text or (is_plain and self._is_unlikely(node.target)):
            return
        if not self.is_left_out(CONTENTS, node.target, node.target):
            site = self.site(CONTENTS, node.target, writes=True, commutes=commutes, depth=1)
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


def _set_in(tree: AST) -> set[str]:
    """The names of all attributes that are set somewhere, as they stand there."""
    nodes = [node for node in every(tree) if isinstance(node, _ast.Attribute)]
    return {node.attr for node in nodes if not isinstance(node.ctx, _ast.Load)}


def _unpacks(target: AST) -> bool:
    return isinstance(target, (_ast.Tuple, _ast.List))


def _imported(node: Any) -> list[str]:
    return [each.asname or each.name.partition(".")[0] for each in node.names]


def _is_text(node: AST) -> bool:
    return isinstance(node, _ast.Constant) and isinstance(node.value, (str, bytes))


def _alternatives(pattern: Any) -> list[Any]:
    """The patterns that the subject itself is held against."""
    if isinstance(pattern, _ast.MatchOr):
        return [each for part in pattern.patterns for each in _alternatives(part)]
    if isinstance(pattern, _ast.MatchAs) and pattern.pattern is not None:
        return _alternatives(pattern.pattern)
    return [pattern]


def _first_parameter(node: Any) -> str:
    positional = [*node.args.posonlyargs, *node.args.args]
    return positional[0].arg if positional else ""


def _begin_with(node: Any, site: str, name: str) -> None:
    """After its tick, the function first tells of what it is given as *name*."""
    number = next(i for i, each in enumerate(node.body) if is_tick(each))
    place = position(node.body[number])
    value = _ast.Subscript(
        _ast.Constant(site, None, **place),
        _ast.Name(name, _ast.Load(), **place),
        _ast.Load(),
        **place,
    )
    node.body.insert(number + 1, _ast.Expr(value, **place))
