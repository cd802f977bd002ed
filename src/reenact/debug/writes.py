"""What an instruction writes to, and what an expression means, in a frame of the program."""

from __future__ import annotations

import ast
import dis
from types import CodeType, FrameType
from typing import Any

from reenact import _core
from reenact.debug.operands import depths

_STORES = {
    "attribute": ("STORE_ATTR", "DELETE_ATTR"),
    "item": ("STORE_SUBSCR", "DELETE_SUBSCR"),
    "name": (
        *("STORE_FAST", "STORE_DEREF", "STORE_GLOBAL", "STORE_NAME", "STORE_FAST_STORE_FAST"),
        *("DELETE_FAST", "DELETE_DEREF", "DELETE_GLOBAL", "DELETE_NAME", "STORE_FAST_LOAD_FAST"),
    ),
}

_RESUME = dis.opmap["RESUME"]


class Written:
    """An expression that can be written to: `a.b`, `a[b]` or a name."""

    def __init__(self, text: str) -> None:
        tree = ast.parse(text.strip(), "<typed>", "eval").body
        self.name = ""
        self.inner: ast.expr | None = None
        self.key: ast.expr | None = None
        if isinstance(tree, ast.Attribute):
            self.kind, self.name, self.inner = "attribute", tree.attr, tree.value
        elif isinstance(tree, ast.Subscript):
            self.kind, self.inner, self.key = "item", tree.value, tree.slice
        elif isinstance(tree, ast.Name):
            self.kind, self.name = "name", tree.id
        else:
            raise ValueError("only a name, an attribute or an item can be written to")

    @property
    def parts(self) -> list[str]:
        """What must have a value for it to mean anything."""
        return [ast.unparse(each) for each in (self.inner, self.key) if each is not None]

    def is_written_by(self, instruction: dis.Instruction) -> bool:
        if instruction.opname not in _STORES[self.kind]:
            return False
        if self.kind == "item":
            return True
        written = instruction.argval
        if isinstance(written, tuple):  # two instructions in one, of which the second may load
            written = written[:1] if instruction.opname.endswith("LOAD_FAST") else written
            return self.name in written
        return bool(written == self.name)

    def key_in(self, frame: FrameType) -> tuple[Any, ...]:
        """What is meant in this frame, by the addresses of this process."""
        names = {**frame.f_globals, **frame.f_locals}
        if self.inner is not None:
            target = _value(self.inner, names)
            if self.key is None:
                return ("attribute", id(target), id(type(target)))
            return _item(target, _value(self.key, names))
        return variable_in(frame, self.name)

    def key_of(self, frame: FrameType, instruction: dis.Instruction, depth: int) -> tuple[Any, ...]:
        """What an instruction is about to write to."""
        if self.kind == "name":
            if "GLOBAL" in instruction.opname:
                return ("global", id(frame.f_globals))
            return variable_in(frame, self.name)
        below = 1 if self.kind == "attribute" else 2
        target = _core.frame_value(frame, depth - below)
        if self.kind == "attribute":
            return ("attribute", id(target), id(type(target)))
        key = _core.frame_value(frame, depth - 1)
        return _item(target, key)


def _value(expression: ast.expr, names: dict[str, Any]) -> Any:
    code = compile(ast.Expression(expression), "<typed>", "eval")
    return eval(code, names)


def _item(target: object, key: object) -> tuple[Any, ...]:
    """An item of a list is the same, counted from either end."""
    if type(target) is list and type(key) is int and key < 0:
        key += len(target)
    return ("item", id(target), id(type(target)), _hashable(key))


def _hashable(key: object) -> object:
    if type(key) is tuple:
        return tuple(_hashable(each) for each in key)
    return key if isinstance(key, (int, str, bytes, float, bool, type(None))) else id(key)


def variable_in(frame: FrameType, name: str) -> tuple[Any, ...]:
    """A name as this frame sees it: in a cell, local, or global."""
    cell = _core.frame_cell(frame, name)
    if cell is not None:
        return ("cell", id(cell))
    code = frame.f_code
    if name in code.co_varnames:
        return ("local", _core.frame_address(frame), id(code))
    return ("global", id(frame.f_globals))


def begins(frame: FrameType) -> bool:
    """Whether a frame that is called begins, and is no generator that goes on."""
    code, at = frame.f_code.co_code, frame.f_lasti
    return at >= 0 and code[at] == _RESUME and code[at + 1] & 3 == 0


def is_new(frame: FrameType, name: str) -> bool:
    """Whether a variable is made by the call of its function; others are there already."""
    code = frame.f_code
    return name in code.co_cellvars or (name in code.co_varnames and name not in code.co_freevars)


Writers = dict[int, tuple[dis.Instruction, int]]


def writers(written: Written, code: CodeType) -> Writers | None:
    """The instructions of a code object that could write, and how high the stack is there; None if
    there are none, and no argument is meant either."""
    writing = [each for each in dis.get_instructions(code) if written.is_written_by(each)]
    if not writing and not (written.kind == "name" and written.name in arguments_of(code)):
        return None
    heights = depths(code)
    return {each.offset: (each, heights.get(each.offset, 0)) for each in writing}


def arguments_of(code: CodeType) -> tuple[str, ...]:
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & 4) + bool(code.co_flags & 8)  # *args and **kwargs
    return code.co_varnames[:count]
