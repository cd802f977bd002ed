/* Outcomes of calls: kept as they come, and returned without calling.
 *
 * Every input begins with the number of its call, and a replay must come to the same calls in the
 * same order. Inside a native call nothing else is recorded, since its outcome says it all; but
 * two things may interrupt it and have the program run in the middle of it, in a replay too: the
 * handler of a signal (signals.c), and a boundary that calls the program back. */
#include "core.h"

void call_rejoin(Thread *thread)
{
    if (gate.active && thread->away) {
        PyObject *type, *value, *traceback;
        PyErr_Fetch(&type, &value, &traceback);
        gate_rejoin(thread);
        parallel_extra_point(thread);
        PyErr_Restore(type, value, traceback);
    }
}

static uint32_t current; /* the call that the main thread is in */

/* The native call that this OS thread is in, and who made it: for what it calls back. */
static __thread const Call *inside_call;
static __thread Thread *inside_thread;

/* A signal's handler runs inside the main thread's call, whose outcome is yet to come. */
void call_put_signalled(int number)
{
    call_define(current);
    stream_varint(inputs_begin(), (uint64_t)current << 1);
    value_put_signalled(number);
}

/* If the process is copied meanwhile, and the copy is a replay, the call is left there. */
static PyObject *perform(const Call *call, Thread *thread, PyObject *const *args, size_t count,
                         PyObject *names)
{
    if (!fork_is_on()) {
        return PyObject_Vectorcall(call->native, args, count, names);
    }
    jmp_buf mark, *outer = fork_mark;
    PyThreadState *tstate = PyThreadState_Get();
    uintptr_t sections = compat_sections(tstate);
    PyObject *volatile result = NULL;
    fork_mark = &mark;
    if (_setjmp(mark) == 0) {
        result = PyObject_Vectorcall(call->native, args, count, names);
    }
    else {
        compat_leave_sections(tstate, sections);
        PyEval_RestoreThread(tstate);
        thread->is_left = true;
    }
    fork_mark = outer;
    return result;
}

PyObject *call_native(const Call *call, Thread *thread, PyObject *const *args, size_t count,
                      PyObject *names)
{
    uint32_t around = current; /* a handler that runs inside a call makes calls of its own */
    const Call *outer_call = inside_call;
    Thread *outer_thread = inside_thread;
    if (thread->index == 0) {
        current = call->number;
    }
    inside_call = call;
    inside_thread = thread;
    thread->inside++;
    go_quiet(); /* what it does on the way is not the program's doing */
    PyObject *result = perform(call, thread, args, count, names);
    if (threads_is_let_go()) { /* the slot may be another thread's by now */
        return threads_leave(result);
    }
    end_quiet(thread);
    thread->inside--;
    inside_call = outer_call;
    inside_thread = outer_thread;
    call_rejoin(thread);
    if (thread->index == 0) {
        current = around;
    }
    return result;
}

/* A call that waits says so as it begins, and has its outcome later. */
void call_begin_input(const Call *call, enum InputKind kind)
{
    call_define(call->number);
    stream_varint(inputs_begin(), (uint64_t)call->number << 1 | (uint64_t)kind);
}

/* The next input must be this call's. */
enum InputKind call_take_input(const Call *call)
{
    replay_require_input();
    Cursor *cursor = gate.is_parallel ? obey_input(me) : &cursors[STREAM_INPUTS];
    uint64_t head = cursor_varint(cursor), recorded = head >> 1;
    if (cursor->broken) {
        replay_bad_input("inputs that end");
    }
    if (recorded != call->number) {
        replay_other_input(recorded, call->number);
    }
    return (enum InputKind)(head & 1);
}

/* The buffer that the call fills: an argument after self or the descriptor. */
bool call_buffer(const Call *call, PyObject *const *args, size_t count, Py_buffer *buffer)
{
    for (Py_ssize_t i = 1; (call->flags & CALL_FILLS) && i < PyVectorcall_NARGS(count); i++) {
        if (PyObject_CheckBuffer(args[i]) &&
            PyObject_GetBuffer(args[i], buffer, PyBUF_WRITABLE) == 0) {
            return true;
        }
        PyErr_Clear();
    }
    return false;
}

/* How many bytes were put into the buffer: the result, or its first item. */
static Py_ssize_t filled_count(PyObject *result)
{
    bool is_tuple = PyTuple_Check(result) && PyTuple_GET_SIZE(result) > 0;
    PyObject *count = is_tuple ? PyTuple_GET_ITEM(result, 0) : result;
    return PyLong_Check(count) ? PyLong_AsSsize_t(count) : -1;
}

void call_keep(PyObject *result, Py_buffer *buffer)
{
    Py_ssize_t count = result == NULL || buffer == NULL ? -1 : filled_count(result);
    if (result == NULL) {
        value_put_exception();
    }
    else if (count >= 0 && count <= buffer->len) {
        value_put_filled(count, buffer->buf);
        value_put(result);
    }
    else {
        value_put(result);
    }
}

static bool is_zero(PyObject *value)
{
    return (PyLong_CheckExact(value) && PyObject_Not(value) == 1) ||
           (PyFloat_CheckExact(value) && PyFloat_AS_DOUBLE(value) == 0);
}

/* May this call, with these arguments, keep its caller waiting? */
static bool may_wait(const Call *call, PyObject *const *args, size_t count)
{
    Py_ssize_t given = PyVectorcall_NARGS(count);
    uint32_t flags = call->flags;
    return (flags & CALL_WAITS) &&
           !((flags & CALL_ON_SOCKET) && ((SocketObject *)args[0])->timeout == 0) &&
           !((flags & CALL_ZERO_SECOND) && given > 1 && is_zero(args[1])) &&
           !((flags & CALL_ZERO_FOURTH) && given > 3 && is_zero(args[3]));
}

static PyObject *recall_rest(const Call *call, Thread *thread, PyObject *const *args, size_t count,
                             PyObject *names, Py_buffer *buffer, bool waits);

/* The outcome of a call that was under way when this process was copied is in the log. If the call
 * was left it comes from there; if it had come back, it is the same. */
static PyObject *take_over(const Call *call, Thread *thread, PyObject *const *args, size_t count,
                           PyObject *names, Py_buffer *buffer, PyObject *result)
{
    if (thread->is_left) {
        thread->is_left = false;
        return recall_rest(call, thread, args, count, names, buffer, true);
    }
    PyObject *type, *value, *traceback, *same = NULL;
    int unused;
    PyErr_Fetch(&type, &value, &traceback);
    call_take_input(call);
    if (value_take(buffer, &same, &unused) == KEPT_BROKEN) {
        replay_bad_input("a value that is damaged");
    }
    Py_XDECREF(same);
    PyErr_Restore(type, value, traceback);
    return result;
}

static PyObject *perform_and_keep(const Call *call, Thread *thread, PyObject *const *args,
                                  size_t count, PyObject *names, Py_buffer *buffer)
{
    thread->interrupted = false;
    if (may_wait(call, args, count)) {
        call_begin_input(call, INPUT_WAITS);
        gate_drop(thread);
    }
    PyObject *result = call_native(call, thread, args, count, names);
    if (threads_is_let_go()) {
        return result;
    }
    if (gate.settings.mode == MODE_REPLAY) { /* this process was copied meanwhile */
        return take_over(call, thread, args, count, names, buffer, result);
    }
    if (thread->interrupted) { /* raised by a handler, which raises it again in a replay */
        thread->interrupted = false;
    }
    else if (gate.active) {
        call_begin_input(call, INPUT_OUTCOME);
        call_keep(result, buffer);
    }
    return result;
}

/* ---- calls back ---- */

static PyObject *answer; /* what runs the program's part of a call back */

/* answer_with(function): called with what call_back was given, recording and replaying alike */
static PyObject *answer_with(PyObject *module, PyObject *function)
{
    (void)module;
    Py_XSETREF(answer, Py_NewRef(function));
    Py_RETURN_NONE;
}

/* What the call made of the answer is in its outcome. */
static void answer_again(PyObject *value)
{
    PyObject *unused = answer == NULL ? NULL : PyObject_CallOneArg(answer, value);
    Py_XDECREF(unused);
    Py_DECREF(value);
    PyErr_Clear();
}

/* From inside a native call back to the program: with the baton, and seen. */
static PyObject *answer_now(Thread *thread, const Call *call, PyObject *value)
{
    int32_t depth = thread->inside, was_quiet = quiet;
    bool was_away = thread->away;
    me = thread;
    thread->inside = quiet = 0;
    inside_call = NULL;
    inside_thread = NULL;
    call_rejoin(thread);
    if (gate.active) {
        call_begin_input(call, INPUT_OUTCOME);
        value_put_called_back(value);
    }
    PyObject *result = PyObject_CallOneArg(answer, value), *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    if (gate.active && was_away) {
        gate_drop(thread);
    }
    PyErr_Restore(type, error, traceback);
    inside_call = call;
    inside_thread = thread;
    thread->inside = depth;
    quiet = was_quiet;
    me = NULL;
    return result;
}

/* call_back(value): what a native call calls the program with, and what that answers */
static PyObject *call_back(PyObject *module, PyObject *value)
{
    (void)module;
    if (answer == NULL || !value_is_keepable(value)) {
        PyErr_SetString(PyExc_TypeError, "call_back(a plain value), after answer_with(function)");
        return NULL;
    }
    if (threads_is_let_go()) {
        return threads_leave(NULL);
    }
    bool is_seen = gate.active && me == NULL && gate.settings.mode == MODE_RECORD;
    if (is_seen && inside_thread == NULL) {
        PyErr_SetString(PyExc_RuntimeError,
                        "reenact: a thread that is not the program's called back from inside a "
                        "boundary; such calls cannot be recorded");
        return NULL;
    }
    return is_seen ? answer_now(inside_thread, inside_call, value)
                   : PyObject_CallOneArg(answer, value);
}

/* What a call came to that has begun; if it waits, it is back. */
static PyObject *recall_rest(const Call *call, Thread *thread, PyObject *const *args, size_t count,
                             PyObject *names, Py_buffer *buffer, bool waits)
{
    PyObject *result = NULL;
    enum Kept kept = KEPT_SIGNAL;
    int number = 0;
    bool is_back = true;
    while (kept == KEPT_SIGNAL || kept == KEPT_CALLBACK) {
        if (waits && !is_back) {
            gate_drop(thread);
            call_rejoin(thread);
        }
        is_back = false;
        if (waits) {
            call_take_input(call);
        }
        kept = value_take(buffer, &result, &number);
        if (kept == KEPT_SIGNAL && signals_handle_now(number) < 0) {
            return NULL;
        }
        if (kept == KEPT_CALLBACK) {
            answer_again(result);
            waits = waits || call_take_input(call) == INPUT_WAITS;
        }
    }
    if (kept == KEPT_BROKEN) {
        replay_bad_input("a value that is damaged");
    }
    if (kept == KEPT_NOT) {
        return call_native(call, thread, args, count, names);
    }
    if ((call->flags & CALL_MAKES) && result != NULL && !descriptors_place_all(result)) {
        replay_bad_input("a descriptor that is in use");
    }
    if ((call->flags & CALL_REAPS) && result != NULL) {
        forks_reap(result);
    }
    if ((call->flags & CALL_ALSO_PERFORMED) && result != NULL) {
        PyObject *unused = call_native(call, thread, args, count, names);
        Py_XDECREF(unused);
        PyErr_Clear();
    }
    return result;
}

PyObject *call_recall(const Call *call, Thread *thread, PyObject *const *args, size_t count,
                      PyObject *names, Py_buffer *buffer)
{
    bool waits = call_take_input(call) == INPUT_WAITS;
    if (waits) {
        gate_drop(thread);
        call_rejoin(thread);
    }
    return recall_rest(call, thread, args, count, names, buffer, waits);
}

PyObject *call_keep_or_recall(const Call *call, Thread *thread, PyObject *const *args, size_t count,
                              PyObject *names)
{
    if (call->flags & CALL_STARTS) {
        search_uncontrolled("the program starts a process, which is not explored");
        files_share();
    }
    Py_buffer buffer;
    bool fills = call_buffer(call, args, count, &buffer);
    bool replays = gate.settings.mode == MODE_REPLAY;
    PyObject *result =
        replays ? call_recall(call, thread, args, count, names, fills ? &buffer : NULL)
                : perform_and_keep(call, thread, args, count, names, fills ? &buffer : NULL);
    if (fills) {
        PyBuffer_Release(&buffer);
    }
    return result;
}

PyMethodDef input_functions[] = {{"answer_with", answer_with, METH_O, NULL},
                                 {"call_back", call_back, METH_O, NULL},
                                 {NULL, NULL, 0, NULL}};
