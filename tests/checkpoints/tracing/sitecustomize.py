"""Found through PYTHONPATH by one replay: notes every write, by tracing each instruction in Python.

The oracle of `last_write`, which shares nothing with it but the numbers of steps and threads. The
file `questions` beside it has the program's path, what its sources say, and what is asked: a step,
a thread, one of its frames, counted from the outermost, and a name or an attribute. Each is
answered when the replay comes to the step, in a line of the file `answers`: thread, file, line and
step of the last write, and the step of the one before it; nothing if there was none, `unknown` if
an object could not be told.
"""

import _thread
import os
import sys

from reenact import _core

HERE = os.path.dirname(__file__)
HIGH = 4000  # a descriptor that no program gets


def read_questions():
    with open(os.path.join(HERE, "questions"), encoding="utf-8") as file:
        return eval(file.read())


def open_answers():
    low = os.open(os.path.join(HERE, "answers"), os.O_WRONLY | os.O_CREAT, 0o600)
    os.dup2(low, HIGH, inheritable=False)
    os.close(low)


# The program must not find modules imported that it would import itself: none are.
PROGRAM, TARGETS, OPCODES, EXTENDED, RESUME, QUESTIONS = read_questions()
EVAL, COMPILE, WRITE, IDENT = eval, compile, os.write, _thread.get_ident
open_answers()

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
        position = list(code.co_positions())[frame.f_lasti // 2]
        text = TARGETS[code.co_filename][position]
        targets[where] = COMPILE(text, "<target>", "eval")
    return EVAL(targets[where], frame.f_globals, frame.f_locals)


def cell_of(frame, name):
    """What stands for a variable that functions inside, or around, have as well."""
    return id(_core.frame_cell(frame, name)), name


def is_of_c(holder, name):
    """May it be written without an instruction that says so?"""
    if isinstance(holder, type(sys)):
        return not str(getattr(holder, "__file__", None)).endswith(".py")
    descriptor = getattr(type(holder), name, None)
    return type(descriptor).__name__ in ("getset_descriptor", "member_descriptor")


def argument_of(frame):
    code, at, shift = frame.f_code.co_code, frame.f_lasti, 8
    argument = code[at + 1]
    while at >= 2 and code[at - 2] == EXTENDED:
        at -= 2
        argument |= code[at + 1] << shift
        shift += 8
    return argument


def on_instruction(frame, step):
    name = OPCODES.get(frame.f_code.co_code[frame.f_lasti])
    if name is None:
        return
    argument, code = argument_of(frame), frame.f_code
    if name.endswith("_ATTR"):
        attribute = code.co_names[argument]
        try:
            note((id(target_of(frame)), attribute), frame, step)
        except Exception:
            unknown[attribute] = step
    elif name in ("STORE_DEREF", "DELETE_DEREF"):
        note(cell_of(frame, code._varname_from_oparg(argument)), frame, step)
    elif name in ("STORE_FAST", "DELETE_FAST"):
        note((id(frame), code._varname_from_oparg(argument)), frame, step)
    elif name.startswith("STORE_FAST_"):  # 3.13: two in one
        note((id(frame), code._varname_from_oparg(argument >> 4)), frame, step)
        if name == "STORE_FAST_STORE_FAST":
            note((id(frame), code._varname_from_oparg(argument & 15)), frame, step)
    elif "GLOBAL" in name or frame.f_locals is frame.f_globals:
        note((id(frame.f_globals), code.co_names[argument]), frame, step)


def on_call(frame, step):
    """A call writes to the arguments, where its caller is."""
    code = frame.f_code
    if code.co_code[frame.f_lasti] != RESUME or code.co_code[frame.f_lasti + 1] & 3:
        return  # a generator goes on
    for name in code.co_varnames:
        writes.pop((id(frame), name), None)
    for name in code.co_cellvars:
        writes.pop((id(frame), name), None)
        writes.pop(cell_of(frame, name), None)
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & 4) + bool(code.co_flags & 8)
    caller = frame.f_back
    while caller is not None and is_ours(caller):
        caller = caller.f_back
    for name in code.co_varnames[:count]:
        if caller is not None:
            note((id(frame), name), caller, step)


def is_ours(frame):
    file = frame.f_code.co_filename
    return "/reenact/" in file or file == __file__


def frame_of(thread, index):
    ident = next(each[2] for each in _core.threads() if each[0] == thread)
    frame = sys._current_frames()[ident]
    frames = []
    while frame is not None and not frame.f_code.co_filename.endswith("/reenact/engine/child.py"):
        if not is_ours(frame):
            frames.append(frame)
        frame = frame.f_back
    return frames[-index]


def answer(thread, index, text):
    frame = frame_of(thread, index)
    inner, dot, name = text.rpartition(".")
    code = frame.f_code
    if dot:
        holder = EVAL(inner, frame.f_globals, frame.f_locals)
        key = (id(holder), name)
        if key not in writes and is_of_c(holder, name):
            return "unknown"
    elif name in code.co_cellvars or name in code.co_freevars:
        key = cell_of(frame, name)
        key = key if key in writes else (id(frame), name)  # as it was given
    elif name in code.co_varnames:
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


def trace_new_threads():
    """As soon as the program, or who runs it, has imported threading."""
    threading = sys.modules.get("threading")
    if threading is not None and vars(threading).get("_trace_hook", tracer) is None:
        threading._trace_hook = tracer


def tracer(frame, event, given):
    global has_begun
    file = frame.f_code.co_filename
    if file == PROGRAM:
        has_begun = True
    if not has_begun or "/reenact/" in file or file.startswith("<frozen"):
        return None
    frame.f_trace_opcodes = True
    trace_new_threads()
    step = _core.place()[0]
    answer_up_to(step)
    if event == "call":
        on_call(frame, step)
    elif event == "opcode":
        on_instruction(frame, step)
    return tracer


sys.settrace(tracer)
