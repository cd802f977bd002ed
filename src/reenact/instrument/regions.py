"""Regions: code that the race detector need not look at, if its objects are this thread's own.

Owns which statements have a second version without sites, and what must hold for that to be run.
Such a region reads and writes attributes and items of objects that local names stand for, and
computes with numbers, texts and the like; it calls nothing. If, as it begins, the objects are
nobody else's and all that it computes with is of Python's own types, then no code of the program's
can run in it, so that nothing is published and nothing synchronises: there is nothing to tell.
`_core/regions.c` asks that, by the conditions that stand in the placeholder of a guard:

    v:NAME            a number, a text or the like, or unbound
    o:NAME:A,+B       an object of its own; A and B are such values; B may be missing
    l:NAME            a text, or a list of its own, of such values
    w:NAME            a list of its own, of such values
    p:NAME:I[:J]      the same as `l`, of which only item I is read, or item J of item I; others may
                      know it, if it was told that this thread has read all of it. I and J are
                      names, or `*` for what the loop runs over
    t:NAME            the variable of the loop
    s:                there are loops: longer lists are worth a look

Two shapes. A run of statements is `if -GUARD: fast else: slow`. A loop over a range that does
nothing but read lists, which others may know, is asked at each turn, in place of the tick:
`-ENTRY`, then `for i in range(n): if -TURN: fast else: -TICK; slow`. What was found at one turn
holds at the next, unless others could run.

Taken on trust, beyond what `escapes.py` does: that no finalizer or handler of a signal, which may
run in the ticks of a region's loops, hands out an object that nothing but the region has.
"""

from __future__ import annotations

import _ast
from _ast import AST

from reenact.instrument.nodes import children, compares_identity, copied
from reenact.instrument.places import first_place
from reenact.instrument.rewrite import is_tick
from reenact.instrument.sites import PREFIX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from reenact.instrument.escapes import Escapes
    from reenact.instrument.places import Place
    from reenact.instrument.scopes import Names, Scope

PIECE, TURN, ENTRY = "pqy"  # letters of kinds, as in `sites.py`
_ATOMS = (int, float, complex, str, bytes, bool, type(None))
_FUNCTIONS = {"len", "abs", "int", "float", "round", "ord", "chr", "bool", "str"}
_OF_SEVERAL = {"min", "max"}
_SITE, _GUARD, _VALUE, _OBJECT, _LIST = 7, 6, 1.2, 3, 6  # about what they cost, in ns


class _Unfit(Exception):
    """It is no region."""


class Regions:
    """The regions of a file: found before it gets its sites, put in after."""

    def __init__(self, tree: AST, names: Names, escapes: Escapes) -> None:
        self.names = names
        self.escapes = escapes
        self.count = 0
        self.found: list[_Found] = []
        pending: list[Any] = [tree]
        while pending:
            node = pending.pop()
            if isinstance(node, _ast.FunctionDef):
                self._look_into(node)
            pending += children(node)

    def _look_into(self, function: Any) -> None:
        scope = self.names.scopes[id(function)]
        try:
            self._block(function.body, scope)
        except RecursionError:  # nested very deeply
            return

    def _block(self, body: list[Any], scope: Scope) -> None:
        run: list[Any] = []
        conditions: _Conditions | None = None
        for statement in body:
            longer = None if is_tick(statement) else self._conditions([*run, statement], scope)
            if longer is not None:
                run.append(statement)
                conditions = longer
                continue
            self._keep_run(body, run, conditions)
            alone = self._conditions([statement], scope) if run and not is_tick(statement) else None
            run, conditions = ([statement], alone) if alone is not None else ([], None)
            if alone is None:
                self._inside(statement, body, scope)
        self._keep_run(body, run, conditions)

    def _keep_run(self, body: list[Any], run: list[Any], conditions: _Conditions | None) -> None:
        if conditions is not None and run:
            self.found.append(_Piece(body, run, conditions))

    def _inside(self, statement: Any, body: list[Any], scope: Scope) -> None:
        if isinstance(statement, (_ast.FunctionDef, _ast.AsyncFunctionDef, _ast.ClassDef)):
            return
        if isinstance(statement, _ast.For):
            loop = self._loop(statement, body, scope)
            if loop is not None:
                self.found.append(loop)
                return
        for field in ("body", "orelse", "finalbody"):
            self._block(getattr(statement, field, []), scope)
        for field in ("handlers", "cases"):
            for part in getattr(statement, field, ()):
                self._block(part.body, scope)

    def _loop(self, loop: Any, body: list[Any], scope: Scope) -> _Loop | None:
        conditions = _Conditions(self.names, self.escapes, scope)
        try:
            conditions.begin_loop(loop)
            for statement in loop.body:
                conditions.statement(statement)
            conditions.settle()
        except _Unfit:
            return None
        return _Loop(body, loop, conditions)

    def _conditions(self, run: list[Any], scope: Scope) -> _Conditions | None:
        conditions = _Conditions(self.names, self.escapes, scope)
        try:
            for statement in run:
                conditions.statement(statement)
            conditions.settle()
        except _Unfit:
            return None
        is_reader = conditions.has_loops and not conditions.objects
        if is_reader and conditions.paths_of_loops and not any(conditions.lists.values()):
            return None  # others may know the lists: one of the other shape
        return conditions

    def insert(self) -> None:
        """After all sites were put in."""
        for each in self.found:
            self.count = each.insert(self.count)


class _Conditions:
    """What must hold for some statements to be a region."""

    def __init__(self, names: Names, escapes: Escapes, scope: Scope) -> None:
        self.names = names
        self.escapes = escapes
        self.scope = scope
        self.target = ""
        self.values: dict[str, None] = {}
        self.objects: dict[str, dict[str, bool]] = {}  # attributes, and whether they are read
        self.lists: dict[str, bool] = {}  # and whether they are written
        self.paths: dict[tuple[str, ...], None] = {}
        self.bound: set[str] = set()
        self.has_loops = self.paths_of_loops = False
        self.words: list[str] = []

    def begin_loop(self, loop: Any) -> None:
        """The region is what a loop does at each turn; what it runs over comes before."""
        if not self.names.is_range(self.scope, loop.iter):
            raise _Unfit
        self._bind(loop.target)
        self.target = loop.target.id

    def settle(self) -> None:
        """All was looked at: what it comes to."""
        bases = {path[0] for path in self.paths}
        containers = {*self.lists, *bases}
        is_mixed = containers & self.objects.keys() or (
            (containers | self.objects.keys()) & (self.bound | self.values.keys())
        )
        if is_mixed:
            raise _Unfit
        for path in self.paths:
            for index in path[1:]:
                if index != self.target and index in self.bound:
                    self.paths_of_loops = True
                    self.lists.setdefault(path[0], False)
                    if len(path) > 2:
                        raise _Unfit
        self.words = [f"t:{self.target}"] if self.target else []
        self.words += ["s:"] if self.has_loops else []
        self.words += [f"v:{name}" for name in self.values]
        for name, attributes in self.objects.items():
            shown = [attr if is_read else f"+{attr}" for attr, is_read in attributes.items()]
            self.words.append(f"o:{name}:{','.join(shown)}")
        self.words += [f"{'w' if writes else 'l'}:{each}" for each, writes in self.lists.items()]
        for path in self.paths:
            steps = ["*" if step == self.target else step for step in path[1:]]
            if path[0] not in self.lists:
                self.words.append(":".join(["p", path[0], *steps]))
            elif len(path) > 2:
                raise _Unfit

    # Statements.

    def statement(self, node: Any) -> None:
        kind = type(node)
        if kind is _ast.Assign:
            self._assign(node)
        elif kind is _ast.AugAssign:
            self._read_target(node.target)
            self.need_atom(node.value)
            self._store(node.target)
        elif kind is _ast.AnnAssign and node.value is not None and node.simple:
            self.need_atom(node.value)
            self._store(node.target)
        elif kind is _ast.If:
            self.need_atom(node.test)
            for each in (*node.body, *node.orelse):
                self.statement(each)
        elif kind is _ast.Return:
            if node.value is not None:
                self.need_atom(node.value)
        elif kind is _ast.Expr:
            if not is_tick(node):
                self.need_atom(node.value)
        elif kind is _ast.Assert and node.msg is None:
            self.need_atom(node.test)
        elif kind is _ast.While or kind is _ast.For:
            self._loop(node)
        elif kind not in (_ast.Pass, _ast.Break, _ast.Continue):
            raise _Unfit

    def _loop(self, node: Any) -> None:
        if self.target:
            raise _Unfit
        self.has_loops = True
        if isinstance(node, _ast.While):
            self.need_atom(node.test)
        elif self.names.is_range(self.scope, node.iter) and not node.iter.keywords:
            for each in node.iter.args:
                self.need_atom(each)
            self._bind(node.target)
        else:
            raise _Unfit
        for each in (*node.body, *node.orelse):
            self.statement(each)

    @property
    def cost(self) -> float:
        """What it takes to ask whether they hold, about."""
        values = len(self.values) + sum(map(len, self.objects.values()))
        lists = len({*self.lists, *(path[0] for path in self.paths)})
        return _GUARD + values * _VALUE + len(self.objects) * _OBJECT + lists * _LIST

    def _assign(self, node: Any) -> None:
        target, value = node.targets[0], node.value
        if len(node.targets) == 1 and _are_pairs(target, value):
            for each in value.elts:
                self.need_atom(each)
            for each in target.elts:
                self._store(each)
            return
        is_slice = isinstance(target, _ast.Subscript) and isinstance(target.slice, _ast.Slice)
        if is_slice and len(node.targets) == 1 and _is_slice(value):
            self._slice(value)
        else:
            self.need_atom(value)
        for each in node.targets:
            self._store(each)

    def _read_target(self, target: Any) -> None:
        if isinstance(target, _ast.Name):
            self._use(target.id)
        elif isinstance(target, _ast.Attribute):
            self._attribute(target, is_read=True)
        elif isinstance(target, _ast.Subscript) and isinstance(target.value, _ast.Name):
            self.need_atom(target.slice)
        else:
            raise _Unfit

    def _store(self, target: Any) -> None:
        if isinstance(target, _ast.Name):
            self._bind(target)
        elif isinstance(target, _ast.Attribute):
            self._attribute(target, is_read=False)
        elif isinstance(target, _ast.Subscript) and isinstance(target.value, _ast.Name):
            self._index(target.slice)
            self.lists[self._own(target.value.id)] = True
        else:
            raise _Unfit

    def _bind(self, target: Any) -> None:
        if not isinstance(target, _ast.Name):
            raise _Unfit
        self.bound.add(self._own(target.id))
        self._use(target.id)

    def _use(self, name: str) -> None:
        self.values[self._own(name)] = None

    def _own(self, name: str) -> str:
        """A variable of this function alone."""
        is_own = self.scope.owner(name) is self.scope and not self.names.variable(self.scope, name)
        if not is_own or name.startswith("__"):
            raise _Unfit
        return name

    # Expressions.

    def need_atom(self, node: Any) -> None:
        """*node* must give a number, a text or the like, and call nothing."""
        kind = type(node)
        if kind is _ast.Constant:
            if not isinstance(node.value, _ATOMS):
                raise _Unfit
        elif kind is _ast.Name:
            self._name(node)
        elif kind is _ast.Attribute:
            self._attribute(node, is_read=True)
        elif kind is _ast.Subscript and not isinstance(node.value, _ast.Constant):
            self._item(node)  # of a constant Python would warn twice
        elif kind is _ast.NamedExpr:
            self.need_atom(node.value)
            self._bind(node.target)
        elif kind is _ast.Call:
            self._call(node)
        elif kind in (
            *(_ast.BinOp, _ast.UnaryOp, _ast.BoolOp, _ast.Compare, _ast.IfExp),
            *(_ast.JoinedStr, _ast.FormattedValue),
        ):
            if compares_identity(node):
                raise _Unfit
            for part in children(node):
                if isinstance(part, _ast.expr):
                    self.need_atom(part)
        else:
            raise _Unfit

    def _name(self, node: Any) -> None:
        if self.scope.owner(self.scope.mangled(node.id)) is self.scope:
            self._use(node.id)
        elif self.names.variable(self.scope, self.scope.mangled(node.id)) or (
            not self.escapes.is_atom(node)
        ):
            raise _Unfit

    def _attribute(self, node: Any, is_read: bool) -> None:
        if not isinstance(node.value, _ast.Name):
            raise _Unfit
        attributes = self.objects.setdefault(self._own(node.value.id), {})
        name = self.scope.mangled(node.attr)
        attributes[name] = attributes.get(name, False) or is_read

    def _item(self, node: Any) -> None:
        base: Any = node
        steps: list[Any] = []
        while isinstance(base, _ast.Subscript):
            steps.insert(0, base.slice)
            base = base.value
        is_own = isinstance(base, _ast.Name) and base.id not in self.bound
        is_path = is_own and len(steps) < 3 and all(isinstance(each, _ast.Name) for each in steps)
        if is_path and self.scope.owner(base.id) is self.scope:
            for each in steps:
                self._use(each.id)
            self.paths[(self._own(base.id), *(each.id for each in steps))] = None
        elif is_own and len(steps) == 1 and self.scope.owner(base.id) is self.scope:
            self.need_atom(steps[0])
            self.lists.setdefault(self._own(base.id), False)
        else:
            self.need_atom(node.value)
            self._index(node.slice)

    def _index(self, node: Any) -> None:
        parts = (node.lower, node.upper, node.step) if isinstance(node, _ast.Slice) else (node,)
        for part in parts:
            if part is not None:
                self.need_atom(part)

    def _slice(self, node: Any) -> None:
        """Part of a list, which is put into another one."""
        self._index(node.slice)
        self.lists.setdefault(self._own(node.value.id), False)

    def _call(self, node: Any) -> None:
        func = node.func
        if not isinstance(func, _ast.Name) or node.keywords or not node.args:
            raise _Unfit
        is_known = func.id in _FUNCTIONS or (func.id in _OF_SEVERAL and len(node.args) > 1)
        if not is_known or not self.names.is_builtin(self.scope, func.id):
            raise _Unfit
        for each in node.args:
            self.need_atom(each)


class _Found:
    """A region where it stands: in *body*, with a copy of what it is before it gets its sites."""

    def __init__(self, body: list[Any], conditions: _Conditions) -> None:
        self.body = body
        self.conditions = conditions

    def insert(self, count: int) -> int:
        raise NotImplementedError

    def _guard(self, kind: str, number: int, place: Place) -> Any:
        spec = f"{PREFIX}{kind} - 0 {number} 0 0 0 {' '.join(self.conditions.words)}"
        return _ast.UnaryOp(_ast.USub(), _ast.Constant(spec, None, **place), **place)


class _Piece(_Found):
    """A run of statements."""

    def __init__(self, body: list[Any], run: list[Any], conditions: _Conditions) -> None:
        super().__init__(body, conditions)
        self.run = run
        self.fast = [copied(each) for each in run]

    def insert(self, count: int) -> int:
        first, last = _index_of(self.body, self.run[0]), _index_of(self.body, self.run[-1])
        slow = self.body[first : last + 1]
        if sum(map(_sites_of, slow)) * _SITE < self.conditions.cost:
            return count
        place = first_place(self.fast[0])
        guard = self._guard(PIECE, count + 1, place)
        self.body[first : last + 1] = [_ast.If(guard, self.fast, slow, **place)]
        return count + 1


class _Loop(_Found):
    """A loop over a range that reads lists."""

    def __init__(self, body: list[Any], loop: Any, conditions: _Conditions) -> None:
        super().__init__(body, conditions)
        self.loop = loop
        self.fast = [copied(each) for each in loop.body if not is_tick(each)]

    def insert(self, count: int) -> int:
        if not any(map(_sites_of, self.loop.body)):
            return count
        number = _index_of(self.body, self.loop)
        entry = self._guard(ENTRY, count + 1, first_place(self.loop))
        self.body.insert(number, _ast.Expr(entry, **first_place(self.loop)))
        place = first_place(self.fast[0])
        test = self._guard(TURN, count + 1, place)
        self.loop.body = [_ast.If(test, self.fast, self.loop.body, **place)]
        return count + 1


def _index_of(body: list[Any], statement: Any) -> int:
    return next(number for number, each in enumerate(body) if each is statement)


def _are_pairs(target: Any, value: Any) -> bool:
    both = isinstance(target, _ast.Tuple) and isinstance(value, _ast.Tuple)
    if not both or len(target.elts) != len(value.elts):
        return False
    return not any(isinstance(each, _ast.Starred) for each in (*target.elts, *value.elts))


def _is_slice(node: Any) -> bool:
    is_item = isinstance(node, _ast.Subscript) and isinstance(node.slice, _ast.Slice)
    return is_item and isinstance(node.value, _ast.Name)


def _sites_of(statement: Any) -> int:
    """How many sites it passes, about: a loop has some turns."""
    pending, count = [(statement, 1)], 0
    while pending:
        node, times = pending.pop()
        if isinstance(node, _ast.Constant) and isinstance(node.value, str):
            count += times * node.value.startswith(PREFIX)
        times = 4 if isinstance(node, (_ast.For, _ast.While)) else times
        pending += [(part, times) for part in children(node)]
    return count
