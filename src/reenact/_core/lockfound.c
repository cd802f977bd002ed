/* What was found of locks, for Python: as reenact/analysis/locks.py describes it. */
#include "lockorder.h"

/* Stacks are shown once each, and known by their places in a list. */
typedef struct {
    PyObject *stacks; /* list */
    PyObject *places; /* dictionary: number of a stack to its place */
    PyObject *locks;  /* dictionary: id of a lock to what is known of it */
} Shown;

/* Steals item. */
static int append(PyObject *list, PyObject *item)
{
    int result = item == NULL ? -1 : PyList_Append(list, item);
    Py_XDECREF(item);
    return result;
}

static PyObject *show_stack(Shown *shown, uint32_t number)
{
    PyObject *key = PyLong_FromUnsignedLong(number);
    PyObject *place = key == NULL ? NULL : PyDict_GetItemWithError(shown->places, key);
    if (key == NULL || place != NULL || PyErr_Occurred()) {
        Py_XDECREF(key);
        return Py_XNewRef(place);
    }
    place = PyLong_FromSsize_t(PyList_GET_SIZE(shown->stacks));
    if (place != NULL && (append(shown->stacks, depot_show_stack(number)) < 0 ||
                          PyDict_SetItem(shown->places, key, place) < 0)) {
        Py_CLEAR(place);
    }
    Py_DECREF(key);
    return place;
}

static PyObject *show_takers(const WatchedLock *lock)
{
    PyObject *list = PyList_New(0);
    for (uint32_t i = 0; list != NULL && i < lock->taker_count; i++) {
        if (append(list, PyLong_FromLong(lock->takers[i])) < 0) {
            Py_CLEAR(list);
        }
    }
    return list;
}

static PyObject *show_lock(Shown *shown, const WatchedLock *lock)
{
    PyObject *first = lock->first == 0 ? Py_NewRef(Py_None) : show_stack(shown, lock->first);
    return Py_BuildValue("{sI ss sN sO sN sO}", "id", lock->id, "kind",
                         lock->kind == OBJECT_RLOCK ? "rlock" : "lock", "first", first, "handed",
                         lock->is_handed ? Py_True : Py_False, "threads", show_takers(lock),
                         "more_threads", lock->has_more_takers ? Py_True : Py_False);
}

/* The id of a lock, of which is told among the locks. */
static PyObject *show_id(Shown *shown, uint32_t number)
{
    const WatchedLock *lock = &watched_locks[number];
    PyObject *id = PyLong_FromUnsignedLong(lock->id);
    int is_known = id == NULL ? -1 : PyDict_Contains(shown->locks, id);
    if (is_known == 0) {
        PyObject *told = show_lock(shown, lock);
        is_known = told == NULL ? -1 : PyDict_SetItem(shown->locks, id, told);
        Py_XDECREF(told);
    }
    if (is_known < 0) {
        Py_CLEAR(id);
    }
    return id;
}

static PyObject *show_held(Shown *shown, const LockSet *set)
{
    PyObject *list = PyList_New(0);
    for (uint32_t i = 0; list != NULL && i < set->count; i++) {
        PyObject *each = Py_BuildValue("(NN)", show_id(shown, set->held[i].lock),
                                       show_stack(shown, set->held[i].stack));
        if (append(list, each) < 0) {
            Py_CLEAR(list);
        }
    }
    return list;
}

/* Threads by index: (thread, life), and with others who ended the wait. */
static PyObject *show_moments(const Nested *entry)
{
    PyObject *list = PyList_New(0);
    for (uint32_t i = 0; list != NULL && i < entry->moment_count; i++) {
        const Moment *moment = &entry->moments[i];
        PyObject *each = entry->kind == NESTED_LOCK
                             ? Py_BuildValue("(iI)", moment->thread, moment->life)
                             : Py_BuildValue("(iIi)", moment->thread, moment->life, moment->waker);
        if (append(list, each) < 0) {
            Py_CLEAR(list);
        }
    }
    return list;
}

static PyObject *show_edge(Shown *shown, const Nested *entry)
{
    return Py_BuildValue("{sN sN sN sK sN sK}", "held", show_held(shown, lockset_at(entry->set)),
                         "lock", show_id(shown, entry->lock), "stack",
                         show_stack(shown, entry->stack), "count", (unsigned long long)entry->count,
                         "at", show_moments(entry), "left_out",
                         (unsigned long long)entry->left_out);
}

static PyObject *show_wait(Shown *shown, const Nested *entry)
{
#define AS_TEXT(name, text) text,
    static const char *const KINDS[] = {NESTED(AS_TEXT)};
    return Py_BuildValue("{sN ss sO sN sN sK}", "held", show_held(shown, lockset_at(entry->set)),
                         "kind", KINDS[entry->kind], "timed", entry->is_timed ? Py_True : Py_False,
                         "stack", show_stack(shown, entry->stack), "at", show_moments(entry),
                         "left_out", (unsigned long long)entry->left_out);
}

static int show_nested(Shown *shown, PyObject *edges, PyObject *waits)
{
    for (uint32_t number = 1; number <= nested.count; number++) {
        const Nested *entry = kept_at(&nested, number);
        int result = entry->kind == NESTED_LOCK ? append(edges, show_edge(shown, entry))
                                                : append(waits, show_wait(shown, entry));
        if (result < 0) {
            return -1;
        }
    }
    return 0;
}

/* Locks that threads have now. */
static int show_holders(Shown *shown, PyObject *list)
{
    for (uint32_t i = 0; gate.state != NULL && i < gate.state->threads; i++) {
        const Thread *thread = &gate.slots[i];
        uint32_t count = thread->holding == NULL ? 0 : thread->holding->count;
        const char *state = thread->status == ENDED     ? "ended"
                            : thread->status == RUNNING ? "running"
                                                        : "waiting";
        for (uint32_t j = 0; j < count; j++) {
            Held held = thread->holding->held[j];
            PyObject *each =
                Py_BuildValue("{si ss sN sN}", "thread", thread->index, "state", state, "lock",
                              show_id(shown, held.lock), "stack", show_stack(shown, held.stack));
            if (append(list, each) < 0) {
                return -1;
            }
        }
    }
    return 0;
}

static int show_lives(PyObject *list)
{
    for (uint32_t i = 0; i < life_count; i++) {
        PyObject *each = Py_BuildValue("(sii)", lives[i].is_join ? "join" : "start",
                                       lives[i].thread, lives[i].other);
        if (append(list, each) < 0) {
            return -1;
        }
    }
    return 0;
}

/* locks_found(): of the latest watch, which may still go on */
static PyObject *locks_found(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    Shown shown = {PyList_New(0), PyDict_New(), PyDict_New()};
    PyObject *edges = PyList_New(0), *waits = PyList_New(0), *held = PyList_New(0),
             *order = PyList_New(0), *result = NULL;
    if (shown.stacks != NULL && shown.places != NULL && shown.locks != NULL && edges != NULL &&
        waits != NULL && held != NULL && order != NULL && show_nested(&shown, edges, waits) == 0 &&
        show_holders(&shown, held) == 0 && show_lives(order) == 0) {
        result = Py_BuildValue("{si sN sO sO sO sO sO sO}", "version", 1, "locks",
                               PyDict_Values(shown.locks), "edges", edges, "waits", waits, "held",
                               held, "lives", order, "stacks", shown.stacks, "overflow",
                               locks_overflowed ? Py_True : Py_False);
    }
    PyObject *used[] = {shown.stacks, shown.places, shown.locks, edges, waits, held, order};
    for (size_t i = 0; i < sizeof used / sizeof *used; i++) {
        Py_XDECREF(used[i]);
    }
    return result;
}

/* locks_now(): what the calling thread has, in the order of taking */
static PyObject *locks_now(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return me == NULL ? PyTuple_New(0) : locks_show(locks_number(me));
}

PyMethodDef lock_finding_functions[] = {{"locks_found", locks_found, METH_NOARGS, NULL},
                                        {"locks_now", locks_now, METH_NOARGS, NULL},
                                        {NULL, NULL, 0, NULL}};
