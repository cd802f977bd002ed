"""The program's source files, as those who put findings into words look at them.

A file is read once, and parsed once. One that cannot be read has no lines, and one that cannot be
parsed no nodes: then less is said. Nothing here knows of findings.
"""

from __future__ import annotations

import ast
import os
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePath

from reenact.instrument.places import spot
from reenact.recordings.sources import read_lines

Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef
_INNER = (ast.stmt, ast.ExceptHandler, ast.pattern)


@dataclass(slots=True)
class _File:
    lines: list[str]
    tree: ast.Module | None = None
    nodes: dict[tuple[int, int], list[ast.expr]] = field(default_factory=dict)  # by their spots
    called: set[int] = field(default_factory=set)  # ids of nodes that are called
    comments: dict[int, str] = field(default_factory=dict)


class Sources:
    """Those below `root`, and others by their full names."""

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self.root = os.path.abspath(root)
        self._files: dict[str, _File] = {}

    def shown(self, file: str) -> str:
        """Relative to the root if it lies below, with slashes."""
        if not file or file.startswith("<"):
            return file
        path = os.path.normpath(os.path.join(self.root, file))
        relative = os.path.relpath(path, self.root)
        is_below = not relative.startswith(os.pardir + os.sep)
        return PurePath(relative if is_below else path).as_posix()

    def line(self, file: str, number: int) -> str:
        """Without its end; "" if there is none."""
        lines = self._file(file).lines
        return lines[number - 1] if 0 < number <= len(lines) else ""

    def text(self, file: str) -> str:
        return "\n".join(self._file(file).lines)

    def comments(self, file: str) -> dict[int, str]:
        """By line."""
        return self._file(file).comments

    def has_tree(self, file: str) -> bool:
        return self._file(file).tree is not None

    def nodes_at(self, file: str, line: int, column: int) -> list[ast.expr]:
        """Expressions that an access at this place may be of, the outermost first."""
        return self._file(file).nodes.get((line, column), [])

    def is_called(self, file: str, node: ast.expr) -> bool:
        return id(node) in self._file(file).called

    def scopes(self, file: str, line: int) -> list[Scope]:
        """The functions and classes that a line lies in, the outermost first."""
        tree = self._file(file).tree
        return (
            []
            if tree is None
            else [each for each in _around(tree, line) if isinstance(each, Scope)]
        )

    def statement(self, file: str, line: int) -> ast.stmt | None:
        """The innermost one that has this line, be it in its head only."""
        tree = self._file(file).tree
        around = [] if tree is None else _around(tree, line)
        return next((each for each in reversed(around) if isinstance(each, ast.stmt)), None)

    def _file(self, file: str) -> _File:
        if file not in self._files:
            self._files[file] = _read(os.path.join(self.root, file))
        return self._files[file]


def head_of(statement: ast.stmt) -> range:
    """The lines of a statement, without those of the statements in it."""
    inner = [each.lineno for each in ast.walk(statement) if isinstance(each, _INNER)]
    later = [each for each in inner if each > statement.lineno]
    is_compound = any(hasattr(statement, name) for name in ("body", "cases"))
    last = min(later, default=statement.lineno + 1) - 1 if is_compound else statement.end_lineno
    return range(statement.lineno, (last or statement.lineno) + 1)


def _around(tree: ast.Module, line: int) -> list[Scope | ast.stmt]:
    """What has the line, the outermost first."""
    return [
        each
        for each in ast.walk(tree)
        if isinstance(each, (Scope, ast.stmt)) and each.lineno <= line <= (each.end_lineno or 0)
    ]


def _read(path: str) -> _File:
    lines = read_lines(path)
    file = _File(lines)
    if not lines:
        return file
    try:
        file.tree = ast.parse("\n".join(lines))
        file.comments = dict(_comments(lines))
    except (SyntaxError, ValueError, RecursionError, tokenize.TokenError):
        return file
    nodes = defaultdict(list)
    for node in ast.walk(file.tree):
        if isinstance(node, ast.expr):
            nodes[spot(node)].append(node)
        if isinstance(node, ast.Call):
            file.called.add(id(node.func))
    file.nodes = dict(nodes)
    return file


def _comments(lines: list[str]) -> Iterator[tuple[int, str]]:
    remaining = (line + "\n" for line in lines)
    for token in tokenize.generate_tokens(lambda: next(remaining, "")):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
