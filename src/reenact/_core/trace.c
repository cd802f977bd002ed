/* Where a program is between two steps: the lines that its threads come to, counted.
 *
 * A place is a step, and the number of lines that were begun since the step, by whichever thread
 * ran. Tracing costs time and memory of the program's, so it is for processes that are thrown away
 * (checkpoint.c). A hunt runs through lines up to a place, and looks for what it is told to; going
 * forward it stops at the first that it finds, going backward it remembers the last.
 *
 * What can be decided by numbers is decided here; the rest is asked of Python, rarely. */
#include "core.h"
#include <frameobject.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { LINES_HASHED = 4096, DEEPEST = 256, MOST_THREADS = 256 };

/* The beginning of a line, in a frame of this depth. A line below 0 is not known: it began before
 * the place with this step and the line -1 - line. */
typedef struct {
    int64_t step, line, depth, thread;
} Spot;

static struct {
    bool is_on, is_backward, asks_lines, asks_writes, asks_failures, has_found;
    Spot end;                          /* the hunt is over there; a step below 0: nowhere */
    int32_t thread;                    /* lines of this thread are looked for, -1: of none; */
    int64_t deepest;                   /* in frames at most so deep, */
    int64_t least;                     /* from this line on if just so deep */
    unsigned char lines[LINES_HASHED]; /* numbers of lines that Python is asked about */
    char ours[4096];                   /* what the names of our own files begin with */
    PyObject *judge;
    PyObject *masks; /* for each code object, which of its instructions write; None: none does */
    Spot found;
    int32_t found_thread;
} hunt;

static Spot here;
static Spot begun[MOST_THREADS][DEEPEST]; /* the last line of each frame, by thread and depth */
static Spot raised[MOST_THREADS];         /* where the last exception of each thread began */
static PyObject *raised_value[MOST_THREADS];
static __thread bool is_inside;

bool trace_is_on(void)
{
    return hunt.is_on;
}

static bool is_before(Spot one, Spot other)
{
    return one.step < other.step || (one.step == other.step && one.line < other.line);
}

static int64_t depth_of(Frame *frame)
{
    int64_t depth = 0;
    for (; frame != NULL; frame = frame->previous) {
        depth += compat_frame_code(frame) != NULL;
    }
    return depth;
}

/* Code of ours, or of the import machinery, is no place to stop at. */
static bool is_ours(Frame *frame)
{
    PyCodeObject *code = compat_frame_code(frame);
    const char *file = code == NULL ? NULL : PyUnicode_AsUTF8(code->co_filename);
    return file == NULL || strncmp(file, "<frozen ", 8) == 0 ||
           (hunt.ours[0] != '\0' && strncmp(file, hunt.ours, strlen(hunt.ours)) == 0);
}

static Frame *program_frame(PyThreadState *tstate)
{
    Frame *frame = compat_top_frame(tstate);
    for (; frame != NULL && is_ours(frame); frame = frame->previous) {
    }
    return frame;
}

static void begin_line(Spot at, int64_t thread, int64_t depth)
{
    at.depth = depth;
    at.thread = thread;
    begun[thread % MOST_THREADS][depth % DEEPEST] = at;
}

/* Where the line began that a frame is in. Several frames share a place. */
static Spot line_of(int64_t thread, int64_t depth)
{
    Spot spot = begun[thread % MOST_THREADS][depth % DEEPEST];
    if (spot.depth == depth && spot.thread == thread) {
        return spot;
    }
    return (Spot){here.step, -1 - here.line, depth, thread};
}

static Spot my_line(void)
{
    return line_of(me->index, depth_of(compat_top_frame(PyThreadState_Get())));
}

static int talk(enum StopReason reason)
{
    hunt.is_on = false;
    gate.stop_step = -1;
    is_inside = true;
    checkpoint_talk(reason);
    is_inside = false;
    return 0;
}

static void find(Spot spot)
{
    hunt.has_found = true;
    hunt.found = spot;
    hunt.found_thread = me->index;
}

/* Asks Python; kind is the first letter of line, write or code. */
static PyObject *ask(const char *kind, PyObject *frame, int64_t number)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    is_inside = true;
    Thread *thread = go_quiet();
    PyObject *judged =
        PyObject_CallFunction(hunt.judge, "sOLi", kind, frame, (long long)number, thread->index);
    end_quiet(thread);
    is_inside = false;
    if (judged == NULL) {
        PyErr_Print();
        _exit(EXIT_UNUSABLE);
    }
    PyErr_Restore(type, value, traceback);
    return judged;
}

static bool is_accepted(const char *kind, PyObject *frame, int64_t number)
{
    PyObject *judged = ask(kind, frame, number);
    bool is_so = judged == Py_True;
    Py_DECREF(judged);
    return is_so;
}

static int on_line(PyFrameObject *frame)
{
    int64_t step = gate_step();
    here = (Spot){.step = step, .line = step == here.step ? here.line + 1 : 1};
    if (hunt.end.step >= 0 && !is_before(here, hunt.end)) {
        return talk(STOPPED_AT_PLACE);
    }
    Frame *top = compat_top_frame(PyThreadState_Get());
    bool needs_depth = hunt.asks_writes || hunt.asks_failures || hunt.thread == me->index;
    int64_t depth = needs_depth ? depth_of(top) : 0;
    begin_line(here, me->index, depth);
    int line = PyFrame_GetLineNumber(frame);
    bool is_found = hunt.thread == me->index && !is_ours(top) &&
                    (depth < hunt.deepest || (depth == hunt.deepest && line >= hunt.least));
    bool asks = hunt.asks_lines || hunt.lines[line % LINES_HASHED] != 0;
    if (asks && is_accepted("line", (PyObject *)frame, line)) {
        is_found = true;
    }
    if (is_found) {
        find(here);
        return hunt.is_backward ? 0 : talk(STOPPED_AT_PLACE);
    }
    return 0;
}

/* ---- writes ---- */

/* The mask of the code that a frame runs, borrowed; NULL if nothing in it is looked for. */
static PyObject *mask_of(PyFrameObject *frame)
{
    PyObject *code = (PyObject *)PyFrame_GetCode(frame);
    PyObject *key = PyLong_FromVoidPtr(code);
    PyObject *mask = PyDict_GetItemWithError(hunt.masks, key);
    if (mask == NULL) {
        mask = ask("code", (PyObject *)frame, 0);
        PyDict_SetItem(hunt.masks, key, mask);
        Py_DECREF(mask);
    }
    Py_DECREF(key);
    Py_DECREF(code);
    return PyBytes_Check(mask) ? mask : NULL;
}

/* What a call writes to, its arguments, is written by the line that calls. */
static int on_call(PyFrameObject *frame)
{
    if (mask_of(frame) != NULL) {
        int64_t depth = depth_of(compat_top_frame(PyThreadState_Get()));
        Spot at = depth > 1 ? line_of(me->index, depth - 1) : here;
        compat_trace_instructions(frame);
        begin_line(at, me->index, depth);
        if (is_accepted("call", (PyObject *)frame, 0)) {
            find(at);
            return hunt.is_backward ? 0 : talk(STOPPED_AT_PLACE);
        }
    }
    return 0;
}

static int on_instruction(PyFrameObject *frame, Py_ssize_t unit)
{
    PyObject *mask = mask_of(frame);
    if (mask == NULL || unit < 0 || unit >= PyBytes_GET_SIZE(mask) ||
        PyBytes_AS_STRING(mask)[unit] == 0 || !is_accepted("write", (PyObject *)frame, 2 * unit)) {
        return 0;
    }
    find(my_line());
    return hunt.is_backward ? 0 : talk(STOPPED_AT_PLACE);
}

/* ---- failures ---- */

static void on_exception(PyObject *raised_now)
{
    int32_t thread = me->index % MOST_THREADS;
    PyObject *value = PyTuple_Check(raised_now) && PyTuple_GET_SIZE(raised_now) > 1
                          ? PyTuple_GET_ITEM(raised_now, 1)
                          : NULL;
    if (value != raised_value[thread]) {
        raised_value[thread] = value;
        raised[thread] = my_line();
    }
}

/* Whoever reports an exception that nobody caught. */
static bool reports_failure(PyFrameObject *frame)
{
    PyCodeObject *code = PyFrame_GetCode(frame);
    bool is_of_thread = PyUnicode_CompareWithASCIIString(code->co_name, "invoke_excepthook") == 0;
    bool may_be_main = PyUnicode_CompareWithASCIIString(code->co_name, "fail") == 0;
    const char *file = may_be_main ? PyUnicode_AsUTF8(code->co_filename) : NULL;
    bool is_main = file != NULL && strstr(file, "reenact/engine/child.py") != NULL;
    PyErr_Clear();
    Py_DECREF(code);
    return is_of_thread || is_main;
}

static int on_event(PyObject *unused, PyFrameObject *frame, int what, PyObject *argument)
{
    (void)unused;
    if (!hunt.is_on || is_inside || me == NULL) {
        return 0;
    }
    switch (what) {
    case PyTrace_LINE: return on_line(frame);
    case PyTrace_OPCODE:
        return hunt.asks_writes ? on_instruction(frame, PyFrame_GetLasti(frame) / 2) : 0;
    case PyTrace_EXCEPTION:
        if (hunt.asks_failures) {
            on_exception(argument);
        }
        return 0;
    case PyTrace_CALL:
        if (hunt.asks_failures && reports_failure(frame)) {
            find(raised[me->index % MOST_THREADS]);
        }
        return hunt.asks_writes ? on_call(frame) : 0;
    default: return 0;
    }
}

/* instruction(code, offset): as sys.monitoring tells it, from 3.12 on */
static PyObject *monitored(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *code;
    Py_ssize_t offset;
    PyFrameObject *frame = PyEval_GetFrame();
    if (!PyArg_ParseTuple(args, "On", &code, &offset)) {
        return NULL;
    }
    if (hunt.is_on && hunt.asks_writes && !is_inside && me != NULL && frame != NULL) {
        on_instruction(frame, offset / 2);
    }
    Py_RETURN_NONE;
}

/* A stop of the gate's while lines are traced: at the step where the hunt ends, or at the end. */
void trace_stop(enum StopReason reason)
{
    here = (Spot){.step = gate_step()};
    talk(reason);
}

void trace_new_thread(void)
{
    if (hunt.is_on) {
        PyEval_SetTrace(on_event, Py_None);
    }
}

/* Lines that began before are not known, unless the hunt before this one has noted them; but a
 * thread that stopped at a line is there. */
static void forget_lines(int64_t step, bool was_noting)
{
    here = (Spot){.step = step, .line = step == here.step ? here.line : 0};
    if (!was_noting) {
        memset(begun, 0xff, sizeof begun);
    }
    if (here.line > 0 && gate.holder != NULL) {
        begin_line(here, gate.holder->index, depth_of(program_frame(gate.holder->tstate)));
    }
}

/* hunt(judge, ours, end, backward, thread, deepest, least, lines, every_line, writes, failures) */
static PyObject *begin_hunt(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *judge, *lines;
    const char *ours;
    int is_backward, thread, every_line, writes, failures;
    long long end_step, end_line, deepest, least;
    if (!PyArg_ParseTuple(args, "Os(LL)piLLOppp", &judge, &ours, &end_step, &end_line, &is_backward,
                          &thread, &deepest, &least, &lines, &every_line, &writes, &failures)) {
        return NULL;
    }
    PyObject *iterator = PyObject_GetIter(lines), *each;
    if (iterator == NULL) {
        return NULL;
    }
    memset(hunt.lines, 0, sizeof hunt.lines);
    strncpy(hunt.ours, ours, sizeof hunt.ours - 1);
    while ((each = PyIter_Next(iterator)) != NULL) {
        hunt.lines[(size_t)PyLong_AsLong(each) % LINES_HASHED] = 1;
        Py_DECREF(each);
    }
    Py_DECREF(iterator);
    Py_XSETREF(hunt.judge, Py_NewRef(judge));
    Py_XSETREF(hunt.masks, PyDict_New());
    bool was_noting = hunt.asks_writes;
    hunt.end = (Spot){.step = end_step, .line = end_line};
    hunt.is_backward = is_backward;
    hunt.thread = thread;
    hunt.deepest = deepest;
    hunt.least = least;
    hunt.asks_lines = every_line;
    hunt.asks_writes = writes;
    hunt.asks_failures = failures;
    hunt.has_found = false;
    hunt.is_on = true;
    gate.stop_step = end_line == 0 ? end_step : -1;
    if (gate.holder != NULL) {
        replay_grant(gate.holder, gate_step());
    }
    forget_lines(gate_step(), was_noting);
    if (PyErr_Occurred() || compat_trace_all(on_event) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* found(): step, line, thread and depth of what the hunt has found, or None */
static PyObject *found(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    if (!hunt.has_found) {
        Py_RETURN_NONE;
    }
    return Py_BuildValue("LLiL", (long long)hunt.found.step, (long long)hunt.found.line,
                         hunt.found_thread, (long long)hunt.found.depth);
}

/* place(): step and line */
static PyObject *place(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    int64_t step = gate_step();
    return Py_BuildValue("LL", (long long)step, (long long)(step == here.step ? here.line : 0));
}

/* line_here(thread): where the line began that the innermost frame of a thread is in, and the
 * frame's depth */
static PyObject *line_here(PyObject *module, PyObject *given)
{
    (void)module;
    long thread = PyLong_AsLong(given);
    if (thread < 0 || (uint32_t)thread >= gate.state->threads) {
        PyErr_SetString(PyExc_ValueError, "line_here(thread)");
        return NULL;
    }
    int64_t depth = depth_of(program_frame(gate.slots[thread].tstate));
    Spot spot = line_of(thread, depth);
    return Py_BuildValue("LLL", (long long)spot.step, (long long)spot.line, (long long)spot.depth);
}

/* frame_value(frame, place): what lies at a place of its stack of values */
static PyObject *frame_value(PyObject *module, PyObject *args)
{
    (void)module;
    PyFrameObject *frame;
    int at;
    if (!PyArg_ParseTuple(args, "O!i", &PyFrame_Type, &frame, &at)) {
        return NULL;
    }
    Frame *inner = compat_inner_frame(frame);
    PyCodeObject *code = compat_frame_code(inner);
    PyObject *value = code == NULL || at < 0 || at >= code->co_stacksize
                          ? NULL
                          : compat_frame_stack(inner, code)[at];
    return Py_NewRef(value == NULL ? Py_None : value);
}

/* frame_cell(frame, name): the cell of a variable, or None */
static PyObject *frame_cell(PyObject *module, PyObject *args)
{
    (void)module;
    PyFrameObject *frame;
    PyObject *name;
    if (!PyArg_ParseTuple(args, "O!U", &PyFrame_Type, &frame, &name)) {
        return NULL;
    }
    Frame *inner = compat_inner_frame(frame);
    PyCodeObject *code = compat_frame_code(inner);
    PyObject *cell = code == NULL ? NULL : compat_frame_cell(inner, code, name);
    return Py_NewRef(cell == NULL ? Py_None : cell);
}

/* frame_address(frame): the same for all copies of a process */
static PyObject *frame_address(PyObject *module, PyObject *frame)
{
    (void)module;
    if (!PyFrame_Check(frame)) {
        PyErr_SetString(PyExc_TypeError, "frame_address(frame)");
        return NULL;
    }
    return PyLong_FromVoidPtr(compat_inner_frame((PyFrameObject *)frame));
}

/* threads(): index, status, ident, operation and object of each thread that has not ended */
static PyObject *threads(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    PyObject *list = PyList_New(0);
    for (uint32_t i = 0; list != NULL && i < gate.state->threads; i++) {
        const Thread *thread = &gate.slots[i];
        if (thread->status == ENDED || thread->tstate == NULL) {
            continue;
        }
        PyObject *each =
            Py_BuildValue("iikiIii", thread->index, (int)thread->status, thread->tstate->thread_id,
                          thread->pending_op, thread->pending_object,
                          thread->waits_for == NULL ? -1 : (int)thread->waits_for->kind,
                          thread->waits_for == NULL                  ? -1
                          : thread->waits_for->kind == OBJECT_THREAD ? (int)thread->waits_for->id
                                                                     : thread->waits_for->owner);
        if (each == NULL || PyList_Append(list, each) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(each);
    }
    return list;
}

/* in_copy(function, seconds): in a copy of this thread, which is not to return, and is killed if it
 * takes longer; its process */
static PyObject *in_copy(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *function;
    unsigned seconds;
    if (!PyArg_ParseTuple(args, "OI", &function, &seconds)) {
        return NULL;
    }
    quiet++;
    pid_t pid = fork();
    quiet--;
    if (pid == 0) {
        sigset_t strikes;
        sigemptyset(&strikes);
        sigaddset(&strikes, SIGALRM);
        hunt.is_on = false;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        signal(SIGALRM, SIG_DFL);
        pthread_sigmask(SIG_UNBLOCK, &strikes, NULL);
        alarm(seconds);
        Py_XDECREF(PyObject_CallNoArgs(function));
        _exit(1);
    }
    return PyLong_FromLong(pid);
}

static PyObject *contents_of(const Stream *stream)
{
    const unsigned char *from = stream->base + STREAM_HEADER;
    return PyBytes_FromStringAndSize((const char *)from, stream->at - from);
}

/* output_so_far(): what the program has printed, as the log has it */
static PyObject *output_so_far(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return contents_of(&streams[STREAM_OUTPUT]);
}

/* outcome_so_far(): why the gate ends the process */
static PyObject *outcome_so_far(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return contents_of(&streams[STREAM_OUTCOME]);
}

PyMethodDef trace_functions[] = {{"hunt", begin_hunt, METH_VARARGS, NULL},
                                 {"found", found, METH_NOARGS, NULL},
                                 {"place", place, METH_NOARGS, NULL},
                                 {"line_here", line_here, METH_O, NULL},
                                 {"instruction", monitored, METH_VARARGS, NULL},
                                 {"import_unseen", checkpoint_import, METH_O, NULL},
                                 {"refuse_copies", checkpoint_refuse, METH_O, NULL},
                                 {"in_copy", in_copy, METH_VARARGS, NULL},
                                 {"frame_value", frame_value, METH_VARARGS, NULL},
                                 {"frame_cell", frame_cell, METH_VARARGS, NULL},
                                 {"frame_address", frame_address, METH_O, NULL},
                                 {"threads", threads, METH_NOARGS, NULL},
                                 {"outcome_so_far", outcome_so_far, METH_NOARGS, NULL},
                                 {"output_so_far", output_so_far, METH_NOARGS, NULL},
                                 {NULL, NULL, 0, NULL}};
