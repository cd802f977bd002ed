/* The last words of a process that the gate ends: a deadlock, a divergence, the end of a
 * recording. Facts only, as lines of fields; Python turns them into sentences (report.py). */
#include "core.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { DEEPEST_STACK = 100 };

PyObject *last_words;

static void line(const char *format, ...)
{
    char text[4400];
    va_list fields;
    va_start(fields, format);
    int size = vsnprintf(text, sizeof text, format, fields);
    va_end(fields);
    stream_bytes(&streams[STREAM_OUTCOME], text,
                 size < (int)sizeof text ? (size_t)size : sizeof text - 1);
}

static const char *utf8(PyObject *text)
{
    const char *bytes = PyUnicode_AsUTF8(text);
    return bytes == NULL ? "?" : bytes;
}

static void write_stack(PyThreadState *tstate)
{
    Frame *frame = tstate == NULL ? NULL : compat_top_frame(tstate);
    for (int depth = 0; frame != NULL && depth < DEEPEST_STACK; frame = frame->previous, depth++) {
        PyCodeObject *code = compat_frame_code(frame);
        if (code != NULL) {
            line("frame\t%s\t%d\t%s\n", utf8(code->co_filename),
                 PyCode_Addr2Line(code, compat_frame_offset(frame, code)), utf8(code->co_qualname));
        }
    }
}

static void write_thread(Thread *thread)
{
    const Object *object = thread->waits_for;
    int owner = object == NULL                  ? -1
                : object->kind == OBJECT_THREAD ? (int)object->id
                                                : object->owner;
    line("thread\t%d\t%d\t%d\t%u\t%u\t%d\n", thread->index, (int)thread->status, thread->pending_op,
         object != NULL ? object->kind : 0, thread->pending_object, owner);
    if (thread->status != FREE) {
        write_stack(thread->tstate);
    }
}

static void write_threads(void)
{
    for (uint32_t i = 0; i < gate.state->threads; i++) {
        if (gate.slots[i].status != ENDED) {
            write_thread(&gate.slots[i]);
        }
    }
}

/* What the program has printed so far should be seen; best effort, and only with the GIL. */
static void flush_output(void)
{
    if (me == NULL || compat_thread_state() == NULL) {
        return;
    }
    go_quiet();
    static const char *const NAMES[] = {"stdout", "stderr"};
    for (int i = 0; i < 2; i++) {
        PyObject *file = PySys_GetObject(NAMES[i]);
        PyObject *result = file == NULL ? NULL : PyObject_CallMethod(file, "flush", NULL);
        Py_XDECREF(result);
        PyErr_Clear();
    }
    if (last_words != NULL) {
        Py_XDECREF(PyObject_CallNoArgs(last_words));
        PyErr_Clear();
    }
}

static void __attribute__((noreturn)) leave(enum RunEnd end, int code)
{
    if (me != NULL && compat_thread_state() != NULL) {
        enum StopReason reason = end == RUN_DEADLOCKED ? STOPPED_IN_DEADLOCK
                                 : end == RUN_DIVERGED ? STOPPED_DIVERGED
                                                       : STOPPED_AT_END;
        epoch_end(reason);
        checkpoint_stop(reason);
    }
    gate.state->ended = end;
    gate.active = false;
    flush_output();
    _exit(code);
}

void report_deadlock(void)
{
    line("reason\tdeadlock\nat\t%lld\t%d\n", (long long)gate_step(), me != NULL ? me->index : -1);
    write_threads();
    leave(RUN_DEADLOCKED, EXIT_DEADLOCK);
}

void report_divergence(const char *reason, int64_t step, const char *expected, const char *actual)
{
    line("reason\t%s\nat\t%lld\t%d\n", reason, (long long)step, me != NULL ? me->index : -1);
    line("expected\t%s\n", expected);
    line("actual\t%s\n", actual);
    write_threads();
    leave(RUN_DIVERGED, EXIT_DIVERGED);
}

/* May be called by a thread without the GIL. */
void report_uncontrolled(const char *what)
{
    line("reason\tuncontrolled\nat\t%lld\t%d\n", (long long)gate_step(),
         me != NULL ? me->index : -1);
    line("expected\tinput\t%s\n", what);
    gate.state->ended = RUN_CLOSED;
    gate.active = false;
    _exit(EXIT_UNCONTROLLED);
}

void end_of_recording(void)
{
    line("reason\tend of recording\nat\t%lld\t%d\n", (long long)gate_step(),
         me != NULL ? me->index : -1);
    write_threads();
    leave(RUN_CLOSED, EXIT_END_OF_RECORDING);
}
