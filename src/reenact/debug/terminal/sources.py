"""The program's source files, as a session shows them and looks for functions and lines in them.

Lines are those that the files have now; where a file is not what it was when the recording was
made, that is said.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType

from reenact.recordings.reader import Recording
from reenact.recordings.sources import Sources as Recorded
from reenact.recordings.sources import read_lines

_LIBRARY = re.compile(r"^/.*/(?:lib/python3\.\d+t?|site-packages|dist-packages)/(?=.)")
_KEPT = 64
Function = ast.FunctionDef | ast.AsyncFunctionDef


class Sources:
    """Files by the names that code objects have: relative ones lie where the program ran."""

    def __init__(self, recording: Recording) -> None:
        self._root = recording.header.cwd
        self.known = tuple(recording.definitions.sources)
        self._recorded = Recorded(recording.definitions.sources, self._root)
        self.lines = lru_cache(_KEPT)(self._lines)
        self.tree = lru_cache(_KEPT)(self._tree)
        self.code_lines = lru_cache(_KEPT)(self._code_lines)

    def path(self, file: str) -> str:
        return os.path.normpath(os.path.join(self._root, file))

    def shown(self, file: str) -> str:
        """Relative to where the program ran, or to where a library lies."""
        root = self._root.rstrip(os.sep) + os.sep
        return file[len(root) :] if file.startswith(root) else _LIBRARY.sub("", file)

    def is_library(self, file: str) -> bool:
        """Rather than the program's own."""
        return file not in self.known and bool(file.startswith("<") or _LIBRARY.match(file))

    def is_installed(self, file: str) -> bool:
        """Python's own, or of a package, whether it was rewritten or not."""
        return bool(_LIBRARY.match(file))

    def has_changed(self, file: str) -> bool:
        return self._recorded.standing(file) == "changed"

    def line(self, file: str, number: int) -> str:
        lines = self.lines(file)
        return lines[number - 1] if 0 < number <= len(lines) else ""

    def _lines(self, file: str) -> list[str]:
        return [] if file.startswith("<") else read_lines(self.path(file))

    def _tree(self, file: str) -> ast.Module | None:
        try:
            return ast.parse("\n".join(self.lines(file)))
        except (SyntaxError, ValueError, RecursionError):
            return None

    def _code_lines(self, file: str) -> frozenset[int]:
        """Lines that a program can stop at; none if that cannot be known."""
        tree = self.tree(file)
        if tree is None:
            return frozenset()
        return frozenset(_lines_of(compile(tree, file, "exec", dont_inherit=True)))

    def statement(self, file: str, line: int) -> list[ast.stmt]:
        """The statement that a line belongs to, and those around it, the innermost first."""
        tree = self.tree(file)
        return [] if tree is None else _around(tree.body, line)

    def functions(self, file: str, name: str) -> Iterator[Function]:
        """Those of this name, or of this name within classes and functions, with dots."""
        tree = self.tree(file)
        if tree is not None:
            for qualified, function in _functions(tree.body, ""):
                if qualified == name or qualified.endswith("." + name):
                    yield function

    def body_of(self, file: str, first: int) -> int | None:
        """The first line of the body of the function whose code begins at a line."""
        tree = self.tree(file)
        for node in ast.walk(tree) if tree is not None else ():
            if isinstance(node, Function) and _first_line(node) == first:
                return self.body_line(file, node)
        return None

    def body_line(self, file: str, function: Function) -> int:
        """The first that a program comes to: a docstring, or `global x`, is no such line."""
        first, last = function.body[0].lineno, function.end_lineno or function.lineno
        return min((each for each in self.code_lines(file) if first <= each <= last), default=first)


def _lines_of(code: CodeType) -> Iterator[int]:
    yield from (line for _, _, line in code.co_lines() if line)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _lines_of(constant)


def _first_line(function: Function) -> int:
    return min([function.lineno, *(each.lineno for each in function.decorator_list)])


def _functions(body: list[ast.stmt], inside: str) -> Iterator[tuple[str, Function]]:
    for node in body:
        if isinstance(node, Function | ast.ClassDef):
            name = f"{inside}{node.name}"
            if isinstance(node, Function):
                yield name, node
            yield from _functions(node.body, f"{name}.")
        else:
            below = [each for each in ast.iter_child_nodes(node) if isinstance(each, ast.stmt)]
            yield from _functions(below, inside)


def _around(body: list[ast.stmt], line: int) -> list[ast.stmt]:
    for node in body:
        first = _first_line(node) if isinstance(node, Function) else node.lineno
        if first <= line <= (node.end_lineno or node.lineno):
            return [*_around(_below(node), line), node]
    return []


def _below(node: ast.AST) -> list[ast.stmt]:
    """The statements in a statement; handlers and cases are none themselves."""
    found: list[ast.stmt] = []
    for each in ast.iter_child_nodes(node):
        if isinstance(each, ast.stmt):
            found.append(each)
        elif isinstance(each, (ast.ExceptHandler, ast.match_case)):
            found.extend(_below(each))
    return found
