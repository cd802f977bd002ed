/* The baselines as a module: begin(name, path), access(), sync(), end(), and drive(), which feeds
   many events at once with the GIL released. find(name) gives the table of functions as a capsule,
   for the hook of the engine; `find_baseline_with` is the same for dlsym. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "baselines.h"

#include <sched.h>
#include <string.h>

#define CAPSULE "benchmarks.baseline"

static const Baseline *const all[] = {
    &dejavu_baseline, &jarec_baseline, &leap_baseline, &stride_baseline,
    &dejavu_replayer, &jarec_replayer, &leap_replayer, &stride_replayer,
};

static const Baseline *current;

static const Baseline *find_baseline(const char *name)
{
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (strcmp(all[i]->name, name) == 0) {
            return all[i];
        }
    }
    return NULL;
}

static void yield(int turn)
{
    (void)turn;
    sched_yield();
}

void (*baseline_pause)(int) = yield;

__attribute__((visibility("default"))) const Baseline *find_baseline_with(const char *name,
                                                                          void (*pause)(int))
{
    baseline_pause = pause;
    return find_baseline(name);
}

static const Baseline *find_or_raise(const char *name)
{
    const Baseline *found = find_baseline(name);
    if (found == NULL) {
        PyErr_Format(PyExc_LookupError, "there is no baseline %s", name);
    }
    return found;
}

static PyObject *raise_trouble(void)
{
    if (trace_trouble() == NULL) {
        Py_RETURN_NONE;
    }
    PyErr_SetString(PyExc_OSError, trace_trouble());
    return NULL;
}

static PyObject *py_begin(PyObject *self, PyObject *args)
{
    const char *name, *path;
    (void)self;
    if (!PyArg_ParseTuple(args, "ss", &name, &path)) {
        return NULL;
    }
    if (current != NULL) {
        PyErr_SetString(PyExc_RuntimeError, "a baseline has begun and not ended");
        return NULL;
    }
    current = find_or_raise(name);
    if (current == NULL) {
        return NULL;
    }
    current->begin(path);
    return raise_trouble();
}

static int is_ready(int thread)
{
    if (current == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "no baseline has begun");
    }
    else if (thread < 0 || thread >= MOST_THREADS) {
        PyErr_Format(PyExc_ValueError, "thread %d is not below %d", thread, MOST_THREADS);
    }
    else {
        return 1;
    }
    return 0;
}

static PyObject *py_access(PyObject *self, PyObject *args)
{
    int thread, is_write;
    unsigned long long location;
    (void)self;
    if (!PyArg_ParseTuple(args, "iKp", &thread, &location, &is_write) || !is_ready(thread)) {
        return NULL;
    }
    current->access(thread, location, is_write);
    current->leave(thread);
    Py_RETURN_NONE;
}

static PyObject *py_sync(PyObject *self, PyObject *args)
{
    int thread, kind;
    unsigned long long object;
    (void)self;
    if (!PyArg_ParseTuple(args, "iKi", &thread, &object, &kind) || !is_ready(thread)) {
        return NULL;
    }
    current->sync(thread, object, kind);
    Py_RETURN_NONE;
}

/* Events of 16 bytes: a location or an object, and 0 for a read, 1 for a write, 2 and on for kinds
   of synchronisation. */
static PyObject *py_drive(PyObject *self, PyObject *args)
{
    int thread;
    Py_buffer events;
    (void)self;
    if (!PyArg_ParseTuple(args, "iy*", &thread, &events)) {
        return NULL;
    }
    if (!is_ready(thread)) {
        PyBuffer_Release(&events);
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS;
    for (Py_ssize_t at = 0; at + 16 <= events.len; at += 16) {
        uint64_t event[2];
        memcpy(event, (const char *)events.buf + at, sizeof event);
        if (event[1] < 2) {
            current->access(thread, event[0], (int)event[1]);
            current->leave(thread);
        }
        else {
            current->sync(thread, event[0], (int)event[1] - 2);
        }
    }
    Py_END_ALLOW_THREADS;
    PyBuffer_Release(&events);
    Py_RETURN_NONE;
}

static PyObject *py_end(PyObject *self, PyObject *args)
{
    (void)self, (void)args;
    if (!is_ready(0)) {
        return NULL;
    }
    const Baseline *ended = current;
    current = NULL;
    ended->end();
    return raise_trouble();
}

static PyObject *py_find(PyObject *self, PyObject *args)
{
    const char *name;
    (void)self;
    if (!PyArg_ParseTuple(args, "s", &name)) {
        return NULL;
    }
    const Baseline *found = find_or_raise(name);
    return found ? PyCapsule_New((void *)found, CAPSULE, NULL) : NULL;
}

static PyMethodDef methods[] = {
    {"begin", py_begin, METH_VARARGS, "begin(name, path): record to a new file."},
    {"access", py_access, METH_VARARGS, "access(thread, location, is_write)"},
    {"sync", py_sync, METH_VARARGS, "sync(thread, object, kind)"},
    {"drive", py_drive, METH_VARARGS, "drive(thread, events): many, with the GIL released."},
    {"end", py_end, METH_NOARGS, "end(): write the rest; no thread may be recording."},
    {"find", py_find, METH_VARARGS, "find(name): the functions, as a capsule."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {
#ifdef Py_GIL_DISABLED
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_baselines",
    .m_methods = methods,
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__baselines(void)
{
    return PyModuleDef_Init(&module);
}
