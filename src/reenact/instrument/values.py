"""Values: what the expressions of one function may stand for, all but calls.

Owns variables, displays, loops, operators and items, in terms of `flows.py`. Calls:
`called.py`. Recursive, unlike the other walks over a tree: `escapes.py` sees to it that nothing
is nested too deeply.
"""

from __future__ import annotations

import _ast

from reenact.instrument.around import TO_ATOMS
from reenact.instrument.flows import EITHER, HASHED, SEQUENCE, Flows, has_escaped, items_of
from reenact.instrument.nodes import every
from reenact.instrument.scopes import COMPREHENSIONS, FUNCTIONS, slots

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from reenact.instrument.around import Around
    from reenact.instrument.flows import Value
    from reenact.instrument.scopes import Scope

SCOPES = (*FUNCTIONS, _ast.ClassDef)
_SEQUENCES = (_ast.List, _ast.ListComp, _ast.Tuple, _ast.GeneratorExp)


class Values:
    """The values of one function."""

    def __init__(self, around: Around, node: Any) -> None:
        self.around = around
        self.names = around.names
        self.flows = Flows()
        self.scope = self.names.scopes[id(node)]
        self.elsewhere: Value = {self.flows.outside}
        self.expressions = {
            _ast.Constant: self._atom,
            _ast.JoinedStr: self._atom,
            _ast.FormattedValue: self._atom,
            _ast.Name: self._name,
            _ast.NamedExpr: self._walrus,
            _ast.List: self._display,
            _ast.Tuple: self._display,
            _ast.Set: self._display,
            _ast.Dict: self._dict,
            _ast.BinOp: self._operator,
            _ast.UnaryOp: self._unary,
            _ast.BoolOp: self._any_of,
            _ast.IfExp: self._either,
            _ast.Compare: self._compare,
            _ast.Subscript: self._item,
            _ast.Slice: self._atom,
            _ast.Starred: self._starred,
        } | dict.fromkeys(COMPREHENSIONS, self._comprehension)

    # Variables.

    def _variable(self, name: str) -> tuple[int, str] | None:
        """None if it is none of this function's own, or others use it too."""
        name = self.scope.mangled(name)
        owner = self.scope.owner(name)
        key = id(owner), name
        is_own = owner.parent is not None and owner.function is self.scope.function
        return None if not is_own or key in self.around.captured else key

    def _bind(self, name: str, value: Value) -> None:
        key = self._variable(name)
        if key is None:
            self.flows.escape(value)
        else:
            self.flows.grow(self.flows.variables.setdefault(key, set()), value)

    def _name(self, node: Any) -> Value:
        key = self._variable(node.id)
        if key is not None:
            return self.flows.variables.get(key, set())
        owner = self.scope.owner(self.scope.mangled(node.id))
        is_atom = owner.parent is None and node.id in self.around.atoms
        return set() if is_atom else self.elsewhere

    def _set(self, target: Any, value: Value) -> None:
        if isinstance(target, _ast.Name):
            self._bind(target.id, value)
        elif isinstance(target, (_ast.Tuple, _ast.List)):
            for each in target.elts:
                self._set(each, items_of(value))
        elif isinstance(target, _ast.Starred):
            self._set(target.value, self.flows.thing(target, value))
        elif isinstance(target, _ast.Subscript):
            self._set_item(target, value)
        else:
            self._escape_parts(target)
            self.flows.escape(value)

    def _set_item(self, target: Any, value: Value) -> None:
        base, key = self.value(target.value), self.value(target.slice)
        self.flows.store(base, value)
        self.flows.store({each for each in base if each.has_keys or each.has_escaped}, key)
        if key or isinstance(target.slice, _ast.Slice):
            self.flows.store(base, items_of(value))

    # Expressions.

    def value(self, node: Any) -> Value:
        """What *node* may stand for; that of its parts is noted, too."""
        value = self.expressions.get(type(node), self._anything)(node)
        self._note(node, value)
        return value

    def _note(self, node: Any, value: Value) -> None:
        self.flows.grow(self.flows.values.setdefault(id(node), set()), value)

    def _anything(self, node: Any) -> Value:
        self._escape_parts(node)
        return self.elsewhere

    def _atom(self, node: Any) -> Value:
        """A text made of others keeps none of them."""
        for _, _, _, child, _ in slots(node):
            self.value(child)
        return set()

    def _walrus(self, node: Any) -> Value:
        value = self.value(node.value)
        self._bind(node.target.id, value)
        return value

    def _elements(self, nodes: list[Any]) -> Value:
        return {item for each in nodes for item in self.value(each)}

    def _starred(self, node: Any) -> Value:
        """Stands in a display or among arguments."""
        return items_of(self.value(node.value))

    def _display(self, node: Any) -> Value:
        return self._made(node, self._elements(node.elts))

    def _made(self, node: Any, holds: Value) -> Value:
        return self.flows.thing(
            node, holds, kind=SEQUENCE if isinstance(node, _SEQUENCES) else HASHED
        )

    def _dict(self, node: Any) -> Value:
        held = self._elements([key for key in node.keys if key is not None])
        for key, each in zip(node.keys, node.values, strict=True):
            value = self.value(each)
            held |= items_of(value) if key is None else value
        return self._made(node, held)

    def _comprehension(self, node: Any) -> Value:
        if isinstance(node, _ast.GeneratorExp) and id(node) not in self.around.in_place:
            return self._lazy(node)
        outer = self.scope
        for number, each in enumerate(node.generators):
            self._turn(each.target, each.iter, self.names.scopes[id(node)], is_first=not number)
            self._elements(each.ifs)
        parts = [getattr(node, field, None) for field in ("elt", "key", "value")]
        made = self._made(node, self._elements([part for part in parts if part is not None]))
        self.scope = outer
        return made

    def _lazy(self, node: Any) -> Value:
        """A generator: it runs when nobody knows, and what it uses counts as captured."""
        self.flows.escape(self.value(node.generators[0].iter))
        for each in every(node):
            if isinstance(each, _ast.NamedExpr):
                self._bind(each.target.id, self.elsewhere)
        return self.elsewhere

    def _turn(
        self, target: Any, node: Any, inner: Scope | None = None, is_first: bool = True
    ) -> None:
        """A loop over *node*; that of a comprehension is in a scope of its own, *inner*."""
        if inner is not None and not is_first:
            self.scope = inner
        given = self._turns(node)
        if inner is not None:
            self.scope = inner
        if isinstance(target, _ast.Tuple) and len(given) == len(target.elts) > 1:
            for each, value in zip(target.elts, given, strict=True):
                self._set(each, value)
        elif len(given) == 1:
            self._set(target, given[0])
        else:
            self._set(target, self.flows.thing(node, set().union(*given), "turn"))

    def _turns(self, node: Any) -> list[Value]:
        """What each turn gives; several values if it gives tuples."""
        if isinstance(node, _ast.Call) and not node.keywords and node.args:
            name = self.around.dotted(node.func, self.scope)
            first = node.args[0]
            if any(isinstance(each, _ast.Starred) for each in node.args):
                name = ""
            if name == "enumerate":
                self._elements(node.args[1:])
                return [set(), self._walked(node, first)]
            if name == "reversed" and len(node.args) == 1:
                return [self._walked(node, first)]
            if name == "zip" and len(node.args) > 1:
                return [self._walked(node, each) for each in node.args]
            if name == "map" and len(node.args) == 2:
                return [self._mapped(node)]
        if _views(node) and not has_escaped(self.value(node.func.value)):
            held = self._walked(node, node.func.value)
            return [held, held] if node.func.attr == "items" else [held]
        return [items_of(self.value(node))]

    def _walked(self, node: Any, container: Any) -> Value:
        """*node* goes through *container* and keeps it until the loop is over."""
        given = self._turns(container)
        self._note(node, self.flows.values.get(id(container), self.elsewhere))
        return given[0] if len(given) == 1 else self.flows.thing(node, set().union(*given), "pair")

    def _mapped(self, node: Any) -> Value:
        items = self._walked(node, node.args[1])
        self.value(node.args[0])
        if self.around.dotted(node.args[0], self.scope) in TO_ATOMS:
            return set()
        self.flows.escape(items)
        return self.elsewhere

    def _iterated(self, node: Any) -> Value:
        """All that comes out of *node*."""
        given = self._turns(node)
        if len(given) == 1:
            return given[0]
        return self.flows.thing(node, set().union(*given), "turn")

    # Operators.

    def _operator(self, node: Any) -> Value:
        left, right = self.value(node.left), self.value(node.right)
        if isinstance(node.op, _ast.Mult):
            for side in (node.left, node.right):
                if isinstance(side, _ast.List):
                    return self.flows.thing(node, items_of(self.value(side)))
        return self._operate(node, left, right)

    def _operate(self, node: Any, left: Value, right: Value) -> Value:
        both = left | right
        if not both:
            return set()
        if not has_escaped(both):
            return self.flows.thing(node, items_of(both), "result", kind=EITHER)
        if self.around.is_heuristic:
            held = items_of(both) | self.elsewhere
            return self.flows.thing(node, held, "result", kind=EITHER)
        self.flows.escape(both)
        return self.elsewhere

    def _unary(self, node: Any) -> Value:
        value = self.value(node.operand)
        if isinstance(node.op, _ast.Not) or not value:
            return set()
        return self._operate(node, value, value)

    def _any_of(self, node: Any) -> Value:
        return self._elements(node.values)

    def _either(self, node: Any) -> Value:
        self.value(node.test)
        return self._elements([node.body, node.orelse])

    def _compare(self, node: Any) -> Value:
        result: Value = set()
        left = self.value(node.left)
        for op, each in zip(node.ops, node.comparators, strict=True):
            right = self.value(each)
            if isinstance(op, (_ast.In, _ast.NotIn)):
                self._look_for(left, right)
            elif not isinstance(op, (_ast.Is, _ast.IsNot)):
                result |= self._compared(left, right)
            left = right
        return result

    def _look_for(self, left: Value, right: Value) -> None:
        if has_escaped(right):
            self.flows.escape(left)
        walked = {each for each in right if not each.is_hashed}
        if walked:
            self.flows.compare(left | items_of(walked))

    def _compared(self, left: Value, right: Value) -> Value:
        both = left | right
        if not has_escaped(both):
            self.flows.compare(items_of(both))
            return set()
        if self.around.is_heuristic:
            return set()
        self.flows.escape(both)
        return self.elsewhere

    def _escape_parts(self, node: Any) -> None:
        for _, field, _, child, _ in slots(node):
            is_code = isinstance(node, SCOPES) and field == "body"
            if not is_code and isinstance(child, _ast.expr):
                self.flows.escape(self.value(child))
            elif isinstance(child, (_ast.keyword, _ast.withitem)):
                self._escape_parts(child)

    def _item(self, node: Any) -> Value:
        base, key = self.value(node.value), self.value(node.slice)
        if has_escaped(base):
            self.flows.escape(key)
        found = items_of(base)
        if isinstance(node.slice, _ast.Constant) or not base:
            return found
        if not isinstance(node.slice, _ast.Slice):
            return found | self.flows.thing(node, found, "part") if key else found
        return self.flows.thing(node, found, "part") | (found if has_escaped(base) else set())


def _views(node: Any) -> bool:
    """`d.items()` and its kin, without arguments."""
    if not isinstance(node, _ast.Call) or not isinstance(node.func, _ast.Attribute):
        return False
    return node.func.attr in ("items", "keys", "values") and not (node.args or node.keywords)
