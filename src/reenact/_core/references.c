/* Weak references, where deaths have an order (deaths.c): each object that one is made to gets a
 * watch, each callback another in its place, and calls are points.
 *
 * A watch has a reference of its own, which the program is not told of, and a callback of the
 * program's looks as it does without ours. */
#include "deaths.h"

#ifdef Py_GIL_DISABLED

static destructor native_dealloc;
static newfunc native_new;
static vectorcallfunc native_call;

/* ---- making ---- */

/* The object's, new or not; NULL: none, and an exception. */
static Watch *watch_of(PyObject *object, uint64_t number)
{
    Watch *watch = watches_of_object(object);
    if (watch != NULL && watch->is_owed) { /* of what lay there before */
        watches_settle(watch);
        Py_CLEAR(watch);
    }
    if (watch != NULL || (watch = watch_new(object, number)) == NULL) {
        return watch;
    }
    bool is_obeyed = deaths_are_obeyed();
    watch->kept = is_obeyed ? Py_NewRef(object) : NULL;
    compat_guard(&deaths_guard);
    watches_remove(BY_OBJECT, watch->address);
    watches_add(BY_OBJECT, watch->address, watch);
    if (is_obeyed) {
        watches_add(BY_NUMBER, number, watch);
    }
    compat_unguard(&deaths_guard);
    deaths_watch_finalizer(Py_TYPE(object));
    return watch;
}

static PyObject *call_reference(PyObject *self, PyObject *const *args, size_t count,
                                PyObject *names);

static void mark_reference(PyObject *reference, Watch *watch, Callback *callback, uint64_t number)
{
    PyWeakReference *fields = (PyWeakReference *)reference;
    Mark *mark = PyMem_RawMalloc(sizeof *mark);
    compat_guard(&deaths_guard);
    bool had_one = watches_find(BY_REFERENCE, (uintptr_t)reference) != NULL;
    if (mark == NULL || had_one) {
        compat_unguard(&deaths_guard);
        PyMem_RawFree(mark);
        return;
    }
    *mark = (Mark){reference, (Watch *)Py_NewRef((PyObject *)watch), callback};
    watches_add(BY_REFERENCE, (uintptr_t)reference, mark);
    if (callback != NULL) {
        callback->mark = mark;
        if (deaths_are_obeyed()) {
            watches_add(BY_CALLBACK_NUMBER, number, callback);
        }
    }
    compat_unguard(&deaths_guard);
    native_call = fields->vectorcall == call_reference ? native_call : fields->vectorcall;
    fields->vectorcall = call_reference;
}

/* A reference may be given up by another thread while its callback is about to be called. In a
 * replay it is called later than that: so the last ones that were given up are kept for a while. */
enum { MOST_GIVEN_UP = 256 };
static PyObject *given_up[MOST_GIVEN_UP];
static uint32_t given_up_count;

static void give_up(PyObject *self)
{
    const Thread *thread = deaths_counted();
    if (thread == NULL || !deaths_are_obeyed() || thread->collects) {
        return;
    }
    compat_guard(&deaths_guard);
    const Mark *mark = watches_find(BY_REFERENCE, (uintptr_t)self);
    bool may_be_called = mark != NULL && mark->callback != NULL && mark->watch->kept != NULL;
    compat_unguard(&deaths_guard);
    if (may_be_called) {
        PyObject **place = &given_up[given_up_count++ % MOST_GIVEN_UP], *oldest = *place;
        *place = Py_NewRef(self);
        Py_XDECREF(oldest);
    }
}

static PyObject *make_watched(Thread *thread, PyTypeObject *type, PyObject *args, PyObject *names)
{
    PyObject *object = PyTuple_GET_ITEM(args, 0);
    PyObject *native = PyTuple_GET_SIZE(args) > 1 ? PyTuple_GET_ITEM(args, 1) : Py_None;
    uint64_t number =
        (uint64_t)thread->references++ << REFERENCE_THREAD_BITS | (uint64_t)thread->index;
    if (deaths_point(thread, object, deaths_referred, true) < 0) {
        return NULL;
    }
    Watch *watch = watch_of(object, number);
    Callback *callback = watch == NULL || native == Py_None ? NULL : callback_new(native, number);
    PyObject *given = watch == NULL || (native != Py_None && callback == NULL) ? NULL
                      : callback == NULL ? PyTuple_Pack(1, object)
                                         : PyTuple_Pack(2, object, callback);
    PyObject *made = given == NULL ? NULL : native_new(type, given, names);
    if (made != NULL) {
        type->tp_finalize = type->tp_finalize == NULL ? give_up : type->tp_finalize;
        mark_reference(made, watch, callback, number);
    }
    Py_XDECREF(given);
    Py_XDECREF(callback);
    Py_XDECREF(watch);
    return made;
}

static PyObject *make_reference(PyTypeObject *type, PyObject *args, PyObject *names)
{
    Py_ssize_t count = PyTuple_GET_SIZE(args);
    Thread *thread = count == 1 || count == 2 ? deaths_counted() : NULL;
    return thread == NULL || !deaths_can_watch(PyTuple_GET_ITEM(args, 0))
               ? native_new(type, args, names)
               : make_watched(thread, type, args, names);
}

static void reference_dealloc(PyObject *self)
{
    if (Py_IS_TYPE(self, &_PyWeakref_RefType) && PyObject_CallFinalizerFromDealloc(self) < 0) {
        return;
    }
    compat_guard(&deaths_guard);
    Mark *mark = watches_remove(BY_REFERENCE, (uintptr_t)self);
    if (mark != NULL && mark->callback != NULL) {
        mark->callback->mark = NULL;
    }
    compat_unguard(&deaths_guard);
    native_dealloc(self);
    if (mark != NULL) {
        Py_DECREF(mark->watch);
        PyMem_RawFree(mark);
    }
}

/* ---- calling ---- */

/* In a recording the point comes behind: what the call came to holds there as well. */
static PyObject *call_reference(PyObject *self, PyObject *const *args, size_t count,
                                PyObject *names)
{
    bool is_right = PyVectorcall_NARGS(count) == 0 && names == NULL;
    Thread *thread = is_right ? deaths_counted() : NULL;
    bool is_obeyed = deaths_are_obeyed();
    if (thread != NULL && is_obeyed && deaths_point(thread, NULL, NULL, false) < 0) {
        return NULL;
    }
    PyObject *result = native_call(self, args, count, names);
    if (thread == NULL || is_obeyed || result == NULL) {
        return result;
    }
    Watch *watch = watches_of_reference(self);
    bool finds_dead = watch != NULL && result == Py_None && watch->life == deaths_life &&
                      !atomic_load(&watch->is_noted);
    if (deaths_point(thread, watch, deaths_watched, finds_dead) < 0) {
        Py_CLEAR(result);
    }
    else if (finds_dead && deaths_are_noted() && !atomic_load(&watch->is_noted)) {
        deaths_note(thread, watch, DEATH_FOUND);
    }
    Py_XDECREF(watch);
    return result;
}

/* ---- dead ones in dictionaries ---- */

typedef struct {
    PyObject *dict, *key;
    Watch *watch; /* of what the value refers to, or NULL; a reference of its own */
} Dead;

static Watch *watch_in(const Dead *dead)
{
    PyObject *reference = PyDict_GetItemWithError(dead->dict, dead->key);
    PyErr_Clear();
    return reference == NULL ? NULL : watches_of_reference(reference);
}

static bool is_same(void *given)
{
    Dead *dead = given;
    Watch *before = dead->watch;
    dead->watch = watch_in(dead);
    Py_XDECREF(before);
    return dead->watch == before;
}

/* The dictionary is the thread's from here to its next point, and so is the watch. */
static void access_dead(Thread *thread, Dead *dead)
{
    dead->watch = watch_in(dead);
    do {
        access_in_order(thread, dead->dict, NULL, true, true);
        if (dead->watch != NULL) {
            access_in_order(thread, (PyObject *)dead->watch,
                            (const PyObject *)(const void *)deaths_watched, true, true);
        }
    } while (!turns_settle_if(thread, is_same, dead) && gate.active);
}

/* Stands for _weakref._remove_dead_weakref(dict, key), which is its `self`. */
static PyObject *remove_dead(PyObject *native, PyObject *const *args, Py_ssize_t count)
{
    Thread *thread = count == 2 && PyDict_Check(args[0]) ? deaths_counted() : NULL;
    Dead dead = {0};
    if (thread != NULL && deaths_point(thread, NULL, NULL, false) < 0) {
        return NULL;
    }
    if (thread != NULL && deaths_are_noted()) {
        dead = (Dead){args[0], args[1], NULL};
        access_dead(thread, &dead);
    }
    PyObject *result = PyObject_Vectorcall(native, args, (size_t)count, NULL);
    if (dead.watch != NULL && result != NULL && !atomic_load(&dead.watch->is_noted) &&
        PyDict_GetItemWithError(args[0], args[1]) == NULL) {
        deaths_note(thread, dead.watch, DEATH_FOUND);
    }
    Py_XDECREF(dead.watch);
    return result;
}

/* ---- what the program is told ---- */

static PyObject *told_callback(PyObject *self, void *unused)
{
    (void)unused;
    PyObject *callback = ((PyWeakReference *)self)->wr_callback;
    bool is_ours = callback != NULL && Py_IS_TYPE(callback, &CallbackType);
    return Py_NewRef(callback == NULL ? Py_None
                     : is_ours        ? ((Callback *)callback)->callback
                                      : callback);
}

/* getweakrefs(object), without the watch's */
static PyObject *tell_references(PyObject *native, PyObject *object)
{
    PyObject *all = PyObject_CallOneArg(native, object);
    for (Py_ssize_t i = all == NULL ? 0 : PyList_GET_SIZE(all); i > 0; i--) {
        const PyObject *callback = ((PyWeakReference *)PyList_GET_ITEM(all, i - 1))->wr_callback;
        if (callback != NULL && Py_IS_TYPE(callback, &WatchType)) {
            PySequence_DelItem(all, i - 1);
        }
    }
    return all;
}

/* Dead ones among them that their owner has not seen to yet are counted, too: so a replay tells
 * what the recording told. */
static PyObject *count_references(PyObject *native, PyObject *object)
{
    const Thread *thread = deaths_counted();
    Watch *watch = watches_of_object(object);
    PyObject *all = PyObject_CallOneArg(native, object);
    int64_t count = all == NULL ? -1 : PyLong_AsSsize_t(all);
    count -= watch != NULL && count > 0;
    Py_XDECREF(all);
    Py_XDECREF(watch);
    if (count >= 0 && thread != NULL && deaths_are_noted()) {
        lane_clock(me, REFERENCE_COUNTS, count);
    }
    else if (count >= 0 && thread != NULL && deaths_are_obeyed()) {
        count = replay_clock(REFERENCE_COUNTS);
    }
    return count < 0 ? NULL : PyLong_FromLongLong(count);
}

/* ---- in their places ---- */

static PyGetSetDef callback_definition = {"__callback__", told_callback, NULL, NULL, NULL};
static PyMethodDef methods[] = {
    {"_remove_dead_weakref", (PyCFunction)(void (*)(void))remove_dead, METH_FASTCALL, NULL},
    {"getweakrefs", tell_references, METH_O, NULL},
    {"getweakrefcount", count_references, METH_O, NULL},
};

static int patch_type(PyTypeObject *type)
{
    PyObject *callback = PyDescr_NewGetSet(type, &callback_definition);
    int result = callback == NULL
                     ? -1
                     : PyDict_SetItemString(compat_type_dict(type), "__callback__", callback);
    Py_XDECREF(callback);
    native_new = type->tp_new;
    native_dealloc = type->tp_dealloc;
    type->tp_new = make_reference;
    type->tp_dealloc = reference_dealloc;
    PyType_Modified(type);
    return result;
}

/* order_deaths(_weakref): of what has weak references that are made from here on */
static PyObject *order_deaths(PyObject *unused, PyObject *module)
{
    (void)unused;
    if (native_new != NULL) {
        Py_RETURN_NONE;
    }
    if (patch_type(&_PyWeakref_RefType) < 0) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        if (replace_function(module, &methods[i]) < 0) {
            return NULL;
        }
    }
    Py_RETURN_NONE;
}

PyMethodDef death_functions[] = {{"order_deaths", order_deaths, METH_O, NULL},
                                 {NULL, NULL, 0, NULL}};

#else

PyMethodDef death_functions[] = {{NULL, NULL, 0, NULL}};

#endif
