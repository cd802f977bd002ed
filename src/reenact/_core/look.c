/* What the agent of a traveller asks the core: frames, threads, what was printed; and copies in
 * which it can ask the program. For processes that are thrown away (checkpoint.c). */
#include "core.h"
#include <errno.h>
#include <frameobject.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* site(text): as a placeholder of rewritten code spells it, for is_told */
static PyObject *make_site(PyObject *module, PyObject *text)
{
    (void)module;
    if (!PyUnicode_Check(text) || !is_access_placeholder(text)) {
        PyErr_SetString(PyExc_ValueError, "site(placeholder)");
        return NULL;
    }
    return access_site(text);
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

/* threads(): index, status, ident, operation and object of each thread that has not ended. One that
 * was started counts from then on, whether the system has let it begin or not; its ident is 0. */
static PyObject *threads(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    PyObject *list = PyList_New(0);
    for (uint32_t i = 0; list != NULL && i < gate.state->threads; i++) {
        const Thread *thread = &gate.slots[i];
        bool has_begun = thread->tstate != NULL && compat_top_frame(thread->tstate) != NULL;
        if (thread->status == ENDED || thread->status == FREE) {
            continue;
        }
        PyObject *each = Py_BuildValue(
            "iikiIii", thread->index, (int)thread->status,
            has_begun ? thread->tstate->thread_id : 0UL, thread->pending_op, thread->pending_object,
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

static bool is_alone;

/* Is this a copy that has no other threads? */
bool look_is_alone(void)
{
    return is_alone;
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
        is_alone = true;
        trace_give_up();
        compat_gil_alone(PyThreadState_Get());
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        signal(SIGALRM, SIG_DFL);
        pthread_sigmask(SIG_UNBLOCK, &strikes, NULL);
        alarm(seconds);
        Py_XDECREF(PyObject_CallNoArgs(function));
        _exit(1);
    }
    if (pid < 0) {
        PyErr_Format(PyExc_RuntimeError, "no copy can be made that could be asked: %s",
                     strerror(errno));
        return NULL;
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

/* events_so_far(): how many switches, operations and collections there were, and what is left of
 * each stream of the recording: all before it was compared with what the program did */
static PyObject *events_so_far(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    PyObject *list = PyList_New(0);
    const State *state = gate.state;
    uint64_t counts[3 + STREAM_COUNT] = {state->switches, state->operations, state->collections};
    for (int number = 1; number < STREAM_COUNT; number++) {
        counts[3 + number] = (uint64_t)(cursors[number].end - cursors[number].at);
    }
    for (size_t i = 0; list != NULL && i < sizeof counts / sizeof *counts; i++) {
        PyObject *each = PyLong_FromUnsignedLongLong(counts[i]);
        if (each == NULL || PyList_Append(list, each) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(each);
    }
    return list;
}

/* outcome_so_far(): why the gate ends the process */
static PyObject *outcome_so_far(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return contents_of(&streams[STREAM_OUTCOME]);
}

PyMethodDef look_functions[] = {{"refuse_copies", checkpoint_refuse, METH_O, NULL},
                                {"import_unseen", unseen_import_named, METH_O, NULL},
                                {"digest", digest_objects, METH_VARARGS, NULL},
                                {"in_copy", in_copy, METH_VARARGS, NULL},
                                {"site", make_site, METH_O, NULL},
                                {"frame_value", frame_value, METH_VARARGS, NULL},
                                {"frame_cell", frame_cell, METH_VARARGS, NULL},
                                {"frame_address", frame_address, METH_O, NULL},
                                {"threads", threads, METH_NOARGS, NULL},
                                {"events_so_far", events_so_far, METH_NOARGS, NULL},
                                {"outcome_so_far", outcome_so_far, METH_NOARGS, NULL},
                                {"output_so_far", output_so_far, METH_NOARGS, NULL},
                                {NULL, NULL, 0, NULL}};
