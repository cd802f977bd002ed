"""Called: what calls give, and what they keep, as far as Python's own functions and methods go.

Owns their effects in terms of `flows.py`. A call of anything else lets all its arguments escape.
"""

from __future__ import annotations

import _ast

from reenact.instrument.around import OF_HEAPS, TO_ATOMS, TO_SEQUENCES, TO_SETS
from reenact.instrument.containers import ITERATING, METHODS, VIEWS
from reenact.instrument.flows import EITHER, HASHED, SEQUENCE, has_escaped, items_of
from reenact.instrument.values import Values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from reenact.instrument.around import Around
    from reenact.instrument.flows import Value

# Methods by what they do.
_STORING = {"append", "appendleft", "add", "insert", "setdefault", "extend", "extendleft", "update"}
_STORING |= {"subtract", "symmetric_difference_update"}
_COMPARING = {"index", "count", "remove", "sort"}  # methods that compare items
_HARMLESS = {"reverse", "maxlen"}  # keywords whose values see no items
_OF_TEXTS = """
    strip lstrip rstrip lower upper title replace startswith endswith find rfind index rindex count
    join encode decode hex isdigit isalpha isspace zfill ljust rjust
"""
_TEXTS_TO_TEXTS = set(_OF_TEXTS.split())
_TEXTS_TO_LISTS = {"split", "rsplit", "splitlines", "partition", "rpartition"}


class Called(Values):
    """Calls in one function."""

    def __init__(self, around: Around, node: Any) -> None:
        super().__init__(around, node)
        self.expressions[_ast.Call] = self._call

    def _call(self, node: Any) -> Value:
        func = node.func
        name = self.around.dotted(func, self.scope)
        if name:
            self._note(func, self.elsewhere)
            return self._call_function(node, name)
        if isinstance(func, _ast.Attribute):
            return self._call_method(node)
        return self._anything(node)

    def _call_function(self, node: Any, name: str) -> Value:
        if any(isinstance(each, _ast.Starred) for each in node.args) and name != "print":
            return self._anything(node)
        if name == "print":
            self._elements([each.value for each in node.keywords])
            self._elements(node.args)
            return set()
        if name in TO_ATOMS:
            return self._to_atom(node, name)
        if name in TO_SEQUENCES or name in TO_SETS:
            return self._collected(node, name)
        special = {"dict": self._new_dict, "sum": self._sum, "min": self._best, "max": self._best}
        special |= {"collections.defaultdict": self._default_dict}
        special |= dict.fromkeys(OF_HEAPS, self._heap)
        return special.get(name, self._anything)(node)

    def _to_atom(self, node: Any, name: str) -> Value:
        if name in ("any", "all") and len(node.args) == 1:
            self._iterated(node.args[0])
        else:
            self._elements(node.args)
        self._elements([each.value for each in node.keywords])
        return set()

    def _collected(self, node: Any, name: str) -> Value:
        items = self._iterated(node.args[0]) if node.args else set()
        self._elements(node.args[1:])
        self._sort(node, items if name == "sorted" else set())
        return self.flows.thing(node, items, kind=HASHED if name in TO_SETS else SEQUENCE)

    def _sort(self, node: Any, items: Value) -> None:
        """Compares the items, or passes each to the function that a keyword gives."""
        self.flows.compare(items)
        for each in node.keywords:
            value = self.value(each.value)
            if each.arg not in _HARMLESS:
                self.flows.escape(value | items)

    def _new_dict(self, node: Any) -> Value:
        held = self._elements([each.value for each in node.keywords if each.arg is not None])
        for each in [each.value for each in node.keywords if each.arg is None]:
            held |= items_of(self.value(each))
        for each in node.args:
            held |= self._iterated_deeply(each)
        return self.flows.thing(node, held, kind=HASHED)

    def _default_dict(self, node: Any) -> Value:
        if len(node.args) != 1 or node.keywords:
            return self._anything(node)
        name = self.around.dotted(node.args[0], self.scope)
        self.value(node.args[0])
        if name in ("int", "float", "str", "bool"):
            return self.flows.thing(node, set(), kind=HASHED)
        if name in ("list", "dict", "set"):
            made = self.flows.thing(node, set(), "default", EITHER)
            return self.flows.thing(node, made, kind=HASHED)
        return self._anything(node)

    def _sum(self, node: Any) -> Value:
        if len(node.args) != 1 or node.keywords:
            return self._anything(node)
        items = self._iterated(node.args[0])
        return self._operate(node, items, items)

    def _best(self, node: Any) -> Value:
        is_walk = len(node.args) == 1
        items = self._iterated(node.args[0]) if is_walk else self._elements(node.args)
        result = set(items)
        for each in node.keywords:
            if each.arg == "default":
                result |= self.value(each.value)
            else:
                self.flows.escape(self.value(each.value) | items)
        self.flows.compare(items)
        return result

    def _heap(self, node: Any) -> Value:
        if not node.args or node.keywords:
            return self._anything(node)
        heap, given = self.value(node.args[0]), self._elements(node.args[1:])
        self.flows.store(heap, given)
        self.flows.compare(items_of(heap))
        return items_of(heap) | given

    def _call_method(self, node: Any) -> Value:
        func = node.func
        base = self.value(func.value)
        has_stars = any(isinstance(each, _ast.Starred) for each in node.args)
        if not base:
            return self._call_of_text(node)
        is_known = func.attr in METHODS and not func.attr.startswith("__")
        if not is_known or has_stars or has_escaped(base):
            self.flows.escape(base)
            return self._anything(node)
        return self._call_of_container(node, base)

    def _call_of_text(self, node: Any) -> Value:
        """A method of a number or a text. What it gives depends on which, unless it is known."""
        name = node.func.attr
        if name == "join" and len(node.args) == 1 and not node.keywords:
            self._iterated(node.args[0])
            return set()
        if name in _TEXTS_TO_LISTS:
            self._anything(node)
            return self.flows.thing(node, set())
        if name in METHODS and name not in _TEXTS_TO_TEXTS:  # they have none of that name
            self._elements(node.args)
            return set()
        self._anything(node)
        return set() if name in _TEXTS_TO_TEXTS else self.elsewhere

    def _call_of_container(self, node: Any, base: Value) -> Value:
        name = node.func.attr
        given = self._given(node, name)
        if name in _STORING:
            self.flows.store(base, given)
        held = items_of(base)
        if name in _COMPARING:
            self._sort(node, held | given)
        if name in VIEWS:
            return self.flows.thing(node, held | base, kind=EITHER)
        return held | given | self.flows.thing(node, held | given, kind=EITHER)

    def _given(self, node: Any, name: str) -> Value:
        """What a method may put into its container."""
        given: Value = set()
        for each in node.args[name == "insert" :]:
            given |= self._iterated_deeply(each) if name in ITERATING else self.value(each)
        if name == "insert":
            self._elements(node.args[:1])
        named = self._elements([each.value for each in node.keywords])
        return given | named | items_of(named)

    def _iterated_deeply(self, node: Any) -> Value:
        """What comes out of *node*, or out of that: a dict takes pairs, and the values of dicts."""
        items = self._iterated(node)
        whole = self.flows.values.get(id(node), self.elsewhere)
        return items | items_of(items) | items_of(whole)
