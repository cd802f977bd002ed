/* The points of a run of a search: which operations are choices, and who hears of them.
 *
 * search_point is called by the gate before every operation of a thread under control. What Python
 * does to start and end a thread, and to import a module, is machinery: no choice, and no position.
 * Before the others search.c chooses who goes on, an observer may look on, and the garbage may be
 * collected. */
#include "core.h"

enum { MOST_MACHINERY = 32, MOST_CHOICES = 256 };
enum { PATIENT_TICKS = 10, SLICE_COST = 50 }; /* a time slice without a step costs as many */

static bool is_write(enum Operation kind)
{
    return kind != OP_LOCKED && kind != OP_JOIN && kind != OP_READ;
}

static Object world = {.kind = OBJECT_NOTHING}; /* what outside calls touch */

/* ---- machinery: what Python does to start and end a thread, in which no choice matters ---- */

static PyObject *machinery[MOST_MACHINERY], *machinery_file;
static int machinery_count;

/* machinery(codes): functions of one file whose operations, and those of what they call there, are
 * no choices */
static PyObject *set_machinery(PyObject *module, PyObject *codes)
{
    (void)module;
    for (Py_ssize_t i = 0; PyTuple_Check(codes) && i < PyTuple_GET_SIZE(codes); i++) {
        PyObject *code = PyTuple_GET_ITEM(codes, i);
        if (!PyCode_Check(code) || machinery_count == MOST_MACHINERY) {
            PyErr_SetString(PyExc_ValueError, "machinery(codes), of a few functions of one file");
            return NULL;
        }
        machinery[machinery_count++] = Py_NewRef(code);
        machinery_file = ((PyCodeObject *)code)->co_filename;
    }
    Py_RETURN_NONE;
}

/* Imports take locks, and whether a module is loaded already is no matter of the program's. */
static bool is_of_imports(const PyCodeObject *code)
{
    return PyUnicode_CompareWithASCIIString(code->co_filename, "<frozen importlib._bootstrap>") ==
           0;
}

/* Is this done by threading for itself, and not for whoever called it? If not, `outer` is the code
 * that called. */
static bool is_threading(PyCodeObject **outer)
{
    PyThreadState *tstate = compat_thread_state();
    Frame *frame = tstate == NULL ? NULL : compat_top_frame(tstate);
    for (; frame != NULL; frame = frame->previous) {
        PyCodeObject *code = compat_frame_code(frame);
        if (code != NULL && code->co_filename != machinery_file) {
            *outer = code;
            return false;
        }
        for (int i = 0; code != NULL && i < machinery_count; i++) {
            if (machinery[i] == (PyObject *)code) {
                return true;
            }
        }
    }
    return true; /* called from C: the first and last moments of a thread */
}

bool search_is_threading(void)
{
    PyCodeObject *outer;
    return is_threading(&outer);
}

bool search_is_machinery(void)
{
    PyCodeObject *outer;
    return is_threading(&outer) || is_of_imports(outer);
}

static bool is_hidden(const Thread *thread)
{
    if (thread->pending_op == OP_END) {
        return run->ends_matter == 0 || run->ends_matter > search.racy_limit;
    }
    return search_is_machinery();
}

static bool is_sentinel(const Object *object)
{
    for (uint32_t i = 0; i < gate.state->threads; i++) {
        if (gate.slots[i].sentinel != NULL && gate.slots[i].sentinel == object->key) {
            return true;
        }
    }
    return false;
}

/* What the pending operation is on. The end of a thread can be seen by its lock, on 3.11 and 3.12.
 */
static Object *object_touched(const Thread *thread)
{
    Object *object = thread->pending_op == OP_CALL ? &world : thread->pending;
    if (thread->pending_op == OP_END) {
        return thread->sentinel == NULL ? object : object_of(thread->sentinel, OBJECT_LOCK);
    }
    if (object != NULL && run->ends_matter == 0 &&
        (object->kind == OBJECT_THREAD || is_sentinel(object))) {
        run->ends_matter = ++run->racy_count;
    }
    return object;
}

static PyObject *callbacks; /* of the garbage collector */

void points_begin(void)
{
    PyObject *module = callbacks != NULL ? NULL : PyImport_ImportModule("gc");
    PyObject *found = module == NULL ? NULL : PyObject_GetAttrString(module, "callbacks");
    Py_XDECREF(module);
    PyErr_Clear();
    if (found != NULL && PyList_Check(found)) {
        callbacks = found;
    }
}

/* The program's callbacks of the garbage collector may do anything, at any point: now and then one
 * comes between. Once in a run is enough. */
static void maybe_collect(Thread *thread)
{
    if (search.has_collected || search.aborting || callbacks == NULL ||
        PyList_GET_SIZE(callbacks) == 0 || !search_wants_collection(thread)) {
        return;
    }
    search.has_collected = true;
    if (log_is_on()) {
        pthread_mutex_lock(&gate.mutex);
        log_entry(ENTRY_COLLECT, 0);
        pthread_mutex_unlock(&gate.mutex);
    }
    collect_now(0);
}

static PyObject *observer;

/* observe(function or None): called in runs to come that follow given switches, before each
 * operation and access, with (does, thread, position, operation, object, name): first as the thread
 * comes to it, does being False, then as it does it. In between others may run. */
static PyObject *observe(PyObject *module, PyObject *function)
{
    (void)module;
    Py_XSETREF(observer, function == Py_None ? NULL : Py_NewRef(function));
    Py_RETURN_NONE;
}

void search_observe(Thread *thread, bool does, PyObject *object, PyObject *name)
{
    if (observer == NULL || !search.follows || search.aborting) {
        return;
    }
    Thread *self = go_quiet();
    PyObject *result = PyObject_CallFunction(
        observer, "OiIiOO", does ? Py_True : Py_False, thread->index, thread->explored.position,
        thread->pending_op, object == NULL ? Py_None : object, name == NULL ? Py_None : name);
    if (result == NULL) {
        PyErr_WriteUnraisable(observer);
    }
    Py_XDECREF(result);
    end_quiet(self);
}

/* Ticks that are no choices are counted all the same: a loop that waits for another thread, without
 * an operation that we could see, must not go on for ever. */
static bool is_time_for_others(Thread *thread)
{
    return search.at_ticks || ++thread->explored.ticks % PATIENT_TICKS == 0;
}

/* The choice before the running thread's pending operation. */
void search_point(Thread *thread)
{
    Explored *explored = &thread->explored;
    bool is_tick = thread->pending_op == OP_NONE && !explored->is_access;
    if ((explored->is_access && !explored->is_choice) || (is_tick && !is_time_for_others(thread))) {
        return;
    }
    if (!explored->is_access && !is_tick && is_hidden(thread)) {
        explored->pending = NULL;
        return;
    }
    if (!explored->is_access) {
        Object *object = object_touched(thread);
        explored->position += !is_tick || search.at_ticks;
        explored->pending = object == NULL ? NULL : track_of(object);
        explored->pending_writes = is_write((enum Operation)thread->pending_op);
        explored->pending_waits = explored->blocks != NULL;
    }
    if (search.is_settling && (explored->is_access ? explored->is_slice_end : is_tick)) {
        uint64_t cost = search.at_ticks ? 1 : SLICE_COST;
        search.settle_until -= search.settle_until > cost ? cost : search.settle_until;
    }
    explored->site = is_tick || log_is_on() ? 0 : site_here((enum Operation)thread->pending_op);
    bool is_observed = !explored->is_access && !is_tick;
    PyObject *key = is_observed && thread->pending != NULL ? thread->pending->key : NULL;
    if (is_observed) {
        search_observe(thread, false, key, NULL);
    }
    pthread_mutex_lock(&gate.mutex);
    Thread *next = search_choose(thread);
    if (next == NULL || next == thread) {
        pthread_mutex_unlock(&gate.mutex);
    }
    else {
        gate_preempt_locked(thread, next);
    }
    maybe_collect(thread);
    if (is_observed) {
        search_observe(thread, true, key, NULL);
    }
}

/* choose(identities): a position in the list, by the strategy */
static PyObject *choose_among(PyObject *module, PyObject *list)
{
    (void)module;
    Thread *thread = gate_me();
    Py_ssize_t count = PyList_Check(list) ? PyList_GET_SIZE(list) : 0;
    if (thread == NULL || !gate.exploring || search.aborting || count < 2) {
        return PyLong_FromLong(0);
    }
    uint64_t identities[MOST_CHOICES];
    count = count > MOST_CHOICES ? MOST_CHOICES : count;
    for (Py_ssize_t i = 0; i < count; i++) {
        identities[i] = PyLong_AsUnsignedLongLongMask(PyList_GET_ITEM(list, i));
    }
    thread->explored.position++;
    thread->pending_op = OP_CHOICE;
    search_observe(thread, false, NULL, NULL);
    return PyLong_FromSize_t(search_among(identities, (size_t)count));
}

PyMethodDef point_functions[] = {{"explore_machinery", set_machinery, METH_O, NULL},
                                 {"explore_observe", observe, METH_O, NULL},
                                 {"explore_choose", choose_among, METH_O, NULL},
                                 {NULL, NULL, 0, NULL}};
