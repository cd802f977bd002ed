"""Found through PYTHONPATH by one replay: notes every write, by tracing each instruction in Python.

The oracle of `last_write`, which shares nothing with it but the numbers of steps and threads. The
file `questions` beside it has the program's path, its sources, and what is asked: a step, a thread,
one of its frames, and a name or an attribute. Each is answered when the replay comes to the step,
in a line of the file `answers`: thread, file, line, step of the last write, and the step of the one
before it; nothing if there was none, `unknown` if an object could not be told.
"""

import _thread
import ast
import os
import sys

from reenact import _core

HERE = os.path.dirname(__file__)
HIGH = 4000  # a descriptor that no program gets
NAMES = {"STORE_NAME", "STORE_GLOBAL", "DELETE_NAME", "DELETE_GLOBAL"}
LOCALS = {"STORE_FAST", "DELETE_FAST"}
PAIRS = {"STORE_FAST_STORE_FAST", "STORE_FAST_LOAD_FAST"}  # 3.13
ATTRIBUTES = {"STORE_ATTR", "DELETE_ATTR"}


def read_questions():
    with open(os.path.join(HERE, "questions"), encoding="utf-8") as file:
        return ast.literal_eval(file.read())


def interesting_opcodes():
    import opcode

    return {
        number: name
        for name, number in opcode.opmap.items()
        if name in NAMES | LOCALS | PAIRS | ATTRIBUTES
    }


def open_answers():
    low = os.open(os.path.join(HERE, "answers"), os.O_WRONLY | os.O_CREAT, 0o600)
    os.dup2(low, HIGH, inheritable=False)
    os.close(low)


before = set(sys.modules)
PROGRAM, SOURCES, QUESTIONS = read_questions()
LINES = {path: text.splitlines() for path, text in SOURCES.items()}
OPCODES = interesting_opcodes()
PARSE, EVAL, COMPILE, WRITE, IDENT = ast.parse, eval, compile, os.write, _thread.get_ident
PLAIN_TARGETS = (ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.expr_context)
WALK, EXPRESSION = ast.walk, ast.Expression
open_answers()
for name in set(sys.modules) - before:
    del sys.modules[name]

writes = {}  # by what is written: an answer
unknown = {}  # by the name of an attribute: the last step at which it was not known whose it is
targets = {}  # by code and offset: how to get at the object whose attribute is written
has_begun = False


def thread_here():
    ident = IDENT()
    return next((each[0] for each in _core.threads() if each[2] == ident), -1)


def note(key, frame, step):
    last = writes.get(key)
    before = last[3] if last else -1
    writes[key] = (thread_here(), frame.f_code.co_filename, frame.f_lineno, step, before)


def target_of(frame):
    """The object whose attribute is written by the instruction, as the source has it."""
    code = frame.f_code
    where = (code, frame.f_lasti)
    if where not in targets:
        positions = list(code.co_positions())[frame.f_lasti // 2]
        targets[where] = parsed(code.co_filename, *positions)
    return EVAL(targets[where], frame.f_globals, frame.f_locals)


def parsed(file, line, last_line, column, last_column):
    if line != last_line or file not in LINES:
        raise LookupError
    text = LINES[file][line - 1].encode()[column:last_column].decode()
    tree = PARSE(text, "<target>", "eval").body
    if not isinstance(tree, ast.Attribute):
        raise LookupError
    if not all(isinstance(each, PLAIN_TARGETS) for each in WALK(tree)):
        raise LookupError
    return COMPILE(EXPRESSION(tree.value), "<target>", "eval")


def argument_of(frame):
    code, at, shift = frame.f_code.co_code, frame.f_lasti, 8
    argument = code[at + 1]
    while at >= 2 and code[at - 2] == EXTENDED:
        at -= 2
        argument |= code[at + 1] << shift
        shift += 8
    return argument


EXTENDED = 144  # EXTENDED_ARG of 3.11 and 3.12


def on_instruction(frame, step):
    name = OPCODES.get(frame.f_code.co_code[frame.f_lasti])
    if name is None:
        return
    argument, code = argument_of(frame), frame.f_code
    if name in ATTRIBUTES:
        attribute = code.co_names[argument]
        try:
            note((id(target_of(frame)), attribute), frame, step)
        except Exception:
            unknown[attribute] = step
    elif name in LOCALS:
        note((id(frame), code._varname_from_oparg(argument)), frame, step)
    elif name in PAIRS:
        note((id(frame), code._varname_from_oparg(argument >> 4)), frame, step)
        if name == "STORE_FAST_STORE_FAST":
            note((id(frame), code._varname_from_oparg(argument & 15)), frame, step)
    elif "GLOBAL" in name or frame.f_locals is frame.f_globals:
        note((id(frame.f_globals), code.co_names[argument]), frame, step)


def on_call(frame, step):
    """A call writes to the arguments, where its caller is."""
    code = frame.f_code
    if frame.f_lasti > 8:
        return  # a generator goes on
    for name in code.co_varnames:
        writes.pop((id(frame), name), None)
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & 4) + bool(code.co_flags & 8)
    for name in code.co_varnames[:count]:
        if frame.f_back is not None:
            note((id(frame), name), frame.f_back, step)


def frame_of(thread, index):
    ident = next(each[2] for each in _core.threads() if each[0] == thread)
    frame = sys._current_frames()[ident]
    while "/reenact/" in frame.f_code.co_filename or frame.f_code.co_filename == __file__:
        frame = frame.f_back
    for _ in range(index):
        frame = frame.f_back
    return frame


def answer(thread, index, text):
    frame = frame_of(thread, index)
    inner, dot, name = text.rpartition(".")
    if dot:
        key = (id(EVAL(inner, frame.f_globals, frame.f_locals)), name)
    elif name in frame.f_code.co_varnames:
        key = (id(frame), name)
    else:
        key = (id(frame.f_globals), name)
    found = writes.get(key)
    if dot and unknown.get(name, -1) > (found[3] if found else -1):
        return "unknown"
    return found


def answer_up_to(step):
    while QUESTIONS and QUESTIONS[0][0] <= step:
        _, thread, index, text = QUESTIONS.pop(0)
        try:
            said = answer(thread, index, text)
        except Exception as error:
            said = f"{type(error).__name__}: {error}"
        WRITE(HIGH, f"{said!r}\n".encode())


def tracer(frame, event, given):
    global has_begun
    file = frame.f_code.co_filename
    if file == PROGRAM:
        has_begun = True
    if not has_begun or "/reenact/" in file or file.startswith("<frozen"):
        return None
    frame.f_trace_opcodes = True
    step = _core.place()[0]
    answer_up_to(step)
    if event == "call":
        on_call(frame, step)
    elif event == "opcode":
        on_instruction(frame, step)
    return tracer


def start():
    import threading

    threading.settrace(tracer)
    sys.settrace(tracer)


start()
