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
#include <string.h>
#include <unistd.h>

enum { LINES_HASHED = 4096, DEEPEST = 256, MOST_THREADS = 256, MOST_RAISED = 8 };

typedef struct {
    int64_t step, line;
} Spot;

/* An exception, and where the line began that raised it. */
typedef struct {
    PyObject *value;
    Spot spot;
} Raised;

static struct {
    bool is_on, is_backward, asks_lines, asks_writes, asks_failures, has_found;
    Spot end;                          /* the hunt is over there; a step below 0: nowhere */
    int32_t thread;                    /* lines of this thread are looked for, -1: of none; */
    int64_t deepest;                   /* in frames at most so deep, */
    int64_t least;                     /* from this line on if just so deep */
    unsigned char lines[LINES_HASHED]; /* numbers of lines that Python is asked about */
    char ours[4096];                   /* what the names of our own files begin with; */
    char skipped[4096];                /* and those that a move does not stop in, one a line */
    PyObject *judge;
    PyObject *masks; /* for each code object, which of its instructions write, as bytes; or for each
                        of them a site and how high the stack is; None: none is of interest */
    Spot found;
    int32_t found_thread;
} hunt;

static Spot here;
static Spot begun[MOST_THREADS][DEEPEST]; /* the last line of each frame, by thread and depth */
static Spot resumed[MOST_THREADS];        /* where each thread went on after another had run */
static int32_t runs = -1;                 /* the thread that the last event was of */
static Raised raised[MOST_THREADS][MOST_RAISED]; /* the last of each thread, the newest first */
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

static bool is_skipped(Frame *frame)
{
    const char *file = PyUnicode_AsUTF8(compat_frame_code(frame)->co_filename);
    const char *begin = hunt.skipped;
    while (*begin != '\0') {
        size_t size = strcspn(begin, "\n");
        if (strncmp(file, begin, size) == 0) {
            return true;
        }
        begin += size + (begin[size] == '\n');
    }
    return false;
}

static Spot *spot_of(int64_t depth)
{
    return &begun[me->index % MOST_THREADS][depth % DEEPEST];
}

/* A switch happens at the step that the thread goes on with. */
static void notice_switch(void)
{
    if (me->index != runs) {
        runs = me->index;
        resumed[runs % MOST_THREADS] = (Spot){gate_step(), 0};
    }
}

/* Where a thread began what it does in a frame: its line, or the rest of it after others had run.
 * Since then nobody else has done anything. */
static Spot spot_now(int32_t thread, int64_t depth)
{
    Spot line = begun[thread % MOST_THREADS][depth % DEEPEST];
    Spot rest = resumed[thread % MOST_THREADS];
    return is_before(line, rest) ? rest : line;
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
    here = (Spot){step, step == here.step ? here.line + 1 : 1};
    if (hunt.end.step >= 0 && !is_before(here, hunt.end)) {
        return talk(STOPPED_AT_PLACE);
    }
    Frame *top = compat_top_frame(PyThreadState_Get());
    bool needs_depth = hunt.asks_writes || hunt.asks_failures || hunt.thread == me->index;
    int64_t depth = needs_depth ? depth_of(top) : 0;
    *spot_of(depth) = here;
    int line = PyFrame_GetLineNumber(frame);
    bool is_found = hunt.thread == me->index && !is_ours(top) &&
                    (depth < hunt.deepest || (depth == hunt.deepest && line >= hunt.least)) &&
                    !is_skipped(top);
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
    return mask == Py_None ? NULL : mask;
}

/* An instruction that the race detector is told of, as if it were a site: its site, the height of
 * the stack, and how many of the values on top are the object and the key. */
static bool is_told(PyFrameObject *frame, PyObject *row, Py_ssize_t unit)
{
    PyObject *entry = unit < PyTuple_GET_SIZE(row) ? PyTuple_GET_ITEM(row, unit) : Py_None;
    if (entry == Py_None) {
        return false;
    }
    AccessSite *site = (AccessSite *)PyTuple_GET_ITEM(entry, 0);
    long height = PyLong_AsLong(PyTuple_GET_ITEM(entry, 1));
    Frame *inner = compat_inner_frame(frame);
    PyObject **top = compat_frame_stack(inner, compat_frame_code(inner)) + height;
    switch (site->kind) {
    case ACCESS_ITEM: modes_tell_item(site, top[-2], top[-1]); break;
    case ACCESS_ATTRIBUTE: modes_tell(site, top[-1]); break;
    default: modes_tell(site, Py_None);
    }
    return true;
}

static int on_call(PyFrameObject *frame)
{
    if (mask_of(frame) != NULL) {
        int64_t depth = depth_of(compat_top_frame(PyThreadState_Get()));
        compat_trace_instructions(frame);
        *spot_of(depth) = depth > 1 ? *spot_of(depth - 1) : here; /* the line that calls */
        if (is_accepted("call", (PyObject *)frame, 0)) {
            find(spot_now(me->index, depth));
            return hunt.is_backward ? 0 : talk(STOPPED_AT_PLACE);
        }
    }
    return 0;
}

/* False if nothing that this instruction does is of interest. */
static bool on_instruction(PyFrameObject *frame, Py_ssize_t unit)
{
    PyObject *mask = mask_of(frame);
    if (mask != NULL && PyTuple_Check(mask)) {
        return is_told(frame, mask, unit);
    }
    if (mask == NULL || unit >= PyBytes_GET_SIZE(mask) || PyBytes_AS_STRING(mask)[unit] == 0) {
        return false;
    }
    if (is_accepted("write", (PyObject *)frame, 2 * unit)) {
        find(spot_now(me->index, depth_of(compat_top_frame(PyThreadState_Get()))));
        if (!hunt.is_backward) {
            talk(STOPPED_AT_PLACE);
        }
    }
    return true;
}

/* ---- failures ---- */

/* Its traceback has one entry: no frame was left by it so far. */
static bool is_new(PyObject *raised_now)
{
    PyObject *traceback = PyTuple_GET_SIZE(raised_now) > 2 ? PyTuple_GET_ITEM(raised_now, 2) : NULL;
    return traceback != NULL && PyTraceBack_Check(traceback) &&
           ((PyTracebackObject *)traceback)->tb_next == NULL;
}

static Raised *raised_as(PyObject *value)
{
    Raised *mine = raised[me->index % MOST_THREADS];
    for (int i = 0; value != NULL && i < MOST_RAISED; i++) {
        if (mine[i].value == value) {
            return &mine[i];
        }
    }
    return NULL;
}

/* Others may be raised and caught while one is on its way. Its address alone does not tell: the
 * next may be where an earlier one was. */
static void on_exception(PyObject *raised_now)
{
    PyObject *value = PyTuple_Check(raised_now) && PyTuple_GET_SIZE(raised_now) > 1
                          ? PyTuple_GET_ITEM(raised_now, 1)
                          : NULL;
    Raised *known = raised_as(value);
    if (known != NULL && !is_new(raised_now)) {
        return;
    }
    Raised *mine = raised[me->index % MOST_THREADS];
    if (known == NULL) {
        memmove(mine + 1, mine, (MOST_RAISED - 1) * sizeof *mine);
        known = mine;
    }
    Spot *spot = spot_of(depth_of(compat_top_frame(PyThreadState_Get())));
    *known = (Raised){.value = value, .spot = *spot};
}

/* Where the exception that is handled was raised. */
static Spot failed(void)
{
    PyObject *value = PyErr_GetHandledException();
    Raised *known = raised_as(value);
    Py_XDECREF(value);
    return (known == NULL ? raised[me->index % MOST_THREADS] : known)->spot;
}

/* Whoever reports an exception that nobody caught. */
static bool reports_failure(PyFrameObject *frame)
{
    PyCodeObject *code = PyFrame_GetCode(frame);
    bool is_of_thread = PyUnicode_CompareWithASCIIString(code->co_name, "invoke_excepthook") == 0;
    bool may_be_main = PyUnicode_CompareWithASCIIString(code->co_name, "fail") == 0;
    const char *file = may_be_main ? PyUnicode_AsUTF8(code->co_filename) : NULL;
    bool is_main = file != NULL && strstr(file, "/reenact/engine/") != NULL;
    PyErr_Clear();
    Py_DECREF(code);
    return is_of_thread || is_main;
}

static int on_event(PyObject *unused, PyFrameObject *frame, int what, PyObject *argument)
{
    culprits_event(unused, frame, what, argument);
    place_event(frame, what);
    if (!hunt.is_on || is_inside || me == NULL) {
        return 0;
    }
    notice_switch();
    switch (what) {
    case PyTrace_LINE: return on_line(frame);
    case PyTrace_OPCODE:
        if (hunt.asks_writes) {
            on_instruction(frame, PyFrame_GetLasti(frame) / 2);
        }
        return 0;
    case PyTrace_EXCEPTION:
        if (hunt.asks_failures) {
            on_exception(argument);
        }
        return 0;
    case PyTrace_CALL:
        if (hunt.asks_failures && reports_failure(frame)) {
            find(failed());
            Py_DECREF(ask("failure", (PyObject *)frame, 0));
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
    bool is_asked = hunt.is_on && hunt.asks_writes && !is_inside && me != NULL && frame != NULL;
    if (is_asked) {
        notice_switch();
    }
    if (is_asked && !on_instruction(frame, offset / 2)) {
        PyObject *monitoring = PySys_GetObject("monitoring");
        return PyObject_GetAttrString(monitoring, "DISABLE");
    }
    Py_RETURN_NONE;
}

/* A stop of the gate's while lines are traced: at the step where the hunt ends, or at the end. */
void trace_stop(enum StopReason reason)
{
    here = (Spot){gate_step(), 0};
    talk(reason);
}

/* No more lines are told, and no hunt goes on. */
void trace_give_up(void)
{
    hunt.is_on = false;
}

void trace_new_thread(void)
{
    if (hunt.is_on) {
        PyEval_SetTrace(on_event, Py_None);
        if (hunt.asks_writes) {
            Py_DECREF(ask("thread", Py_None, 0));
        }
    }
    culprits_new_thread();
}

/* hunt(judge, ours, skipped, end, backward, thread, deepest, least, lines, every_line, writes,
 * failures) */
static PyObject *begin_hunt(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *judge, *lines;
    const char *ours, *skipped;
    int is_backward, thread, every_line, writes, failures;
    long long end_step, end_line, deepest, least;
    if (!PyArg_ParseTuple(args, "Oss(LL)piLLOppp", &judge, &ours, &skipped, &end_step, &end_line,
                          &is_backward, &thread, &deepest, &least, &lines, &every_line, &writes,
                          &failures)) {
        return NULL;
    }
    PyObject *iterator = PyObject_GetIter(lines), *each;
    if (iterator == NULL) {
        return NULL;
    }
    memset(hunt.lines, 0, sizeof hunt.lines);
    strncpy(hunt.ours, ours, sizeof hunt.ours - 1);
    strncpy(hunt.skipped, skipped, sizeof hunt.skipped - 1);
    while ((each = PyIter_Next(iterator)) != NULL) {
        hunt.lines[(size_t)PyLong_AsLong(each) % LINES_HASHED] = 1;
        Py_DECREF(each);
    }
    Py_DECREF(iterator);
    Py_XSETREF(hunt.judge, Py_NewRef(judge));
    Py_XSETREF(hunt.masks, PyDict_New());
    hunt.end = (Spot){end_step, end_line};
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
    int64_t step = gate_step();
    here = (Spot){step, step == here.step ? here.line : 0};
    for (size_t i = 0; i < sizeof begun / sizeof(Spot); i++) {
        ((Spot *)begun)[i] = here;
    }
    runs = gate.holder == NULL ? -1 : gate.holder->index;
    memset(resumed, 0, sizeof resumed);
    if (PyErr_Occurred() || compat_trace_all(on_event) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* found(): step, line and thread of what the hunt has found, or None */
static PyObject *found(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    if (!hunt.has_found) {
        Py_RETURN_NONE;
    }
    return Py_BuildValue("LLi", (long long)hunt.found.step, (long long)hunt.found.line,
                         hunt.found_thread);
}

/* place(): step and line */
static PyObject *place(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    int64_t step = gate_step();
    return Py_BuildValue("LL", (long long)step, (long long)(step == here.step ? here.line : 0));
}

/* line_here(thread): where the line began that the innermost frame of a thread is in, or the rest
 * of it after others had run; and how deep that frame is */
static PyObject *line_here(PyObject *module, PyObject *given)
{
    (void)module;
    long thread = PyLong_AsLong(given);
    if (thread < 0 || (uint32_t)thread >= gate.state->threads) {
        PyErr_SetString(PyExc_ValueError, "line_here(thread)");
        return NULL;
    }
    Frame *frame = compat_top_frame(gate.slots[thread].tstate);
    for (; frame != NULL && is_ours(frame); frame = frame->previous) {
    }
    int64_t depth = depth_of(frame);
    Spot spot = spot_now((int32_t)thread, depth);
    return Py_BuildValue("LLL", (long long)spot.step, (long long)spot.line, (long long)depth);
}

PyMethodDef trace_functions[] = {{"hunt", begin_hunt, METH_VARARGS, NULL},
                                 {"found", found, METH_NOARGS, NULL},
                                 {"place", place, METH_NOARGS, NULL},
                                 {"line_here", line_here, METH_O, NULL},
                                 {"instruction", monitored, METH_VARARGS, NULL},
                                 {NULL, NULL, 0, NULL}};
