"""Elsewhere: globals that other modules set, as `module.name = value`.

Owns which names a source file stores as attributes of what may be a module, how the rewritten code
says so (a constant that nothing uses, so that the cache keeps it), and what is known of the modules
that were loaded so far. A global that its own module never binds again is a constant unless
somebody else sets it: modules that are loaded later have sites for what was seen to be set. What is
set in a module that is loaded already was read without sites, and that is told.

Left out on purpose: a module behind a variable of the file's own in a module that is loaded after
it (`it = config; it.name = value`), and what `vars(module)` and `globals()` change.
"""

from __future__ import annotations

import _ast
import sys
from _ast import AST

from reenact.instrument.nodes import every

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType
    from typing import Any

ANY = "*"  # a name that is not known
_NOTE = "\0reenact sets\0"
_OWN = ("self", "cls")  # no modules
_WORDS = bytes(
    each if each > 127 or chr(each).isalnum() or each == 95 else 32 for each in range(256)
)


class Stored:
    """What one file stores: `anywhere`, names of attributes of whatever it may be; `imported`,
    module and name of those of what it imports."""

    def __init__(self, tree: AST) -> None:
        self.anywhere: set[str] = set()
        self.imported: set[tuple[str, str]] = set()
        nodes = list(every(tree))
        origins = dict(_origins(nodes))
        for target, name in _stores(nodes):
            if not (isinstance(target, _ast.Name) and target.id in _OWN):
                self.anywhere.add(name)
            parts = _chain(target)
            if parts and parts[0] in origins:
                self.imported.add((".".join([origins[parts[0]], *parts[1:]]), name))

    @property
    def names(self) -> set[str]:
        """Of globals that this very file may set through an import of itself."""
        return {name for _, name in self.imported}

    def noted(self, code: CodeType) -> CodeType:
        """The same code, which says so."""
        if not self.anywhere:
            return code
        pairs = (f"{module}:{name}" for module, name in sorted(self.imported))
        text = f"{_NOTE}{' '.join(sorted(self.anywhere))}\0{' '.join(pairs)}"
        return code.replace(co_consts=(*code.co_consts, text))


def _origins(nodes: list[Any]) -> Iterator[tuple[str, str]]:
    """What a name that is imported stands for."""
    for node in nodes:
        if isinstance(node, _ast.Import):
            for each in node.names:
                first = each.name.partition(".")[0]
                yield (each.asname, each.name) if each.asname else (first, first)
        elif isinstance(node, _ast.ImportFrom):
            for each in node.names:
                base = "." * bool(node.level) + (node.module or "")
                dot = "." if node.module else ""
                yield each.asname or each.name, f"{base}{dot}{each.name}"


def _stores(nodes: list[Any]) -> Iterator[tuple[AST, str]]:
    for node in nodes:
        if isinstance(node, _ast.Attribute) and not isinstance(node.ctx, _ast.Load):
            yield node.value, node.attr
        elif isinstance(node, _ast.Call) and _is_setting(node):
            name = node.args[1].value if isinstance(node.args[1], _ast.Constant) else ANY
            yield node.args[0], str(name)


def _is_setting(call: Any) -> bool:
    name = call.func.id if isinstance(call.func, _ast.Name) else ""
    return name in ("setattr", "delattr") and len(call.args) > 1


def _chain(node: Any) -> list[str]:
    """The names of `a.b.c`; the first alone of `a.b(...)`, `a.b[...]` and what follows."""
    names: list[str] = []
    while not isinstance(node, _ast.Name):
        if isinstance(node, _ast.Attribute):
            names.append(node.attr)
            node = node.value
        elif isinstance(node, (_ast.Call, _ast.Subscript)):
            names = []
            node = node.func if isinstance(node, _ast.Call) else node.value
        else:
            return []
    return [node.id, *reversed(names)]


class Known:
    """What the modules that were loaded so far store, and which globals they read; `unseen` tells
    what was set too late."""

    def __init__(self) -> None:
        self.unseen: list[str] = []
        self._stored: dict[str, set[str]] = {}  # by file
        self._read: dict[str, set[str]] = {}  # by file, of globals that functions in it read

    def names_in(self, path: str, source: bytes) -> tuple[str, ...]:
        """Those that others store and this file may have as globals, in a settled order."""
        others = (names for file, names in self._stored.items() if file != path)
        stored: set[str] = set().union(*others)
        if ANY in stored:
            return (ANY,)
        words = set(source.translate(_WORDS).split()) if stored else set()
        return tuple(sorted(name for name in stored if name.encode() in words))

    def add(self, path: str, code: CodeType, with_sites: tuple[str, ...]) -> None:
        """A module is about to run; what was known before it has sites."""
        note = code.co_consts[-1] if code.co_consts else None
        if isinstance(note, str) and note.startswith(_NOTE):
            anywhere, _, pairs = note[len(_NOTE) :].partition("\0")
            self._stored[path] = set(anywhere.split())
            for pair in pairs.split():
                self._look_back(path, *pair.split(":"))
        read = _names_in(code) & set(code.co_names)
        self._read[path] = set() if ANY in with_sites else read.difference(with_sites)

    def _look_back(self, path: str, module: str, name: str) -> None:
        for file in _files_of(module):
            read = self._read.get(file, set()) if file != path else set()
            for each in sorted(read) if name == ANY else [name] * (name in read):
                self.unseen.append(
                    f"{path} sets {module.lstrip('.')}.{each}, and was loaded after {file}: "
                    "what that reads of it was not looked at"
                )


def _files_of(module: str) -> list[str]:
    """Where a module comes from; one that is named relatively may be one of several."""
    is_relative = module.startswith(".")
    names = (
        [each for each in list(sys.modules) if each.endswith(module)] if is_relative else [module]
    )
    files = [getattr(sys.modules.get(each), "__file__", None) for each in names]
    return [each for each in files if isinstance(each, str)]


def _names_in(code: CodeType) -> set[str]:
    """Names that functions and classes of a module use."""
    found: set[str] = set()
    pending = [code]
    while pending:
        inner = [each for each in pending.pop().co_consts if hasattr(each, "co_names")]
        found.update(name for each in inner for name in each.co_names)
        pending += inner
    return found
