/* Where between two points a thread was stopped, and how it is stopped there again.
 *
 * With a GIL, the interpreter lets another thread run after calls, at loop heads and at function
 * entries, also of code that has no points there. Who takes over in a parallel recording (shifts.c)
 * notes the instruction that the other one is at: its code, by a number made of its name and first
 * line, and its offset. In a serial replay of it the thread has its instructions traced from the
 * point before until it has done that one, and the baton is handed over there. If it does not come
 * by, it is stopped at its next point.
 *
 * Which of several times the instruction is meant is not known: the first, unless told otherwise
 * (engine/tries.py). Traced are a few instructions now and then. */
#include "core.h"
#include <frameobject.h>
#include <string.h>

enum { CODE_BITS = 28 };

static struct {
    Thread *thread; /* NULL: none is looked for */
    Halt place;
    uint64_t left;     /* times that it is passed over */
    const Frame *done; /* the frame that has come to the instruction and goes on now */
} sought;

/* Never 0. */
static uint64_t number_of(PyCodeObject *code)
{
    uint64_t hash = 0xcbf29ce484222325ULL ^ (uint64_t)code->co_firstlineno;
    const char *name = PyUnicode_AsUTF8(code->co_qualname);
    for (; name != NULL && *name != '\0'; name++) {
        hash = (hash ^ (unsigned char)*name) * 0x100000001b3ULL;
    }
    return (hash >> (64 - CODE_BITS)) | 1;
}

static Halt place_in(Frame *frame)
{
    PyCodeObject *code = frame == NULL ? NULL : compat_frame_code(frame);
    return code == NULL ? (Halt){0}
                        : (Halt){number_of(code), (uint64_t)compat_frame_offset(frame, code)};
}

/* Of a thread that does not run; the caller has the GIL. */
Halt place_left(const Thread *thread)
{
    Frame *frame = thread->tstate == NULL ? NULL : compat_top_frame(thread->tstate);
    while (frame != NULL && compat_frame_code(frame) == NULL) {
        frame = frame->previous;
    }
    return place_in(frame);
}

static bool is_sought(Frame *frame)
{
    Halt place = place_in(frame);
    return place.code == sought.place.code && place.offset == sought.place.offset;
}

bool place_is_sought(const Thread *thread)
{
    return sought.thread == thread;
}

static int on_event(PyObject *unused, PyFrameObject *frame, int what, PyObject *argument)
{
    (void)unused, (void)argument;
    return place_event(frame, what);
}

void place_give_up(void)
{
    sought.thread = NULL;
    if (PyThreadState_Get()->c_tracefunc == on_event) {
        PyEval_SetTrace(NULL, NULL);
    }
}

/* From an instruction to the next. */
int place_event(PyFrameObject *frame, int what)
{
    if (sought.thread == NULL || sought.thread != me ||
        (what != PyTrace_OPCODE && what != PyTrace_CALL)) {
        return 0;
    }
    if (what == PyTrace_CALL) {
        compat_trace_opcodes(frame);
    }
    Frame *inner = compat_inner_frame(frame);
    if (inner == sought.done && what == PyTrace_OPCODE) {
        sought.done = NULL;
        if (sought.left == 0) {
            place_give_up();
            replay_stop_between(me);
            return 0;
        }
        sought.left--;
    }
    if (is_sought(inner)) {
        sought.done = inner;
    }
    return 0;
}

/* From here on, unless the program traces itself. */
void place_seek(Thread *thread, Halt place, uint64_t left)
{
    PyThreadState *tstate = PyThreadState_Get();
    sought.thread = thread;
    sought.place = place;
    sought.left = left;
    sought.done = NULL;
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyFrameObject *top = PyThreadState_GetFrame(tstate);
    if (top != NULL && is_sought(compat_inner_frame(top))) {
        sought.done = compat_inner_frame(top);
    }
    for (PyFrameObject *frame = top, *outer; frame != NULL; frame = outer) {
        compat_trace_opcodes(frame);
        outer = PyFrame_GetBack(frame);
        Py_DECREF(frame);
    }
    if (tstate->c_tracefunc == NULL) {
        PyEval_SetTrace(on_event, Py_None);
    }
    PyErr_Restore(type, value, traceback);
}
