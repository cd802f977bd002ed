/* The calls of intercept/table.py: what stands in for them, and what happens around them.
 *
 * A Call wraps a function, or a method of a C type, and does one of these:
 *   outside   performs it with the baton dropped, recording and replaying alike;
 *   recorded  keeps its outcome, which a replay returns without calling;
 *   makes     keeps the numbers of the descriptors it makes; a replay performs it and moves them;
 *   sent      performs it, and lets handlers of signals run;
 *   output    a write: what goes to descriptors 1 and 2 is kept and written again;
 *   opens, reads, closes  files (files.c).
 * Inside a native call nothing else is recorded: its outcome says it all. */
#include "core.h"
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_CALLS = 4096, LONGEST_NAME = 64 };

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

static void rejoin(Thread *thread)
{
    if (gate.active && thread->away) {
        PyObject *type, *value, *traceback;
        PyErr_Fetch(&type, &value, &traceback);
        gate_rejoin(thread);
        PyErr_Restore(type, value, traceback);
    }
}

/* The controlled thread that makes this call itself, with the baton; NULL if nobody looks. */
Thread *call_thread(void)
{
    Thread *thread = gate_me();
    if (thread == NULL) {
        return NULL;
    }
    rejoin(thread); /* robbed of the baton in a call nobody declared */
    return gate.active ? thread : NULL;
}

static const char *names_of_calls[MOST_CALLS];
static bool is_defined[MOST_CALLS], is_open[MOST_CALLS];

const char *call_name(uint64_t number)
{
    return number < MOST_CALLS && names_of_calls[number] != NULL ? names_of_calls[number] : "?";
}

/* A call's name is written down once, before its first input. */
static void define_call(uint32_t number)
{
    if (!is_defined[number % MOST_CALLS]) {
        is_defined[number % MOST_CALLS] = true;
        site_define_call(number, call_name(number), is_open[number % MOST_CALLS]);
    }
}

/* In a forked child, which has definitions of its own. */
void calls_forget(void)
{
    memset(is_defined, 0, sizeof is_defined);
}

static uint32_t current; /* the call that the main thread is in */

/* The native call that this OS thread is in, and who made it: for what it calls back. */
static __thread const Call *inside_call;
static __thread Thread *inside_thread;

/* A signal's handler runs inside the main thread's call, whose outcome is yet to come. */
void call_put_signalled(int number)
{
    define_call(current);
    stream_varint(&streams[STREAM_INPUTS], (uint64_t)current << 1);
    value_put_signalled(number);
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
    PyObject *result = PyObject_Vectorcall(call->native, args, count, names);
    end_quiet(thread);
    thread->inside--;
    inside_call = outer_call;
    inside_thread = outer_thread;
    rejoin(thread);
    if (thread->index == 0) {
        current = around;
    }
    return result;
}

static PyObject *perform(const Call *call, PyObject *const *args, size_t count, PyObject *names)
{
    return PyObject_Vectorcall(call->native, args, count, names);
}

/* ---- outcomes ---- */

/* A call that waits says so as it begins, and has its outcome later. */
void call_begin_input(const Call *call, enum InputKind kind)
{
    define_call(call->number);
    stream_varint(&streams[STREAM_INPUTS], (uint64_t)call->number << 1 | (uint64_t)kind);
}

/* The next input must be this call's. */
enum InputKind call_take_input(const Call *call)
{
    replay_require_input();
    uint64_t head = cursor_varint(&cursors[STREAM_INPUTS]), recorded = head >> 1;
    if (cursors[STREAM_INPUTS].broken) {
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

static PyObject *perform_and_keep(const Call *call, Thread *thread, PyObject *const *args,
                                  size_t count, PyObject *names, Py_buffer *buffer)
{
    thread->interrupted = false;
    if (may_wait(call, args, count)) {
        call_begin_input(call, INPUT_WAITS);
        gate_drop(thread);
    }
    PyObject *result = call_native(call, thread, args, count, names);
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
    rejoin(thread);
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

static PyObject *recall(const Call *call, Thread *thread, PyObject *const *args, size_t count,
                        PyObject *names, Py_buffer *buffer)
{
    PyObject *result = NULL;
    enum Kept kept = KEPT_SIGNAL;
    int number = 0;
    bool waits = call_take_input(call) == INPUT_WAITS;
    while (kept == KEPT_SIGNAL || kept == KEPT_CALLBACK) {
        if (waits) {
            gate_drop(thread);
            rejoin(thread);
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

static PyObject *keep_or_recall(const Call *call, Thread *thread, PyObject *const *args,
                                size_t count, PyObject *names)
{
    if (call->flags & CALL_STARTS) {
        files_share();
    }
    Py_buffer buffer;
    bool fills = call_buffer(call, args, count, &buffer);
    bool replays = gate.settings.mode == MODE_REPLAY;
    PyObject *result =
        replays ? recall(call, thread, args, count, names, fills ? &buffer : NULL)
                : perform_and_keep(call, thread, args, count, names, fills ? &buffer : NULL);
    if (fills) {
        PyBuffer_Release(&buffer);
    }
    return result;
}

/* ---- what a Call does ---- */

static PyObject *outside_call(PyObject *self, PyObject *const *args, size_t count, PyObject *names)
{
    Call *call = (Call *)self;
    Thread *thread = call_thread();
    if (thread == NULL || is_passed(call, args, count)) {
        return perform(call, args, count, names);
    }
    if (gate_enter(thread, OP_CALL, 0) < 0) {
        return NULL;
    }
    gate_done(OP_CALL, NULL);
    gate_drop(thread);
    return call_native(call, thread, args, count, names);
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
static PyObject *passed_call(PyObject *self, PyObject *const *args, size_t count, PyObject *names)
{
    Call *call = (Call *)self;
    Thread *thread = call_thread();
    return thread == NULL ? perform(call, args, count, names)
                          : call_native(call, thread, args, count, names);
}

static PyObject *recorded_waiting_call(Call *call, Thread *thread, PyObject *const *args,
                                       size_t count, PyObject *names)
{
    if (gate_enter(thread, OP_CALL, 0) < 0) {
        return NULL;
    }
    gate_done(OP_CALL, NULL);
    PyObject *rest = NULL;
    PyObject *result = try_quickly(call, args, count, names, &rest);
    if (result != NULL) {
        return result;
    }
    if (rest == NULL) {
        return keep_or_recall(call, thread, args, count, names);
    }
    PyObject *changed[] = {args[0], rest};
    result = keep_or_recall(call, thread, changed, 2, NULL);
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
        return keep_or_recall(call, thread, args, count, names);
    }
    memcpy(changed, args, (size_t)total * sizeof *changed);
    changed[0] = path;
    PyObject *result = files_pass_path(path)
                           ? call_native(call, thread, changed, (size_t)given, names)
                           : keep_or_recall(call, thread, changed, (size_t)given, names);
    Py_DECREF(path);
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
        return call_native(call, thread, args, count, names);
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
    return result != NULL ? result : keep_or_recall(call, thread, args, count, names);
}

static bool is_for_itself(PyObject *const *args, size_t count)
{
    int overflow;
    return PyVectorcall_NARGS(count) > 0 && PyLong_Check(args[0]) &&
           PyLong_AsLongAndOverflow(args[0], &overflow) == (long)getpid();
}

/* A signal to another process is sent once; one to the program itself is its own again. Then a
 * point: Python would run its handler there and then. */
static PyObject *sent_call(PyObject *self, PyObject *const *args, size_t count, PyObject *names)
{
    Call *call = (Call *)self;
    Thread *thread = call_thread();
    if (thread == NULL) {
        return perform(call, args, count, names);
    }
    PyObject *result;
    if (gate.settings.mode == MODE_REPLAY) {
        result = recall(call, thread, args, count, names, NULL);
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
    if (result != NULL && gate_enter(thread, OP_NONE, 0) < 0) {
        Py_CLEAR(result);
    }
    return result;
}

/* The same for signals that can only go to this process: the schedule says when they are heard. */
static PyObject *raised_call(PyObject *self, PyObject *const *args, size_t count, PyObject *names)
{
    PyObject *result = perform((Call *)self, args, count, names);
    Thread *thread = gate_me();
    if (result != NULL && thread != NULL && gate_enter(thread, OP_NONE, 0) < 0) {
        Py_CLEAR(result);
    }
    return result;
}

/* point(): a place where control may pass on and handlers of signals may run */
static PyObject *point(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    Thread *thread = gate_me();
    if (thread != NULL && gate_enter(thread, OP_NONE, 0) < 0) {
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

/* To a terminal there is no point: the buffered writer above holds a lock of its own while it
 * calls this. A pipe or a socket may keep its writer waiting, and has somebody at the other end. */
static PyObject *output_call(PyObject *self, PyObject *const *args, size_t count, PyObject *names)
{
    Call *call = (Call *)self;
    int fd = PyVectorcall_NARGS(count) == 2 ? descriptor_of(call, args[0]) : -1;
    if (fd > 2) {
        return recorded_call(self, args, count, names);
    }
    PyObject *result = perform(call, args, count, names);
    if (result != NULL && fd > 0 && log_is_on()) {
        note_written(fd, args[1], result);
    }
    return result;
}

/* ---- the type ---- */

static PyObject *call_get(PyObject *self, PyObject *instance, PyObject *type)
{
    (void)type;
    bool is_bound = instance != NULL && instance != Py_None;
    return is_bound ? PyMethod_New(self, instance) : Py_NewRef(self);
}

static PyObject *call_attribute(PyObject *self, PyObject *name)
{
    if (PyUnicode_CompareWithASCIIString(name, "__wrapped__") == 0) {
        return Py_NewRef(((Call *)self)->native);
    }
    PyObject *value = PyObject_GenericGetAttr(self, name);
    if (value == NULL && PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Clear();
        value = PyObject_GetAttr(((Call *)self)->native, name);
    }
    return value;
}

static PyObject *call_describe(PyObject *self)
{
    return PyObject_Repr(((Call *)self)->native);
}

static int call_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(((Call *)self)->native);
    return 0;
}

static void call_dealloc(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    Py_XDECREF(((Call *)self)->native);
    PyObject_GC_Del(self);
}

#define CALL_TYPE(name, flags)                                                                     \
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = name, .tp_basicsize = sizeof(Call),                   \
                                .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC |              \
                                            Py_TPFLAGS_HAVE_VECTORCALL | (flags),                  \
                                .tp_vectorcall_offset = offsetof(Call, call),                      \
                                .tp_call = PyVectorcall_Call, .tp_getattro = call_attribute,       \
                                .tp_repr = call_describe, .tp_traverse = call_traverse,            \
                                .tp_dealloc = call_dealloc

/* A function in a class body must not turn into a method, nor a method into a function. */
PyTypeObject CallType = {CALL_TYPE("reenact._core.Call", 0)};
PyTypeObject MethodCallType = {
    CALL_TYPE("reenact._core.MethodCall", Py_TPFLAGS_METHOD_DESCRIPTOR),
    .tp_descr_get = call_get,
};

static bool is_call(PyObject *object)
{
    return Py_IS_TYPE(object, &CallType) || Py_IS_TYPE(object, &MethodCallType);
}

static const struct {
    const char *name;
    vectorcallfunc call;
} MANNERS[] = {{"outside", outside_call}, {"recorded", recorded_call}, {"makes", makes_call},
               {"sent", sent_call},       {"raised", raised_call},     {"output", output_call},
               {"opens", open_call},      {"reads", read_call},        {"closes", close_call},
               {"forks", fork_call},      {"passed", passed_call}};

static vectorcallfunc find_manner(const char *name)
{
    for (size_t i = 0; i < sizeof MANNERS / sizeof *MANNERS; i++) {
        if (strcmp(MANNERS[i].name, name) == 0) {
            return MANNERS[i].call;
        }
    }
    PyErr_Format(PyExc_ValueError, "no manner %s", name);
    return NULL;
}

/* In static memory: see files.c. */
static char *name_of_new(uint32_t number)
{
    static char texts[MOST_CALLS][LONGEST_NAME];
    names_of_calls[number % MOST_CALLS] = texts[number % MOST_CALLS];
    return texts[number % MOST_CALLS];
}

static Call *new_call(vectorcallfunc function, PyObject *native, uint32_t flags, bool is_method)
{
    static uint32_t numbers;
    Call *call = PyObject_GC_New(Call, is_method ? &MethodCallType : &CallType);
    if (call == NULL) {
        return NULL;
    }
    call->call = function;
    call->native = Py_NewRef(native);
    call->number = ++numbers;
    is_open[call->number % MOST_CALLS] = function == open_call;
    call->flags = flags;
    call->is_method = is_method;
    call->quickly = NULL;
    PyObject_GC_Track(call);
    return call;
}

/* wrap(owner, name, manner, flags): False if there is no such name */
static PyObject *wrap(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *owner, *native;
    const char *name, *manner;
    unsigned int flags;
    if (!PyArg_ParseTuple(args, "OssI", &owner, &name, &manner, &flags)) {
        return NULL;
    }
    bool is_method = PyType_Check(owner);
    PyObject *dict = is_method ? compat_type_dict((PyTypeObject *)owner) : PyModule_GetDict(owner);
    native = dict == NULL ? NULL : PyDict_GetItemString(dict, name);
    if (native == NULL || is_call(native)) {
        return PyBool_FromLong(native != NULL);
    }
    vectorcallfunc function = find_manner(manner);
    Call *call = function == NULL ? NULL : new_call(function, native, flags, is_method);
    if (call == NULL || PyDict_SetItemString(dict, name, (PyObject *)call) < 0) {
        return NULL;
    }
    const char *of = is_method ? ((PyTypeObject *)owner)->tp_name : PyModule_GetName(owner);
    PyOS_snprintf(name_of_new(call->number), LONGEST_NAME, "%s.%s", of, name);
    call->quickly = quick_call(call_name(call->number));
    Py_DECREF(call);
    if (is_method) {
        PyType_Modified((PyTypeObject *)owner);
    }
    Py_RETURN_TRUE;
}

/* call(name, function, manner, flags): the same for any callable, which stays where it is */
static PyObject *make_call(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *native;
    const char *name, *manner;
    unsigned int flags;
    if (!PyArg_ParseTuple(args, "sOsI", &name, &native, &manner, &flags)) {
        return NULL;
    }
    vectorcallfunc function = find_manner(manner);
    Call *call = function == NULL ? NULL : new_call(function, native, flags, false);
    if (call != NULL) {
        PyOS_snprintf(name_of_new(call->number), LONGEST_NAME, "%s", name);
    }
    return (PyObject *)call;
}

/* put(type, name, value): an attribute of a C type, which setattr refuses to set */
static PyObject *put(PyObject *module, PyObject *args)
{
    (void)module;
    PyTypeObject *type;
    PyObject *name, *value;
    if (!PyArg_ParseTuple(args, "O!UO", &PyType_Type, &type, &name, &value) ||
        PyDict_SetItem(compat_type_dict(type), name, value) < 0) {
        return NULL;
    }
    PyType_Modified(type);
    Py_RETURN_NONE;
}

static PyObject *native_sleep;

static PyObject *sleep_for(PyObject *module, PyObject *seconds)
{
    (void)module;
    int64_t timeout_ns;
    Thread *thread = call_thread();
    if (thread == NULL) {
        return PyObject_CallOneArg(native_sleep, seconds);
    }
    if (seconds_to_ns(seconds, &timeout_ns) < 0 || timeout_ns < 0) {
        PyErr_Clear();
        return PyObject_CallOneArg(native_sleep, seconds);
    }
    if (gate_enter(thread, OP_SLEEP, 0) < 0) {
        return NULL;
    }
    int64_t deadline_ns = deadline_after(timeout_ns);
    enum Waited waited;
    do {
        waited = gate_wait(thread, OP_SLEEP, NULL, deadline_ns);
    } while (waited == WAIT_INTERRUPTED && gate.active);
    if (waited == WAIT_FAILED) {
        return NULL;
    }
    if (gate.active) {
        gate_done(OP_SLEEP, NULL);
    }
    Py_RETURN_NONE;
}

static PyObject *keep_sleep(PyObject *module, PyObject *native)
{
    (void)module;
    native_sleep = Py_NewRef(native);
    Py_RETURN_NONE;
}

PyMethodDef call_functions[] = {{"wrap", wrap, METH_VARARGS, NULL},
                                {"call", make_call, METH_VARARGS, NULL},
                                {"answer_with", answer_with, METH_O, NULL},
                                {"call_back", call_back, METH_O, NULL},
                                {"put", put, METH_VARARGS, NULL},
                                {"point", point, METH_NOARGS, NULL},
                                {"sleep", sleep_for, METH_O, NULL},
                                {"keep_sleep", keep_sleep, METH_O, NULL},
                                {NULL, NULL, 0, NULL}};
