/* _thread.lock and _thread.RLock, patched in place: their methods become operations.
 *
 * The types stay what they are, so locks that existed before, factories captured at import and
 * C code that releases a lock (thread exit in 3.11 and 3.12) all keep working; the native lock
 * is always kept in step. A lock is not handed to a waiter: release makes it free, and whoever
 * runs first takes it, as in stock Python. The import lock, which is no Python object, is taken in
 * turn. */
#include "core.h"
#include <math.h>

static PyObject *native_acquire, *native_release, *native_exit;
static PyObject *native_racquire, *native_rrelease, *native_rexit;
static PyObject *native_release_save, *native_acquire_restore;
static PyObject *native_import_acquire, *native_import_release;
static PyObject *import_turn; /* an RLock: whose turn it is to take the import lock */
static destructor native_lock_dealloc, native_rlock_dealloc;

/* Replaces a method of a type and returns the one that was there (NULL if none was). */
PyObject *patch_method(PyTypeObject *type, PyMethodDef *definition)
{
    PyObject *native = PyDict_GetItemString(compat_type_dict(type), definition->ml_name);
    PyObject *ours = native == NULL ? NULL : PyDescr_NewMethod(type, definition);
    if (ours == NULL) {
        return NULL;
    }
    Py_INCREF(native);
    PyDict_SetItemString(compat_type_dict(type), definition->ml_name, ours);
    Py_DECREF(ours);
    PyType_Modified(type);
    return native;
}

PyObject *call_method(PyObject *method, PyObject *self, PyObject *const *args, Py_ssize_t count,
                      PyObject *names)
{
    PyObject *all[8] = {self};
    Py_ssize_t named = names == NULL ? 0 : PyTuple_GET_SIZE(names);
    if (count + named > 7) {
        PyErr_SetString(PyExc_TypeError, "too many arguments");
        return NULL;
    }
    for (Py_ssize_t i = 0; i < count + named; i++) {
        all[i + 1] = args[i];
    }
    return PyObject_Vectorcall(method, all, (size_t)(count + 1), names);
}

int seconds_to_ns(PyObject *seconds, int64_t *ns)
{
    double value = PyFloat_AsDouble(seconds);
    if (value == -1.0 && PyErr_Occurred()) {
        return -1;
    }
    if (isnan(value)) {
        PyErr_SetString(PyExc_ValueError, "Invalid value NaN (not a number)");
        return -1;
    }
    if (fabs(value) * 1e9 >= 9223372036854775807.0) {
        PyErr_SetString(PyExc_OverflowError, "timestamp out of range for platform time_t");
        return -1;
    }
    *ns = (int64_t)ceil(value * 1e9);
    return 0;
}

int64_t deadline_after(int64_t timeout_ns)
{
    if (timeout_ns < 0) {
        return -1;
    }
    int64_t now = now_ns();
    return timeout_ns > INT64_MAX - now ? -1 : now + timeout_ns;
}

/* (blocking=True, timeout=-1), as lock.acquire and its kin take them; -1 ns is for ever. */
static int read_wait_arguments(PyObject *const *args, Py_ssize_t count, PyObject *names,
                               PyObject **blocking, PyObject **timeout)
{
    Py_ssize_t named = names == NULL ? 0 : PyTuple_GET_SIZE(names);
    if (count + named > 2) {
        PyErr_Format(PyExc_TypeError, "acquire() takes at most 2 arguments (%zd given)",
                     count + named);
        return -1;
    }
    *blocking = count > 0 ? args[0] : NULL;
    *timeout = count > 1 ? args[1] : NULL;
    for (Py_ssize_t i = 0; i < named; i++) {
        PyObject *name = PyTuple_GET_ITEM(names, i);
        PyObject **target = PyUnicode_CompareWithASCIIString(name, "blocking") == 0  ? blocking
                            : PyUnicode_CompareWithASCIIString(name, "timeout") == 0 ? timeout
                                                                                     : NULL;
        if (target == NULL || *target != NULL) {
            PyErr_Format(PyExc_TypeError, "'%U' is an invalid keyword argument for acquire()",
                         name);
            return -1;
        }
        *target = args[count + i];
    }
    return 0;
}

static int check_timeout(bool blocking, int64_t timeout_ns)
{
    if (!blocking && timeout_ns != -1000000000) {
        PyErr_SetString(PyExc_ValueError, "can't specify a timeout for a non-blocking call");
        return -1;
    }
    if (timeout_ns < 0 && timeout_ns != -1000000000) {
        PyErr_SetString(PyExc_ValueError, "timeout value must be a non-negative number");
        return -1;
    }
    if (timeout_ns / 1000 > PY_TIMEOUT_MAX) {
        PyErr_SetString(PyExc_OverflowError, "timeout value is too large");
        return -1;
    }
    return 0;
}

int parse_wait(PyObject *const *args, Py_ssize_t count, PyObject *names, bool *blocking,
               int64_t *timeout_ns)
{
    PyObject *blocking_object, *timeout_object;
    *blocking = true;
    *timeout_ns = -1;
    if (count == 0 && names == NULL) {
        return 0;
    }
    if (read_wait_arguments(args, count, names, &blocking_object, &timeout_object) < 0) {
        return -1;
    }
    if (blocking_object != NULL) {
        int truth = PyObject_IsTrue(blocking_object);
        if (truth < 0) {
            return -1;
        }
        *blocking = truth;
    }
    int64_t given = -1000000000;
    if (timeout_object != NULL && seconds_to_ns(timeout_object, &given) < 0) {
        return -1;
    }
    if (check_timeout(*blocking, given) < 0) {
        return -1;
    }
    *timeout_ns = given < 0 ? -1 : given;
    *blocking = *blocking && *timeout_ns != 0;
    return 0;
}

static bool take_recursive(PyObject *self)
{
    RecursiveLock *lock = (RecursiveLock *)self;
    unsigned long ident = PyThread_get_thread_ident();
    if (lock->count > 0 && lock->owner == ident) {
        lock->count++;
        return true;
    }
    if (lock->count > 0 || !compat_try_native(lock->native)) {
        return false;
    }
    lock->owner = ident;
    lock->count = 1;
    return true;
}

/* An RLock that this thread has, and can take again. */
static bool is_own(const Thread *thread, const Object *object)
{
    return object->kind == OBJECT_RLOCK && object->owner == thread->index;
}

enum Taken { TAKE_FAILED = -1, NOT_TAKEN, TAKEN, GATE_CLOSED };

/* What acquire means for either kind of lock, from the point to the outcome. */
static enum Taken take(Thread *thread, PyObject *self, Object *object, bool (*try)(PyObject *),
                       bool blocking, int64_t timeout_ns)
{
    bool is_for_ever = blocking && timeout_ns < 0, is_again = is_own(thread, object);
    thread->explored.blocks = is_for_ever && !is_again ? object : NULL;
    int entered = gate_enter(thread, OP_ACQUIRE, object);
    thread->explored.blocks = NULL;
    if (entered < 0) {
        return TAKE_FAILED;
    }
    int64_t deadline_ns = blocking && timeout_ns >= 0 ? deadline_after(timeout_ns) : -1;
    object_hold(object);
    bool is_taken = try(self);
    bool looks = gate.is_parallel && is_for_ever;
    for (int time = 0; looks && !is_taken && parallel_look_again(thread, object, time); time++) {
        is_taken = try(self);
    }
    for (enum Waited waited = WAIT_INTERRUPTED; !is_taken; is_taken = try(self)) {
        bool timed_out = waited == WAIT_RESUMED && deadline_ns >= 0;
        if (!blocking || timed_out) {
            gate_done(blocking ? OP_ACQUIRE_TIMEOUT : OP_ACQUIRE_FAILED, object);
            object_let_go(object);
            return NOT_TAKEN;
        }
        waited = gate_wait(thread, OP_ACQUIRE, object, deadline_ns);
        if (waited == WAIT_FAILED || !gate.active) {
            object_let_go(object);
            return waited == WAIT_FAILED ? TAKE_FAILED : GATE_CLOSED;
        }
    }
    object->owner = thread->index;
    gate_done(OP_ACQUIRE, object);
    object_let_go(object);
    if (locks_are_watched && !is_again) {
        locks_taken(object, is_for_ever);
    }
    return TAKEN;
}

/* In a copy with no other thread: whoever has the lock does not give it back. */
static PyObject *acquire_alone(PyObject *self, PyObject *const *args, Py_ssize_t count,
                               PyObject *names, PyObject *native)
{
    bool blocking;
    int64_t timeout_ns;
    if (parse_wait(args, count, names, &blocking, &timeout_ns) < 0) {
        return NULL;
    }
    PyObject *taken = PyObject_CallFunctionObjArgs(native, self, Py_False, NULL);
    if (taken == Py_False && blocking) {
        Py_DECREF(taken);
        PyErr_SetString(PyExc_RuntimeError, "the lock is held, and here nobody gives it back");
        return NULL;
    }
    return taken;
}

static PyObject *acquire(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names,
                         PyObject *native, enum ObjectKind kind, bool (*try)(PyObject *))
{
    bool blocking;
    int64_t timeout_ns;
    Thread *thread = gate_me();
    if (thread == NULL) {
        return look_is_alone() ? acquire_alone(self, args, count, names, native)
                               : call_method(native, self, args, count, names);
    }
    if (parse_wait(args, count, names, &blocking, &timeout_ns) < 0) {
        return NULL;
    }
    switch (take(thread, self, object_of(self, kind), try, blocking, timeout_ns)) {
    case TAKE_FAILED: return NULL;
    case GATE_CLOSED: return call_method(native, self, args, count, names);
    case TAKEN: Py_RETURN_TRUE;
    default: Py_RETURN_FALSE;
    }
}

static PyObject *lock_acquire(PyObject *self, PyObject *const *args, Py_ssize_t count,
                              PyObject *names)
{
    return acquire(self, args, count, names, native_acquire, OBJECT_LOCK, compat_take_lock);
}

static PyObject *rlock_acquire(PyObject *self, PyObject *const *args, Py_ssize_t count,
                               PyObject *names)
{
    return acquire(self, args, count, names, native_racquire, OBJECT_RLOCK, take_recursive);
}

/* Controlled threads may wait in the gate for a lock that an uncontrolled one gives back. */
static PyObject *release_natively(PyObject *native, PyObject *self, PyObject *const *args,
                                  Py_ssize_t count)
{
    PyObject *result = call_method(native, self, args, count, NULL);
    Object *object = gate.active ? object_find(self) : NULL;
    if (result != NULL && object != NULL) {
        if (locks_are_watched) {
            locks_released(object);
        }
        gate_wake(object);
    }
    return result;
}

/* A release must never be interrupted: a handler that raised would leave the lock taken. */
static void enter_release(Thread *thread, Object *object)
{
    thread->deferring++;
    gate_enter(thread, OP_RELEASE, object);
    thread->deferring--;
}

static void let_go_released(Object *object)
{
    if (gate.is_parallel) {
        parallel_let_go(object);
    }
    else {
        gate_wake(object);
    }
}

static PyObject *release_plain(PyObject *self, PyObject *native, PyObject *const *args,
                               Py_ssize_t count)
{
    Thread *thread = gate_me();
    if (thread == NULL || !compat_lock_is_taken(self)) {
        return release_natively(native, self, args, count);
    }
    Object *object = object_of(self, OBJECT_LOCK);
    enter_release(thread, object);
    object_hold(object);
    if (!gate.active || !compat_lock_is_taken(self)) {
        object_let_go(object);
        return release_natively(native, self, args, count);
    }
    compat_release_lock(self);
    if (object->owner == object->ends && object->ends != thread->index) {
        /* A join that a handler ended by an exception, before 3.13: the thread goes on. */
        object->ends = -1;
    }
    object->owner = -1;
    gate_done(OP_RELEASE, object);
    let_go_released(object);
    Py_RETURN_NONE;
}

static PyObject *release_recursive(PyObject *self, PyObject *native, PyObject *const *args,
                                   Py_ssize_t count)
{
    RecursiveLock *lock = (RecursiveLock *)self;
    Thread *thread = gate_me();
    if (thread == NULL || lock->count == 0 || lock->owner != PyThread_get_thread_ident()) {
        return release_natively(native, self, args, count);
    }
    Object *object = object_of(self, OBJECT_RLOCK);
    enter_release(thread, object);
    if (!gate.active) {
        return release_natively(native, self, args, count);
    }
    object_hold(object);
    bool is_free = --lock->count == 0;
    if (is_free) {
        lock->owner = 0;
        object->owner = -1;
        compat_release_native(lock->native);
    }
    gate_done(OP_RELEASE, object);
    if (is_free) {
        let_go_released(object);
    }
    else {
        object_let_go(object);
    }
    Py_RETURN_NONE;
}

static PyObject *lock_release(PyObject *self, PyObject *unused)
{
    (void)unused;
    return release_plain(self, native_release, NULL, 0);
}

static PyObject *lock_exit(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    return release_plain(self, native_exit, args, count);
}

static PyObject *rlock_release(PyObject *self, PyObject *unused)
{
    (void)unused;
    return release_recursive(self, native_rrelease, NULL, 0);
}

static PyObject *rlock_exit(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    return release_recursive(self, native_rexit, args, count);
}

static PyObject *lock_locked(PyObject *self, PyObject *unused)
{
    (void)unused;
    Thread *thread = gate_me();
    if (thread != NULL) {
        Object *object = object_of(self, OBJECT_LOCK);
        if (gate_enter(thread, OP_LOCKED, object) < 0) {
            return NULL;
        }
        object_hold(object);
        gate_done(OP_LOCKED, object);
        bool is_taken = compat_lock_is_taken(self);
        object_let_go(object);
        return PyBool_FromLong(is_taken);
    }
    return PyBool_FromLong(compat_lock_is_taken(self));
}

/* Condition.wait gives an RLock up whatever its depth, and takes it back the same. */
static PyObject *rlock_release_save(PyObject *self, PyObject *unused)
{
    (void)unused;
    RecursiveLock *lock = (RecursiveLock *)self;
    Thread *thread = gate_me();
    if (thread == NULL || lock->count == 0) {
        return release_natively(native_release_save, self, NULL, 0);
    }
    Object *object = object_of(self, OBJECT_RLOCK);
    enter_release(thread, object);
    object_hold(object);
    PyObject *saved = call_method(native_release_save, self, NULL, 0, NULL);
    bool is_done = saved != NULL && gate.active;
    if (is_done) {
        object->owner = -1;
        gate_done(OP_RELEASE, object);
    }
    if (is_done) {
        let_go_released(object);
    }
    else {
        object_let_go(object);
    }
    return saved;
}

static PyObject *rlock_acquire_restore(PyObject *self, PyObject *state)
{
    RecursiveLock *lock = (RecursiveLock *)self;
    Thread *thread = gate_me();
    unsigned long count, owner;
    if (thread == NULL || !PyTuple_Check(state)) {
        return PyObject_CallFunctionObjArgs(native_acquire_restore, self, state, NULL);
    }
    if (!PyArg_ParseTuple(state, "kk:_acquire_restore", &count, &owner)) {
        return NULL;
    }
    thread->deferring++;
    enum Taken taken = take(thread, self, object_of(self, OBJECT_RLOCK), take_recursive, true, -1);
    thread->deferring--;
    if (taken == TAKE_FAILED) {
        return NULL;
    }
    if (taken == GATE_CLOSED) {
        return PyObject_CallFunctionObjArgs(native_acquire_restore, self, state, NULL);
    }
    lock->owner = owner;
    lock->count = count;
    Py_RETURN_NONE;
}

/* By number instead of by address: threading keeps locks in a set, and walks it. */
static Py_hash_t lock_hash(PyObject *self)
{
    return (Py_hash_t)object_of(self, OBJECT_LOCK)->serial;
}

static Py_hash_t rlock_hash(PyObject *self)
{
    return (Py_hash_t)object_of(self, OBJECT_RLOCK)->serial;
}

static void lock_dealloc(PyObject *self)
{
    object_forget(self);
    native_lock_dealloc(self);
}

static void rlock_dealloc(PyObject *self)
{
    object_forget(self);
    native_rlock_dealloc(self);
}

/* _imp.acquire_lock(): Python holds it while it asks the finders, which may be the program's own
 * code with points in it. Whoever has the turn finds the native lock free. As there, no handler
 * interrupts the wait. */
static PyObject *acquire_import_lock(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    Thread *thread = gate_me();
    if (thread != NULL) {
        thread->deferring++;
        take(thread, import_turn, object_of(import_turn, OBJECT_RLOCK), take_recursive, true, -1);
        thread->deferring--;
    }
    return PyObject_CallNoArgs(native_import_acquire);
}

static PyObject *release_import_lock(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    RecursiveLock *turn = (RecursiveLock *)import_turn;
    PyObject *result = PyObject_CallNoArgs(native_import_release);
    if (result != NULL && gate_me() != NULL && turn->count > 0 &&
        turn->owner == PyThread_get_thread_ident()) {
        Py_XDECREF(release_recursive(import_turn, native_rrelease, NULL, 0));
    }
    return result;
}

PyMethodDef import_functions[] = {{"acquire_lock", acquire_import_lock, METH_NOARGS, NULL},
                                  {"release_lock", release_import_lock, METH_NOARGS, NULL},
                                  {NULL, NULL, 0, NULL}};

#define WITH_NAMES(name, function)                                                                 \
    {name, (PyCFunction)(void (*)(void))function, METH_FASTCALL | METH_KEYWORDS, NULL}
#define PLAIN(name, function) {name, (PyCFunction)(void (*)(void))function, METH_FASTCALL, NULL}
#define NO_ARGUMENTS(name, function) {name, function, METH_NOARGS, NULL}

static PyMethodDef lock_methods[] = {WITH_NAMES("acquire", lock_acquire),
                                     WITH_NAMES("acquire_lock", lock_acquire),
                                     WITH_NAMES("__enter__", lock_acquire),
                                     NO_ARGUMENTS("release", lock_release),
                                     NO_ARGUMENTS("release_lock", lock_release),
                                     PLAIN("__exit__", lock_exit),
                                     NO_ARGUMENTS("locked", lock_locked),
                                     NO_ARGUMENTS("locked_lock", lock_locked),
                                     {NULL, NULL, 0, NULL}};

static PyMethodDef rlock_methods[] = {WITH_NAMES("acquire", rlock_acquire),
                                      WITH_NAMES("__enter__", rlock_acquire),
                                      NO_ARGUMENTS("release", rlock_release),
                                      PLAIN("__exit__", rlock_exit),
                                      NO_ARGUMENTS("_release_save", rlock_release_save),
                                      {"_acquire_restore", rlock_acquire_restore, METH_O, NULL},
                                      {NULL, NULL, 0, NULL}};

static PyObject *native_of(PyTypeObject *type, const char *name)
{
    return Py_XNewRef(PyDict_GetItemString(compat_type_dict(type), name));
}

static void patch_all(PyTypeObject *type, PyMethodDef *methods)
{
    for (PyMethodDef *method = methods; method->ml_name != NULL; method++) {
        Py_XDECREF(patch_method(type, method));
    }
}

static int keep_import_lock(PyTypeObject *rlock_type)
{
    PyObject *module = PyImport_ImportModule("_imp");
    if (module == NULL) {
        return -1;
    }
    import_turn = PyObject_CallNoArgs((PyObject *)rlock_type);
    native_import_acquire = PyObject_GetAttrString(module, "acquire_lock");
    native_import_release = PyObject_GetAttrString(module, "release_lock");
    Py_DECREF(module);
    return import_turn && native_import_acquire && native_import_release ? 0 : -1;
}

int locks_install(PyTypeObject *lock_type, PyTypeObject *rlock_type)
{
    if (!compat_knows_lock(lock_type) || rlock_type->tp_basicsize != sizeof(RecursiveLock)) {
        PyErr_SetString(PyExc_RuntimeError, "this interpreter's locks have an unknown layout");
        return -1;
    }
    native_acquire = native_of(lock_type, "acquire");
    native_release = native_of(lock_type, "release");
    native_exit = native_of(lock_type, "__exit__");
    native_racquire = native_of(rlock_type, "acquire");
    native_rrelease = native_of(rlock_type, "release");
    native_rexit = native_of(rlock_type, "__exit__");
    native_release_save = native_of(rlock_type, "_release_save");
    native_acquire_restore = native_of(rlock_type, "_acquire_restore");
    native_lock_dealloc = lock_type->tp_dealloc;
    native_rlock_dealloc = rlock_type->tp_dealloc;
    lock_type->tp_dealloc = lock_dealloc;
    rlock_type->tp_dealloc = rlock_dealloc;
    lock_type->tp_hash = lock_hash;
    rlock_type->tp_hash = rlock_hash;
    patch_all(lock_type, lock_methods);
    patch_all(rlock_type, rlock_methods);
    return keep_import_lock(rlock_type);
}
