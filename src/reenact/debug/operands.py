"""How many values lie on a frame's stack before each of its instructions.

The interpreter knows how high a running frame's stack is, and does not tell a tracer. But it is the
same each time an instruction is reached, and follows from the code.
"""

from __future__ import annotations

import dis
from itertools import pairwise
from types import CodeType

# After these the next instruction is not reached.
_ENDS = {
    "RETURN_VALUE",
    "RETURN_CONST",
    "RAISE_VARARGS",
    "RERAISE",
    "JUMP_FORWARD",
    "JUMP_BACKWARD",
    "JUMP_BACKWARD_NO_INTERRUPT",
    "INTERPRETER_EXIT",
}


def depths(code: CodeType) -> dict[int, int]:
    """By offset; instructions that cannot be reached are left out."""
    instructions = {each.offset: each for each in dis.get_instructions(code)}
    order = sorted(instructions)
    following = dict(pairwise(order))
    found: dict[int, int] = {}
    handlers = [
        (entry.start, entry.end, entry.target, entry.depth + 1 + entry.lasti)
        for entry in dis._parse_exception_table(code)  # type: ignore[attr-defined]
    ]
    todo = [(order[0], 0)] + [(target, depth) for _, _, target, depth in handlers]
    while todo:
        offset, depth = todo.pop()
        while offset not in found:
            found[offset] = depth
            each = instructions[offset]
            argument = each.arg if each.opcode >= dis.HAVE_ARGUMENT else None
            if each.opcode in dis.hasjrel or each.opcode in dis.hasjabs:
                after = depth + dis.stack_effect(each.opcode, argument, jump=True)
                todo.append((each.argval, after))
            if each.opname in _ENDS or offset not in following:
                break
            depth += dis.stack_effect(each.opcode, argument, jump=False)
            offset = following[offset]
    return found
