/* _queue.SimpleQueue, patched in place: a get that would wait waits in the gate.
 *
 * The queue's own C code is only asked for what it can give at once, so its inner lock is never
 * waited for. Invariant: Object.items is the number of items while the gate is active.
 *
 * A program that loads _queue anew gets another type, with methods that take no others. */
#include "core.h"
#include <stdlib.h>

typedef struct {
    PyTypeObject *type;
    PyObject *put, *get, *get_nowait, *qsize;
} Natives;
static Natives *known;
static size_t known_count;
static destructor native_dealloc;

/* There is one: only a queue of a type that was patched gets here. */
static const Natives *natives_of(PyObject *self)
{
    const Natives *natives = known;
    while (!PyObject_TypeCheck(self, natives->type)) {
        natives++;
    }
    return natives;
}

static Object *queue_object(PyObject *self)
{
    Object *object = object_find(self);
    if (object == NULL) {
        object = object_of(self, OBJECT_QUEUE);
        PyObject *size = PyObject_CallOneArg(natives_of(self)->qsize, self);
        object->items = size == NULL ? 0 : PyLong_AsLongLong(size);
        Py_XDECREF(size);
        PyErr_Clear();
    }
    return object;
}

static PyObject *queue_put(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    Thread *thread = gate_me();
    Object *object = gate.active ? queue_object(self) : NULL;
    if (thread != NULL && gate_enter(thread, OP_PUT, object) < 0) {
        return NULL;
    }
    if (object != NULL) {
        object_hold(object);
    }
    PyObject *result = call_method(natives_of(self)->put, self, args, count, names);
    bool is_done = result != NULL && object != NULL && gate.active;
    if (is_done) {
        object->items++;
        if (thread != NULL) {
            gate_done(OP_PUT, object);
        }
    }
    if (object != NULL) {
        object_let_go(object);
    }
    if (is_done) {
        gate_wake(object);
    }
    return result;
}

static PyObject *take_item(PyObject *self, Object *object, enum Operation outcome)
{
    PyObject *item = PyObject_CallOneArg(natives_of(self)->get_nowait, self);
    if (item != NULL) {
        object->items--;
        outcome = OP_GET;
    }
    gate_done(outcome, object);
    return item;
}

static PyObject *queue_get_natively(PyObject *self, PyObject *const *args, Py_ssize_t count,
                                    PyObject *names)
{
    PyObject *item = call_method(natives_of(self)->get, self, args, count, names);
    Object *object = item != NULL && gate.active ? object_find(self) : NULL;
    if (object != NULL) {
        object->items--;
    }
    return item;
}

/* (block=True, timeout=None) */
static int parse_get(PyObject *const *args, Py_ssize_t count, PyObject *names, bool *block,
                     int64_t *timeout_ns)
{
    static const char *const NAMES[] = {"block", "timeout"};
    PyObject *values[2] = {NULL, NULL};
    Py_ssize_t named = names == NULL ? 0 : PyTuple_GET_SIZE(names);
    if (count > 2) {
        PyErr_Format(PyExc_TypeError, "get() takes at most 2 arguments (%zd given)", count);
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        values[i] = args[i];
    }
    for (Py_ssize_t i = 0; i < named; i++) {
        PyObject *name = PyTuple_GET_ITEM(names, i);
        int which = PyUnicode_CompareWithASCIIString(name, NAMES[0]) == 0   ? 0
                    : PyUnicode_CompareWithASCIIString(name, NAMES[1]) == 0 ? 1
                                                                            : -1;
        if (which < 0 || values[which] != NULL) {
            PyErr_Format(PyExc_TypeError, "get() got an unexpected keyword argument '%U'", name);
            return -1;
        }
        values[which] = args[count + i];
    }
    int truth = values[0] == NULL ? 1 : PyObject_IsTrue(values[0]);
    *block = truth > 0;
    *timeout_ns = -1;
    if (truth < 0 || values[1] == NULL || values[1] == Py_None || !*block) {
        return truth < 0 ? -1 : 0;
    }
    if (seconds_to_ns(values[1], timeout_ns) < 0) {
        return -1;
    }
    if (*timeout_ns < 0) {
        PyErr_SetString(PyExc_ValueError, "'timeout' must be a non-negative number");
        return -1;
    }
    if (*timeout_ns / 1000 > PY_TIMEOUT_MAX) {
        PyErr_SetString(PyExc_OverflowError, "timeout value is too large");
        return -1;
    }
    return 0;
}

static PyObject *wait_and_take(Thread *thread, PyObject *self, bool block, int64_t timeout_ns)
{
    Object *object = queue_object(self);
    thread->explored.blocks = block && timeout_ns < 0 ? object : NULL;
    int entered = gate_enter(thread, OP_GET, object);
    thread->explored.blocks = NULL;
    if (entered < 0) {
        return NULL;
    }
    int64_t deadline_ns = deadline_after(timeout_ns);
    enum Waited waited = WAIT_INTERRUPTED;
    object_hold(object);
    while (object->items <= 0 && block && !(waited == WAIT_RESUMED && deadline_ns >= 0)) {
        waited = gate_wait(thread, OP_GET, object, deadline_ns);
        if (waited == WAIT_FAILED || !gate.active) {
            object_let_go(object);
            return waited == WAIT_FAILED ? NULL : PyObject_CallOneArg(natives_of(self)->get, self);
        }
    }
    PyObject *item = take_item(self, object, block ? OP_GET_TIMEOUT : OP_GET_EMPTY);
    object_let_go(object);
    return item;
}

static PyObject *queue_get(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    bool block;
    int64_t timeout_ns;
    Thread *thread = gate_me();
    if (thread == NULL) {
        return queue_get_natively(self, args, count, names);
    }
    if (parse_get(args, count, names, &block, &timeout_ns) < 0) {
        return NULL;
    }
    return wait_and_take(thread, self, block, timeout_ns);
}

static PyObject *queue_get_nowait(PyObject *self, PyObject *unused)
{
    (void)unused;
    Thread *thread = gate_me();
    if (thread == NULL) {
        return queue_get_natively(self, (PyObject *const[]){Py_False}, 1, NULL);
    }
    return wait_and_take(thread, self, false, -1);
}

static void queue_dealloc(PyObject *self)
{
    object_forget(self);
    native_dealloc(self);
}

static PyMethodDef queue_methods[] = {
    {"put", (PyCFunction)(void (*)(void))queue_put, METH_FASTCALL | METH_KEYWORDS, NULL},
    {"put_nowait", (PyCFunction)(void (*)(void))queue_put, METH_FASTCALL | METH_KEYWORDS, NULL},
    {"get", (PyCFunction)(void (*)(void))queue_get, METH_FASTCALL | METH_KEYWORDS, NULL},
    {"get_nowait", queue_get_nowait, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL}};

int queues_install(PyTypeObject *type)
{
    if (type->tp_dealloc == queue_dealloc) {
        return 0;
    }
    Natives *grown = realloc(known, (known_count + 1) * sizeof *known);
    if (grown == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    known = grown;
    Natives natives = {.type = (PyTypeObject *)Py_NewRef(type),
                       .qsize = Py_XNewRef(PyDict_GetItemString(compat_type_dict(type), "qsize")),
                       .put = patch_method(type, &queue_methods[0]),
                       .get = patch_method(type, &queue_methods[2]),
                       .get_nowait = patch_method(type, &queue_methods[3])};
    Py_XDECREF(patch_method(type, &queue_methods[1]));
    if (natives.put == NULL || natives.get == NULL || natives.get_nowait == NULL ||
        natives.qsize == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "this interpreter's SimpleQueue is unknown");
        return -1;
    }
    known[known_count++] = natives;
    native_dealloc = type->tp_dealloc;
    type->tp_dealloc = queue_dealloc;
    return 0;
}
