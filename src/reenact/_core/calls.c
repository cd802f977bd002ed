/* The calls of intercept/table.py: what happens in their place.
 *
 * A Call (wrap.c) stands in for a function, or a method of a C type, and does one of these:
 *   outside   performs it with the baton dropped, recording and replaying alike;
 *   recorded  keeps its outcome, which a replay returns without calling;
 *   makes     keeps the numbers of the descriptors it makes; a replay performs it and moves them;
 *   sent      performs it, and lets handlers of signals run;
 *   output    a write: what goes to descriptors 1 and 2 is kept and written again;
 *   passed    performs it, recording and replaying alike;
 *   opens, reads, closes  files (files.c); forks (forks.c).
 * How outcomes are kept and come back is in inputs.c. */
#include "core.h"
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int descriptor_of(const Call *call, PyObject *target)
{
    if (call->is_method) {
        return ((FileObject *)target)->fd;
    }
    int overflow;
    return PyLong_Check(target) ? (int)PyLong_AsLongAndOverflow(target, &overflow) : -1;
}

/* Regular files do not keep a reader waiting. */
static bool is_regular_file(const Call *call, PyObject *const *args, size_t count)
{
    struct stat facts;
    return (call->flags & CALL_ON_DESCRIPTOR) && PyVectorcall_NARGS(count) > 0 &&
           fstat(descriptor_of(call, args[0]), &facts) == 0 && S_ISREG(facts.st_mode);
}

static bool is_passed(const Call *call, PyObject *const *args, size_t count)
{
    return is_regular_file(call, args, count) ||
           ((call->flags & CALL_ON_PATH) && PyVectorcall_NARGS(count) > 0 &&
            files_pass_path(args[0]));
}

/* The controlled thread that makes this call itself, with the baton; NULL if nobody looks. */
Thread *call_thread(void)
{
    Thread *thread = gate_me();
    if (thread == NULL) {
        return NULL;
    }
    call_rejoin(thread); /* robbed of the baton in a call nobody declared */
    parallel_extra_point(thread);
    return gate.active ? thread : NULL;
}

static PyObject *perform(const Call *call, PyObject *const *args, size_t count, PyObject *names)
{
    return PyObject_Vectorcall(call->native, args, count, names);
}

static PyObject *performed(const Call *call, Thread *thread, PyObject *result)
{
    PyObject *type, *value, *traceback;
    if (!(call->flags & CALL_ENDS_EPOCH)) {
        return result;
    }
    PyErr_Fetch(&type, &value, &traceback);
    if (epoch_close(thread) < 0) {
        Py_CLEAR(result);
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(traceback);
        return NULL;
    }
    PyErr_Restore(type, value, traceback);
    return result;
}

PyObject *outside_call(PyObject *self, PyObject *const *args, size_t count, PyObject *names)
{
    Call *call = (Call *)self;
    Thread *thread = call_thread();
    if (thread == NULL || is_passed(call, args, count)) {
        return perform(call, args, count, names);
    }
    if (gate_enter(thread, OP_CALL, NULL) < 0) {
        return NULL;
    }
    gate_done(OP_CALL, NULL);
    gate_drop(thread);
    PyObject *result = call_native(call, thread, args, count, names);
    if (thread->is_left) { /* performed in a replay too */
        thread->is_left = false;
        result = call_native(call, thread, args, count, names);
    }
    return performed(call, thread, result);
}

static PyObject *try_quickly(const Call *call, PyObject *const *args, size_t count, PyObject *names,
                             PyObject **rest)
{
    if (call->quickly == NULL || names != NULL || gate.settings.mode != MODE_RECORD) {
        return NULL;
    }
    PyObject *result = call->quickly(args, PyVectorcall_NARGS(count), rest);
    if (result != NULL) {
        Py_buffer buffer;
        bool fills = call_buffer(call, args, count, &buffer);
        call_begin_input(call, INPUT_OUTCOME);
        call_keep(result, fills ? &buffer : NULL);
        if (fills) {
            PyBuffer_Release(&buffer);
        }
    }
    return result;
}

/* Performed by a replay too: it concerns nothing outside this process. */
PyObject *passed_call(PyObject *self, PyObject *const *args, size_t count, PyObject *names)
{
    Call *call = (Call *)self;
    Thread *thread = call_thread();
    return thread == NULL ? perform(call, args, count, names)
                          : performed(call, thread, call_native(call, thread, args, count, names));
}

static PyObject *recorded_waiting_call(Call *call, Thread *thread, PyObject *const *args,
                                       size_t count, PyObject *names)
{
    if (gate_enter(thread, OP_CALL, NULL) < 0) {
        return NULL;
    }
    gate_done(OP_CALL, NULL);
    PyObject *rest = NULL;
    PyObject *result = try_quickly(call, args, count, names, &rest);
    if (result != NULL) {
        return result;
    }
    if (rest == NULL) {
        return call_keep_or_recall(call, thread, args, count, names);
    }
    PyObject *changed[] = {args[0], rest};
    result = call_keep_or_recall(call, thread, changed, 2, NULL);
    Py_DECREF(rest);
    return result;
}

/* An object with __fspath__ is asked for its path here, since a replay does not call. */
static PyObject *recorded_path_call(Call *call, Thread *thread, PyObject *const *args, size_t count,
                                    PyObject *names)
{
    Py_ssize_t given = PyVectorcall_NARGS(count);
    Py_ssize_t total = given + (names == NULL ? 0 : PyTuple_GET_SIZE(names));
    PyObject *changed[16];
    PyObject *path = total > 16 ? NULL : PyOS_FSPath(args[0]);
    if (path == NULL) {
        PyErr_Clear();
        return call_keep_or_recall(call, thread, args, count, names);
    }
    memcpy(changed, args, (size_t)total * sizeof *changed);
    changed[0] = path;
    PyObject *result = files_pass_path(path)
                           ? call_native(call, thread, changed, (size_t)given, names)
                           : call_keep_or_recall(call, thread, changed, (size_t)given, names);
    Py_DECREF(path);
    return result;
}

static Object passed = {.kind = OBJECT_FILE, .ends = -1, .latest = {.thread = -1}};

/* Nothing is kept of what is done to the program's own files, and a replay does it again: where
 * threads run as they like, in the same order. */
static PyObject *pass_in_order(Call *call, Thread *thread, PyObject *const *args, size_t count,
                               PyObject *names)
{
    if (!gate.has_lanes) {
        return call_native(call, thread, args, count, names);
    }
    object_hold(&passed);
    PyObject *result = call_native(call, thread, args, count, names);
    if (gate.active) {
        PyObject *type, *value, *traceback;
        PyErr_Fetch(&type, &value, &traceback);
        gate_done(OP_TEXT, &passed);
        PyErr_Restore(type, value, traceback);
    }
    object_let_go(&passed);
    return result;
}

PyObject *recorded_call(PyObject *self, PyObject *const *args, size_t count, PyObject *names)
{
    Call *call = (Call *)self;
    Thread *thread = call_thread();
    if (thread == NULL) {
        return perform(call, args, count, names);
    }
    if (is_passed(call, args, count)) {
        return pass_in_order(call, thread, args, count, names);
    }
    if (call->flags & CALL_WAITS) {
        return recorded_waiting_call(call, thread, args, count, names);
    }
    if ((call->flags & CALL_ON_PATH) && PyVectorcall_NARGS(count) > 0 &&
        !PyUnicode_CheckExact(args[0]) && !PyLong_Check(args[0])) {
        return recorded_path_call(call, thread, args, count, names);
    }
    PyObject *rest = NULL;
    PyObject *result = try_quickly(call, args, count, names, &rest);
    return result != NULL ? result : call_keep_or_recall(call, thread, args, count, names);
}

static bool is_for_itself(PyObject *const *args, size_t count)
{
    int overflow;
    return PyVectorcall_NARGS(count) > 0 && PyLong_Check(args[0]) &&
           PyLong_AsLongAndOverflow(args[0], &overflow) == (long)getpid();
}

/* A signal to another process is sent once; one to the program itself is its own again. Then a
 * point: Python would run its handler there and then. */
PyObject *sent_call(PyObject *self, PyObject *const *args, size_t count, PyObject *names)
{
    Call *call = (Call *)self;
    Thread *thread = call_thread();
    if (thread == NULL) {
        return perform(call, args, count, names);
    }
    PyObject *result;
    if (gate.settings.mode == MODE_REPLAY) {
        result = call_recall(call, thread, args, count, names, NULL);
    }
    else {
        bool is_own = is_for_itself(args, count);
        result = call_native(call, thread, args, count, names);
        call_begin_input(call, INPUT_OUTCOME);
        if (is_own) {
            value_put(Py_None);
        }
        else {
            call_keep(result, NULL);
        }
    }
    if (result != NULL && gate_enter(thread, OP_NONE, NULL) < 0) {
        Py_CLEAR(result);
    }
    return result;
}

/* The same for signals that can only go to this process: the schedule says when they are heard. */
PyObject *raised_call(PyObject *self, PyObject *const *args, size_t count, PyObject *names)
{
    PyObject *result = perform((Call *)self, args, count, names);
    Thread *thread = gate_me();
    if (result != NULL && thread != NULL && gate_enter(thread, OP_NONE, NULL) < 0) {
        Py_CLEAR(result);
    }
    return result;
}

/* point(): a place where control may pass on and handlers of signals may run */
static PyObject *point(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    Thread *thread = gate_me();
    if (thread != NULL && gate_enter(thread, OP_NONE, NULL) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static void note_written(int fd, PyObject *data, PyObject *result)
{
    Py_buffer view;
    Py_ssize_t written = PyLong_Check(result) ? PyLong_AsSsize_t(result) : -1;
    if (written <= 0 || PyObject_GetBuffer(data, &view, PyBUF_SIMPLE) < 0) {
        PyErr_Clear();
        return;
    }
    log_output(fd, view.buf, (size_t)(written < view.len ? written : view.len));
    PyBuffer_Release(&view);
}

static Object written = {.kind = OBJECT_FILE, .ends = -1, .latest = {.thread = -1}};

void output_forget(void)
{
    written = passed = (Object){.kind = OBJECT_FILE, .ends = -1, .latest = {.thread = -1}};
}

/* Below a buffered writer there is no point: it holds a lock of its own while it calls this. A pipe
 * or a socket may keep its writer waiting, and has somebody at the other end. */
PyObject *output_call(PyObject *self, PyObject *const *args, size_t count, PyObject *names)
{
    Call *call = (Call *)self;
    int fd = PyVectorcall_NARGS(count) == 2 ? descriptor_of(call, args[0]) : -1;
    if (fd > 2) {
        return recorded_call(self, args, count, names);
    }
    Thread *thread = call->is_method && texts_are_written() ? NULL : gate_me();
    if (thread != NULL) {
        parallel_extra_point(thread);
    }
    object_hold(&written);
    PyObject *result = perform(call, args, count, names);
    if (result != NULL && fd > 0 && log_is_on()) {
        note_written(fd, args[1], result);
    }
    if (thread != NULL && gate.has_lanes) {
        gate_done(OP_TEXT, &written);
    }
    object_let_go(&written);
    return result;
}

PyMethodDef call_functions[] = {{"point", point, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};
