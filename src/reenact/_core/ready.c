/* Event loops in a run of a search: what their threads wait for, and the numbers of their tasks.
 *
 * A Ready stands for one loop. Its thread waits in the gate, not in the kernel, until a
 * descriptor is ready (poll is asked whenever somebody is chosen) or its deadline has come. Who
 * calls the loop from another thread, and who closes it, does an operation on the same object.
 * If others than the threads of this process could make a descriptor ready, the thread is
 * *abroad*: then time stands still for a while, and waiting for ever is no deadlock.
 *
 * Tasks and futures that a run makes are numbered in order, and hash by that number: asyncio goes
 * through sets of them, and their addresses differ from run to run. */
#include "core.h"
#include <poll.h>
#include <stdlib.h>

typedef struct {
    PyObject_HEAD struct pollfd *descriptors;
    nfds_t count;
} Ready;

bool ready_is_free(const Object *object)
{
    Ready *ready = (Ready *)object->key;
    return ready == NULL || poll(ready->descriptors, ready->count, 0) != 0;
}

/* Loops that have something to do by now may run: caller holds the mutex. */
bool ready_look(void)
{
    bool found = false;
    for (uint32_t i = 0; i < gate.state->threads; i++) {
        Thread *thread = &gate.slots[i];
        if (thread->status == WAITING && thread->waits_for != NULL &&
            thread->waits_for->kind == OBJECT_LOOP && ready_is_free(thread->waits_for)) {
            thread->status = READY;
            queue_push(thread);
            found = true;
        }
    }
    return found;
}

/* In a run, or in the replay of one, which does the same operations. */
static bool is_explored(const Thread *thread)
{
    return thread != NULL &&
           (gate.exploring || (gate.settings.mode == MODE_REPLAY && search.number > 0));
}

static bool is_alone(void)
{
    for (uint32_t i = 0; i < gate.state->threads; i++) {
        if (&gate.slots[i] != me && gate.slots[i].status != ENDED) {
            return false;
        }
    }
    return true;
}

/* ---- the type ---- */

static PyObject *ready_new(PyTypeObject *type, PyObject *args, PyObject *names)
{
    (void)args, (void)names;
    return type->tp_alloc(type, 0);
}

static void ready_dealloc(PyObject *self)
{
    object_forget(self);
    free(((Ready *)self)->descriptors);
    Py_TYPE(self)->tp_free(self);
}

/* [(descriptor, events), ...] */
static int set_descriptors(Ready *ready, PyObject *list)
{
    nfds_t count = (nfds_t)PyList_GET_SIZE(list);
    struct pollfd *memory = realloc(ready->descriptors, (count + 1) * sizeof *memory);
    if (memory == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    ready->descriptors = memory;
    ready->count = 0;
    for (nfds_t i = 0; i < count; i++) {
        int events;
        if (!PyArg_ParseTuple(PyList_GET_ITEM(list, (Py_ssize_t)i), "ii", &memory[i].fd, &events)) {
            return -1;
        }
        memory[i].events = (short)events;
    }
    ready->count = count;
    return 0;
}

static enum Waited wait_for(Thread *thread, Object *object, int64_t deadline_ns, bool is_abroad,
                            bool is_patient)
{
    thread->explored.is_abroad = is_abroad;
    thread->explored.is_slow = is_patient || is_abroad;
    gate.watching++;
    gate.abroad += is_abroad;
    enum Waited waited = gate_wait(thread, OP_GET, object, deadline_ns);
    gate.watching--;
    gate.abroad -= is_abroad;
    thread->explored.is_abroad = thread->explored.is_slow = false;
    return waited;
}

/* come(descriptors, is_timed): the point before a wait; False if the gate has no part in it */
static PyObject *ready_come(PyObject *self, PyObject *args)
{
    PyObject *list;
    int is_timed;
    Thread *thread = call_thread();
    if (!PyArg_ParseTuple(args, "O!p", &PyList_Type, &list, &is_timed) ||
        set_descriptors((Ready *)self, list) < 0) {
        return NULL;
    }
    if (!is_explored(thread)) {
        Py_RETURN_FALSE;
    }
    Object *object = object_of(self, OBJECT_LOOP);
    thread->explored.blocks = is_timed ? NULL : object;
    int entered = gate_enter(thread, OP_GET, object);
    thread->explored.blocks = NULL;
    if (entered < 0) {
        return NULL;
    }
    Py_RETURN_TRUE;
}

/* is_free(): need it not wait? A replay is told, since nothing comes in there. */
static PyObject *ready_free(PyObject *self, PyObject *unused)
{
    (void)unused;
    return PyBool_FromLong(ready_is_free(object_of(self, OBJECT_LOOP)));
}

/* wait(seconds or None, is_abroad, is_patient) */
static PyObject *ready_wait(PyObject *self, PyObject *args)
{
    PyObject *seconds;
    int is_abroad, is_patient;
    int64_t timeout_ns = -1;
    Thread *thread = gate_me();
    if (!PyArg_ParseTuple(args, "Opp", &seconds, &is_abroad, &is_patient) ||
        (seconds != Py_None && seconds_to_ns(seconds, &timeout_ns) < 0)) {
        return NULL;
    }
    if (thread != NULL && wait_for(thread, object_of(self, OBJECT_LOOP), deadline_after(timeout_ns),
                                   is_abroad, is_patient) == WAIT_FAILED) {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* done(): the wait is over */
static PyObject *ready_done(PyObject *self, PyObject *unused)
{
    (void)unused;
    if (gate_me() != NULL) {
        gate_done(OP_GET, object_of(self, OBJECT_LOOP));
    }
    Py_RETURN_NONE;
}

/* A loop that is alone has no choice here, but may go round for ever. */
static int count_turn(Thread *thread)
{
    if ((int64_t)++search.turns <= search.limit) {
        return 0;
    }
    pthread_mutex_lock(&gate.mutex);
    search_abort(RUN_OVER_LIMIT);
    pthread_mutex_unlock(&gate.mutex);
    return search_raise(thread, true);
}

static PyObject *touch(PyObject *self, enum Operation kind)
{
    Thread *thread = call_thread();
    if (is_explored(thread) && is_alone() && !search.aborting) {
        if (count_turn(thread) < 0) {
            return NULL;
        }
    }
    else if (is_explored(thread)) {
        Object *object = object_of(self, OBJECT_LOOP);
        if (gate_enter(thread, kind, object) < 0) {
            return NULL;
        }
        gate_done(kind, object);
    }
    Py_RETURN_NONE;
}

/* look(): the loop sees what others have put in, without waiting */
static PyObject *ready_look_at(PyObject *self, PyObject *unused)
{
    (void)unused;
    return touch(self, OP_GET);
}

/* put(): somebody is about to put something in, or to close the loop */
static PyObject *ready_put(PyObject *self, PyObject *unused)
{
    (void)unused;
    return touch(self, OP_PUT);
}

static PyMethodDef ready_methods[] = {{"come", ready_come, METH_VARARGS, NULL},
                                      {"is_free", ready_free, METH_NOARGS, NULL},
                                      {"wait", ready_wait, METH_VARARGS, NULL},
                                      {"done", ready_done, METH_NOARGS, NULL},
                                      {"look", ready_look_at, METH_NOARGS, NULL},
                                      {"put", ready_put, METH_NOARGS, NULL},
                                      {NULL, NULL, 0, NULL}};

PyTypeObject ReadyType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "reenact._core.Ready",
    .tp_basicsize = sizeof(Ready),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = ready_new,
    .tp_dealloc = ready_dealloc,
    .tp_methods = ready_methods,
};

/* pass_time(seconds): it is later than the loop thought; False if a patient wait is in the way */
static PyObject *pass_time(PyObject *module, PyObject *seconds)
{
    (void)module;
    int64_t ns;
    if (seconds_to_ns(seconds, &ns) < 0) {
        return NULL;
    }
    Thread *thread = gate_me();
    bool passes = is_explored(thread) && gate.is_virtual && !search.aborting && ns > 0;
    if (passes) {
        pthread_mutex_lock(&gate.mutex);
        passes = search_pass(ns);
        pthread_mutex_unlock(&gate.mutex);
    }
    return PyBool_FromLong(passes);
}

/* is_aborting(): the run was given up, and comes to its end */
static PyObject *is_aborting(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return PyBool_FromLong(gate.exploring && search.aborting);
}

/* ---- numbers of tasks ---- */

enum { MOST_NUMBERED = 4 };
static struct {
    PyTypeObject *type;
    initproc init;
} numbered[MOST_NUMBERED];
static int numbered_count;
static PyObject *number_name; /* as in intercept/numbers.py */

static initproc native_init(PyTypeObject *type)
{
    for (; type != NULL; type = type->tp_base) {
        for (int i = 0; i < numbered_count; i++) {
            if (numbered[i].type == type) {
                return numbered[i].init;
            }
        }
    }
    return NULL;
}

static int give_number(PyObject *self)
{
    PyObject *number = PyLong_FromUnsignedLongLong(++search.born);
    PyObject *dict = number == NULL ? NULL : PyObject_GenericGetDict(self, NULL);
    int result = dict == NULL ? -1 : PyDict_SetItem(dict, number_name, number);
    Py_XDECREF(dict);
    Py_XDECREF(number);
    return result;
}

static int numbering_init(PyObject *self, PyObject *args, PyObject *names)
{
    if (gate.active && is_explored(me) && give_number(self) < 0) {
        return -1;
    }
    return native_init(Py_TYPE(self))(self, args, names);
}

static Py_hash_t number_or_address(PyObject *self)
{
    PyObject **dict = _PyObject_GetDictPtr(self);
    PyObject *number = dict == NULL || *dict == NULL ? NULL : PyDict_GetItem(*dict, number_name);
    return number == NULL ? PyBaseObject_Type.tp_hash(self) : (Py_hash_t)PyLong_AsSsize_t(number);
}

/* number_instances(type): of a C type whose instances have a dictionary and hash by address */
static PyObject *number_instances(PyObject *module, PyObject *argument)
{
    (void)module;
    if (!PyType_Check(argument) || numbered_count == MOST_NUMBERED) {
        PyErr_SetString(PyExc_TypeError, "number_instances(type), of a few types");
        return NULL;
    }
    PyTypeObject *type = (PyTypeObject *)argument;
    number_name = PyUnicode_InternFromString("_reenact_number");
    numbered[numbered_count].type = (PyTypeObject *)Py_NewRef(argument);
    numbered[numbered_count++].init = type->tp_init;
    type->tp_init = numbering_init;
    type->tp_hash = number_or_address;
    PyType_Modified(type);
    Py_RETURN_NONE;
}

PyMethodDef ready_functions[] = {{"explore_pass_time", pass_time, METH_O, NULL},
                                 {"explore_is_aborting", is_aborting, METH_NOARGS, NULL},
                                 {"explore_number_instances", number_instances, METH_O, NULL},
                                 {NULL, NULL, 0, NULL}};
