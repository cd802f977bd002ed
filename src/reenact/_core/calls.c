/* Calls that wait for the outside world, and calls that print.
 *
 * Outside wraps a callable that may block: the baton is dropped while it runs, and the return
 * takes a place in the schedule. Recorded does the same and keeps the outcome, which a replay
 * returns without calling. Sent wraps a call that may send the program a signal. Output wraps a
 * write and keeps what goes to descriptors 1 and 2. All stand in for functions and for methods of
 * C types. */
#include "core.h"
#include <stddef.h>
#include <sys/stat.h>

typedef struct {
    PyObject_HEAD vectorcallfunc call;
    PyObject *native;
    bool is_method;
    bool on_descriptor; /* its first argument is a file or a descriptor */
    bool fills;         /* its second argument is a buffer that it fills */
} Wrapper;

static int descriptor_of(Wrapper *wrapper, PyObject *target)
{
    if (wrapper->is_method) {
        return ((FileObject *)target)->fd;
    }
    int overflow;
    return PyLong_Check(target) ? (int)PyLong_AsLongAndOverflow(target, &overflow) : -1;
}

/* Regular files do not keep a reader waiting. */
static bool is_regular_file(Wrapper *wrapper, PyObject *const *args, size_t count)
{
    struct stat facts;
    return wrapper->on_descriptor && PyVectorcall_NARGS(count) > 0 &&
           fstat(descriptor_of(wrapper, args[0]), &facts) == 0 && S_ISREG(facts.st_mode);
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

/* The controlled thread for which this call leaves the gate, or NULL if it just happens. */
static Thread *leaver(PyObject *self, PyObject *const *args, size_t count)
{
    Thread *thread = gate_me();
    if (thread == NULL || thread->away || is_regular_file((Wrapper *)self, args, count)) {
        return NULL;
    }
    return thread;
}

static PyObject *outside_call(PyObject *self, PyObject *const *args, size_t count, PyObject *names)
{
    PyObject *native = ((Wrapper *)self)->native;
    Thread *thread = leaver(self, args, count);
    if (thread == NULL) {
        return PyObject_Vectorcall(native, args, count, names);
    }
    if (gate_enter(thread, OP_CALL, 0) < 0) {
        return NULL;
    }
    gate_done(OP_CALL, NULL);
    gate_drop(thread);
    PyObject *result = PyObject_Vectorcall(native, args, count, names);
    rejoin(thread);
    return result;
}

/* The buffer that the call fills: its first argument after self or the descriptor. */
static bool filled_buffer(Wrapper *wrapper, PyObject *const *args, size_t count, Py_buffer *buffer)
{
    if (!wrapper->fills || PyVectorcall_NARGS(count) < 2) {
        return false;
    }
    if (PyObject_GetBuffer(args[1], buffer, PyBUF_WRITABLE) < 0) {
        PyErr_Clear();
        return false;
    }
    return true;
}

static void keep_outcome(PyObject *result, Py_buffer *buffer)
{
    Py_ssize_t count = result != NULL && PyLong_Check(result) ? PyLong_AsSsize_t(result) : -1;
    if (result == NULL) {
        value_put_exception();
    }
    else if (buffer != NULL && count >= 0 && count <= buffer->len) {
        value_put_filled(count, buffer->buf);
    }
    else {
        value_put(result);
    }
}

static PyObject *perform_and_keep(Wrapper *wrapper, Thread *thread, PyObject *const *args,
                                  size_t count, PyObject *names, Py_buffer *buffer)
{
    gate_drop(thread);
    PyObject *result = PyObject_Vectorcall(wrapper->native, args, count, names);
    rejoin(thread);
    if (gate.active) {
        keep_outcome(result, buffer);
    }
    return result;
}

static PyObject *recall(Wrapper *wrapper, Thread *thread, PyObject *const *args, size_t count,
                        PyObject *names, Py_buffer *buffer)
{
    PyObject *result = NULL;
    gate_drop(thread);
    rejoin(thread);
    replay_require_input();
    enum Kept kept = value_take(buffer, &result);
    if (kept == KEPT_BROKEN) {
        replay_bad_input();
    }
    return kept == KEPT_NOT ? PyObject_Vectorcall(wrapper->native, args, count, names) : result;
}

static PyObject *recorded_call(PyObject *self, PyObject *const *args, size_t count, PyObject *names)
{
    Wrapper *wrapper = (Wrapper *)self;
    Thread *thread = leaver(self, args, count);
    if (thread == NULL) {
        return PyObject_Vectorcall(wrapper->native, args, count, names);
    }
    if (gate_enter(thread, OP_CALL, 0) < 0) {
        return NULL;
    }
    gate_done(OP_CALL, NULL);
    Py_buffer buffer;
    bool fills = filled_buffer(wrapper, args, count, &buffer);
    PyObject *(*act)(Wrapper *, Thread *, PyObject *const *, size_t, PyObject *, Py_buffer *) =
        gate.settings.mode == MODE_REPLAY ? recall : perform_and_keep;
    PyObject *result = act(wrapper, thread, args, count, names, fills ? &buffer : NULL);
    if (fills) {
        PyBuffer_Release(&buffer);
    }
    return result;
}

/* A point once the signal is sent: Python would run its handler there and then. */
static PyObject *sent_call(PyObject *self, PyObject *const *args, size_t count, PyObject *names)
{
    PyObject *result = PyObject_Vectorcall(((Wrapper *)self)->native, args, count, names);
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
    Wrapper *wrapper = (Wrapper *)self;
    int fd = PyVectorcall_NARGS(count) == 2 ? descriptor_of(wrapper, args[0]) : -1;
    if (fd > 2) {
        return recorded_call(self, args, count, names);
    }
    PyObject *result = PyObject_Vectorcall(wrapper->native, args, count, names);
    if (result != NULL && fd > 0 && log_is_on()) {
        note_written(fd, args[1], result);
    }
    return result;
}

static PyObject *wrapper_get(PyObject *self, PyObject *instance, PyObject *type)
{
    (void)type;
    if (!((Wrapper *)self)->is_method || instance == NULL || instance == Py_None) {
        return Py_NewRef(self);
    }
    return PyMethod_New(self, instance);
}

static PyObject *wrapper_attribute(PyObject *self, PyObject *name)
{
    PyObject *value = PyObject_GenericGetAttr(self, name);
    if (value == NULL && PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Clear();
        value = PyObject_GetAttr(((Wrapper *)self)->native, name);
    }
    return value;
}

static PyObject *wrapper_describe(PyObject *self)
{
    return PyObject_Repr(((Wrapper *)self)->native);
}

static int wrapper_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(((Wrapper *)self)->native);
    return 0;
}

static void wrapper_dealloc(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    Py_XDECREF(((Wrapper *)self)->native);
    PyObject_GC_Del(self);
}

#define WRAPPER_TYPE(name)                                                                         \
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = name, .tp_basicsize = sizeof(Wrapper),                \
                                .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC |              \
                                            Py_TPFLAGS_HAVE_VECTORCALL |                           \
                                            Py_TPFLAGS_METHOD_DESCRIPTOR,                          \
                                .tp_vectorcall_offset = offsetof(Wrapper, call),                   \
                                .tp_call = PyVectorcall_Call, .tp_descr_get = wrapper_get,         \
                                .tp_getattro = wrapper_attribute, .tp_repr = wrapper_describe,     \
                                .tp_traverse = wrapper_traverse, .tp_dealloc = wrapper_dealloc

/* A plain function in a class body must not turn into a method, nor a method into a function. */
PyTypeObject OutsideType = {WRAPPER_TYPE("reenact._core.Outside")};
PyTypeObject RecordedType = {WRAPPER_TYPE("reenact._core.Recorded")};
PyTypeObject SentType = {WRAPPER_TYPE("reenact._core.Sent")};
PyTypeObject OutputType = {WRAPPER_TYPE("reenact._core.Output")};

static Wrapper *wrap(PyTypeObject *type, vectorcallfunc call, PyObject *native, bool is_method)
{
    Wrapper *wrapper = PyObject_GC_New(Wrapper, type);
    if (wrapper == NULL) {
        return NULL;
    }
    wrapper->call = call;
    wrapper->native = Py_NewRef(native);
    wrapper->is_method = is_method;
    wrapper->on_descriptor = wrapper->fills = false;
    PyObject_GC_Track(wrapper);
    return wrapper;
}

static PyObject *wrap_named(PyObject *args, PyTypeObject *type, vectorcallfunc call)
{
    PyObject *owner, *native;
    const char *name;
    int on_descriptor = false, fills = false;
    if (!PyArg_ParseTuple(args, "Os|pp", &owner, &name, &on_descriptor, &fills)) {
        return NULL;
    }
    bool is_method = PyType_Check(owner);
    PyObject *dict = is_method ? ((PyTypeObject *)owner)->tp_dict : PyModule_GetDict(owner);
    native = dict == NULL ? NULL : PyDict_GetItemString(dict, name);
    if (native == NULL || Py_IS_TYPE(native, type)) {
        return PyBool_FromLong(native != NULL);
    }
    Wrapper *wrapper = wrap(type, call, native, is_method);
    if (wrapper == NULL || PyDict_SetItemString(dict, name, (PyObject *)wrapper) < 0) {
        return NULL;
    }
    wrapper->on_descriptor = on_descriptor;
    wrapper->fills = fills;
    Py_DECREF(wrapper);
    if (is_method) {
        PyType_Modified((PyTypeObject *)owner);
    }
    Py_RETURN_TRUE;
}

/* outside(owner, name, on_descriptor=False): owner.name may block; False if there is no such name
 */
static PyObject *outside(PyObject *module, PyObject *args)
{
    (void)module;
    return wrap_named(args, &OutsideType, outside_call);
}

/* recorded(owner, name, on_descriptor, fills): the same, and a replay returns what it returned */
static PyObject *recorded(PyObject *module, PyObject *args)
{
    (void)module;
    return wrap_named(args, &RecordedType, recorded_call);
}

/* sent(owner, name, ...): owner.name sends a signal */
static PyObject *sent(PyObject *module, PyObject *args)
{
    (void)module;
    return wrap_named(args, &SentType, sent_call);
}

/* output(owner, name): owner.name writes to a descriptor */
static PyObject *output(PyObject *module, PyObject *args)
{
    (void)module;
    return wrap_named(args, &OutputType, output_call);
}

static PyObject *native_sleep;

static PyObject *sleep_for(PyObject *module, PyObject *seconds)
{
    (void)module;
    int64_t timeout_ns;
    Thread *thread = gate_me();
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

PyMethodDef call_functions[] = {
    {"outside", outside, METH_VARARGS, NULL}, {"recorded", recorded, METH_VARARGS, NULL},
    {"sent", sent, METH_VARARGS, NULL},       {"output", output, METH_VARARGS, NULL},
    {"point", point, METH_NOARGS, NULL},      {"sleep", sleep_for, METH_O, NULL},
    {"keep_sleep", keep_sleep, METH_O, NULL}, {NULL, NULL, 0, NULL}};
