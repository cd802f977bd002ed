"""Containers: which methods and functions read or write the contents of a mutable container.

Owns the tables of names. Whether an object is such a container is known only when the program
runs: `_core/access.c` looks. `instrument/accesses.py` asks here where points may be needed.
"""

from __future__ import annotations

import _ast
from _ast import AST

_WRITING = """
    append appendleft extend extendleft insert remove pop popleft popitem clear sort reverse rotate
    add discard update setdefault move_to_end subtract
    difference_update intersection_update symmetric_difference_update
    __setitem__ __delitem__ __iadd__ __imul__ __ior__ __iand__ __isub__ __ixor__
"""
_READING = """
    get keys values items copy index count __contains__ __getitem__ __len__ __iter__ __reversed__
    union intersection difference symmetric_difference issubset issuperset isdisjoint
    most_common elements total
    decode find rfind rindex split rsplit splitlines partition rpartition startswith endswith hex
    join replace strip lstrip rstrip lower upper title translate
"""

# Does the method write?
METHODS = dict.fromkeys(_READING.split(), False) | dict.fromkeys(_WRITING.split(), True)

# Methods whose result still shows the contents.
VIEWS = {"keys", "values", "items", "__iter__", "__reversed__"}

# Methods that go through the contents of their first argument.
_ITERATING = """
    extend extendleft update subtract join union intersection difference symmetric_difference
    difference_update intersection_update symmetric_difference_update issubset issuperset isdisjoint
"""
ITERATING = frozenset(_ITERATING.split())

# Methods of which it matters what their first argument is.
_KEYED = """
    get pop setdefault add discard remove __contains__ __getitem__ __setitem__ __delitem__
"""
KEYED = frozenset(_KEYED.split())

# Functions that read the contents of their first argument; have they done so when they return?
_CONSUMING = """
    len list tuple set frozenset dict sorted sum min max any all str repr bool
    bytes bytearray print ascii format
"""
_ASKED = {"len": "__len__", "bool": "__len__", "dict": "keys", "reversed": "__reversed__"}
_ASKED |= dict.fromkeys(("str", "repr", "print", "ascii", "format"), "__repr__")
CONSUMERS = dict.fromkeys(_CONSUMING.split(), True) | dict.fromkeys(
    ("iter", "enumerate", "reversed"), False
)

# Functions of the standard library that write their first argument.
_CHANGING = """
    heappush heappop heapify heappushpop heapreplace insort insort_left insort_right
"""
_CHANGERS = frozenset(_CHANGING.split())
_CHANGERS_BY_MODULE = {"heapq": _CHANGERS, "bisect": _CHANGERS, "random": frozenset(["shuffle"])}

# Those that read it.
_READERS = frozenset(["deque", "Counter", "OrderedDict", "deepcopy", "chain"])
_READERS_BY_MODULE = {
    "collections": frozenset(["deque", "Counter", "OrderedDict"]),
    "copy": frozenset(["copy", "deepcopy"]),
    "json": frozenset(["dumps", "dump"]),
    "pickle": frozenset(["dumps", "dump"]),
    "random": frozenset(["choice", "choices", "sample"]),
    "itertools": frozenset(["chain", "cycle", "islice"]),
    "bisect": frozenset(["bisect", "bisect_left", "bisect_right"]),
}

_DISPLAYS = (
    _ast.List,
    _ast.Set,
    _ast.Dict,
    _ast.ListComp,
    _ast.SetComp,
    _ast.DictComp,
)
_MAKERS = {"deque", "defaultdict", "OrderedDict", "Counter", "bytearray"}
_IMMUTABLE = (_ast.Constant, _ast.Tuple, _ast.JoinedStr, _ast.GeneratorExp, _ast.Lambda)


def is_fresh(node: AST | None) -> bool:
    """Does *node* make a new container?"""
    if isinstance(node, _ast.Call) and isinstance(node.func, _ast.Name):
        return node.func.id in ("list", "dict", "set")
    return isinstance(node, _DISPLAYS)


def makes_container(node: AST | None) -> bool:
    """The same, for those of `collections` too."""
    if isinstance(node, _ast.Call):
        func = node.func
        name = func.attr if isinstance(func, _ast.Attribute) else getattr(func, "id", "")
        return name in _MAKERS or is_fresh(node)
    return is_fresh(node)


def consumed_by(function: str) -> str:
    """The method by which a function of CONSUMERS asks for contents."""
    return _ASKED.get(function, "__iter__")


def changes_argument(func: AST) -> bool:
    """Does the function that *func* names write the container that is its first argument?"""
    return _is_among(func, _CHANGERS, _CHANGERS_BY_MODULE)


def reads_argument(func: AST) -> bool:
    """Does it read that container?"""
    return _is_among(func, _READERS, _READERS_BY_MODULE)


def _is_among(func: AST, names: frozenset[str], by_module: dict[str, frozenset[str]]) -> bool:
    if isinstance(func, _ast.Attribute) and isinstance(func.value, _ast.Name):
        return func.attr in by_module.get(func.value.id, ())
    return isinstance(func, _ast.Name) and func.id in names


def is_nobodys(node: AST) -> bool:
    """Is *node* a value that no other thread can have or change?"""
    return isinstance(node, (*_DISPLAYS, *_IMMUTABLE))
