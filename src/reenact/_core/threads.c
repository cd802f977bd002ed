/* Threads: how they start, how they end, how they are joined.
 *
 * A new thread waits in the gate before its function runs. It keeps the baton until its OS thread
 * ends (a pthread key's destructor), so that everything Python does on the way out, finalizers
 * and the release of the lock that join waits for among it, happens in turn. */
#include "core.h"
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef PR_GET_TID_ADDRESS
#define PR_GET_TID_ADDRESS 40
#endif

typedef struct {
    PyObject_HEAD PyObject *function;
    Thread *thread;
} Boot;

static pthread_key_t exit_key;
static PyObject *native_start, *native_start_joinable, *native_set_sentinel, *native_shutdown;
static PyObject *native_join, *native_is_done, *native_interrupt;
static destructor native_handle_dealloc;

/* In a forked child the thread that forked may end, and others go on. The last of them ends the
 * process, which a thread of ours must not keep alive. */
static bool threads_is_last(const Thread *ending)
{
    for (uint32_t i = 0; i < gate.state->threads; i++) {
        const Thread *thread = &gate.slots[i];
        if (thread != ending && thread->status != ENDED && thread->status != FREE) {
            return false;
        }
    }
    return true;
}

/* ---- threads that are let go: a run is over, and they are still in an outside call ---- */

static __thread bool has_been_let_go;
static _Atomic int32_t leaving; /* such threads that have come back, and not ended yet */

bool threads_are_leaving(void)
{
    return atomic_load(&leaving) > 0;
}

/* The slot is free for another thread from now on. Its own one must be inside a call of the table:
 * it looks at the flag as it comes back, before anything else, and we have the GIL. */
void threads_let_go(Thread *thread)
{
    *thread->let_go = true;
    pthread_mutex_lock(&gate.mutex);
    thread->status = ENDED;
    thread->away = false;
    gate.outside--;
    pthread_mutex_unlock(&gate.mutex);
}

bool threads_is_let_go(void)
{
    return has_been_let_go;
}

/* Back from the call: nobody counts on this thread any more. It ends between runs, unseen. */
PyObject *threads_leave(PyObject *result)
{
    Py_XDECREF(result);
    PyErr_Clear();
    if (pthread_getspecific(exit_key) != &leaving) {
        pthread_setspecific(exit_key, &leaving);
        atomic_fetch_add(&leaving, 1);
    }
    PyThreadState *tstate = PyEval_SaveThread();
    while (gate.active && gate.exploring) {
        usleep(1000);
    }
    PyEval_RestoreThread(tstate);
    PyErr_SetNone(PyExc_SystemExit);
    return NULL;
}

static void on_exit_of_thread(void *value)
{
    fork_leave();
    shadow_leave();
    if (value == &leaving) {
        atomic_fetch_sub(&leaving, 1);
        return;
    }
    if (has_been_let_go) { /* it never came back to Python code */
        return;
    }
    Thread *thread = value;
    if (getpid() != gate.pid) {
        return;
    }
    thread->tstate = NULL;
    if (gate.active && threads_is_last(thread)) {
        gate_close(false);
        patrol_stop();
    }
    else if (gate.active) {
        gate_thread_gone(thread, thread->sentinel == NULL ? NULL : object_find(thread->sentinel));
    }
    else {
        thread->status = ENDED;
    }
}

/* The calling OS thread, which is not the first of the process, has a new slot. */
void threads_move(Thread *thread)
{
    if (pthread_getspecific(exit_key) != NULL) {
        pthread_setspecific(exit_key, thread);
    }
}

/* Ties a slot to the calling OS thread. */
int threads_bind(Thread *thread)
{
    me = thread;
    thread->let_go = &has_been_let_go;
    thread->tstate = PyThreadState_Get();
    thread->tid = (pid_t)syscall(SYS_gettid);
    if (prctl(PR_GET_TID_ADDRESS, &thread->tid_address) < 0) {
        thread->tid_address = NULL;
    }
    return thread->index == 0 ? 0 : pthread_setspecific(exit_key, thread);
}

static PyObject *finish(PyObject *result, PyObject *function)
{
    if (result == NULL && !PyErr_ExceptionMatches(PyExc_SystemExit)) {
        compat_write_unraisable(function);
        result = Py_NewRef(Py_None);
    }
    return result;
}

/* What a thread does on the way to its first turn is done by the time that its parent goes on: it
 * allocates, and where things are should be the same in every run. The parent does not sleep, which
 * the patrol would take for a call that nobody declared. */
static void await_begun(const Thread *thread)
{
    if (BEGINS_IN_PARALLEL && (!gate.is_parallel || turns_are_used())) {
        PyThreadState *tstate = PyEval_SaveThread();
        while (!atomic_load(&thread->has_begun)) {
            sched_yield();
        }
        PyEval_RestoreThread(tstate);
    }
}

static PyObject *boot_call(PyObject *self, PyObject *args, PyObject *names)
{
    Boot *boot = (Boot *)self;
    Thread *thread = boot->thread;
    threads_bind(thread);
    atomic_store(&thread->has_begun, true);
    gate_take_turn(thread);
    trace_new_thread();
    if (gate.active) {
        gate_done(OP_BEGIN, &thread->done);
    }
    PyObject *result = finish(PyObject_Call(boot->function, args, names), boot->function);
    if (gate.active && !has_been_let_go) {
        PyObject *type, *value, *traceback;
        PyErr_Fetch(&type, &value, &traceback);
        thread->deferring++;
        gate_enter(thread, OP_END, &thread->done);
        exits_begin(thread);
        thread->deferring--;
        gate_done(OP_END, &thread->done);
        deaths_part();
        PyErr_Restore(type, value, traceback);
    }
    return result;
}

static void boot_dealloc(PyObject *self)
{
    Py_XDECREF(((Boot *)self)->function);
    Py_TYPE(self)->tp_free(self);
}

PyTypeObject BootType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "reenact._core.Boot",
    .tp_basicsize = sizeof(Boot),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_call = boot_call,
    .tp_dealloc = boot_dealloc,
};

static Thread *new_child(Thread *parent)
{
    pthread_mutex_lock(&gate.mutex);
    Thread *child = state_new_slot();
    pthread_mutex_unlock(&gate.mutex);
    child->parent = parent->index;
    child->ordinal = ++parent->children;
    child->identity = (parent->identity + (uint64_t)child->ordinal) * 0x9E3779B97F4A7C15ULL;
    child->daemon = true;
    child->has_begun = false;
    define_thread(child);
    return child;
}

static void know_handle(PyObject *handle, const Thread *thread)
{
    object_forget(handle);
    object_of(handle, OBJECT_THREAD)->id = (uint32_t)thread->index;
}

/* Starts function natively, wrapped so that the new thread waits for its turn. If it has a handle
 * already, that is known before it runs: others may ask for it at once. */
static PyObject *start(PyObject *native, PyObject *const *args, Py_ssize_t count, PyObject *names,
                       PyObject *handle, Thread **started)
{
    Thread *thread = gate_me();
    if (thread == NULL || count < 1 || count > 6 || !PyCallable_Check(args[0])) {
        return PyObject_Vectorcall(native, args, (size_t)count, names);
    }
    if (gate_enter(thread, OP_START, NULL) < 0) {
        return NULL;
    }
    Boot *boot = PyObject_New(Boot, &BootType);
    if (boot == NULL) {
        return NULL;
    }
    Thread *child = new_child(thread);
    boot->function = Py_NewRef(args[0]);
    boot->thread = *started = child;
    if (handle != NULL && handle != Py_None) {
        know_handle(handle, child);
    }
    gate_enroll(child);
    gate_done(OP_START, &child->done);
    PyObject *all[12] = {(PyObject *)boot};
    Py_ssize_t total = count + (names == NULL ? 0 : PyTuple_GET_SIZE(names));
    for (Py_ssize_t i = 1; i < total && i < 12; i++) {
        all[i] = args[i];
    }
    exits_stop(thread);
    boots_begin();
    PyObject *result = PyObject_Vectorcall(native, all, (size_t)count, names);
    boots_end();
    if (result == NULL) {
        gate_withdraw(child);
    }
    else {
        await_begun(child);
    }
    exits_go_on(thread);
    Py_DECREF(boot);
    return result;
}

static PyObject *start_new_thread(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    (void)module;
    Thread *child = NULL;
    return start(native_start, args, count, NULL, NULL, &child);
}

static PyObject *argument(const char *name, PyObject *const *args, Py_ssize_t count,
                          PyObject *names)
{
    for (Py_ssize_t i = 0; names != NULL && i < PyTuple_GET_SIZE(names); i++) {
        if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, i), name) == 0) {
            return args[count + i];
        }
    }
    return NULL;
}

static PyObject *start_joinable_thread(PyObject *module, PyObject *const *args, Py_ssize_t count,
                                       PyObject *names)
{
    (void)module;
    Thread *child = NULL;
    PyObject *daemon = argument("daemon", args, count, names);
    PyObject *handle = argument("handle", args, count, names);
    PyObject *result = start(native_start_joinable, args, count, names, handle, &child);
    if (result != NULL && child != NULL) {
        if (result != handle) {
            know_handle(result, child);
        }
        child->daemon = daemon == NULL || PyObject_IsTrue(daemon);
    }
    return result;
}

static enum Waited wait_for_end(Thread *thread, Thread *other, int64_t deadline_ns)
{
    enum Waited waited = WAIT_INTERRUPTED;
    object_hold(&other->done);
    while (other->status != ENDED && gate.active && waited != WAIT_FAILED &&
           !(waited == WAIT_RESUMED && deadline_ns >= 0)) {
        waited = gate_wait(thread, OP_JOIN, &other->done, deadline_ns);
    }
    object_let_go(&other->done);
    return waited == WAIT_FAILED ? waited : WAIT_RESUMED;
}

/* _ThreadHandle.join(timeout=None), from 3.13 on */
static PyObject *handle_join(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    int64_t timeout_ns = -1;
    Thread *thread = gate_me();
    Object *object = thread == NULL ? NULL : object_find(self);
    Thread *other = object == NULL ? NULL : &gate.slots[object->id];
    if (other == NULL || other == thread || count > 1) {
        return call_method(native_join, self, args, count, NULL);
    }
    if (count == 1 && args[0] != Py_None && seconds_to_ns(args[0], &timeout_ns) < 0) {
        return NULL;
    }
    thread->explored.blocks = timeout_ns < 0 ? &other->done : NULL;
    int entered = gate_enter(thread, OP_JOIN, &other->done);
    thread->explored.blocks = NULL;
    if (entered < 0 || wait_for_end(thread, other, deadline_after(timeout_ns)) == WAIT_FAILED) {
        return NULL;
    }
    object_hold(&other->done);
    bool is_over = other->status == ENDED;
    if (gate.active) {
        gate_done(is_over ? OP_JOIN : OP_JOIN_TIMEOUT, &other->done);
    }
    object_let_go(&other->done);
    if (gate.active && !is_over) {
        Py_RETURN_NONE;
    }
    return call_method(native_join, self, NULL, 0, NULL);
}

/* _ThreadHandle.is_done(), from 3.13 on: Thread.is_alive asks it */
static PyObject *handle_is_done(PyObject *self, PyObject *unused)
{
    (void)unused;
    Thread *thread = gate_me();
    Object *object = thread == NULL ? NULL : object_find(self);
    if (object != NULL) {
        Object *done = &gate.slots[object->id].done;
        if (gate_enter(thread, OP_LOCKED, done) < 0) {
            return NULL;
        }
        object_hold(done);
        gate_done(OP_LOCKED, done);
        bool is_over = gate.slots[object->id].status == ENDED;
        object_let_go(done);
        if (gate.is_parallel) { /* it may have ended since */
            return PyBool_FromLong(is_over);
        }
    }
    return call_method(native_is_done, self, NULL, 0, NULL);
}

static void handle_dealloc(PyObject *self)
{
    object_forget(self);
    native_handle_dealloc(self);
}

static PyMethodDef is_done_method = {"is_done", handle_is_done, METH_NOARGS, NULL};
static PyMethodDef join_method = {"join", (PyCFunction)(void (*)(void))handle_join, METH_FASTCALL,
                                  NULL};

/* Waits for every thread that is not a daemon, then lets the interpreter do the same. */
static PyObject *shutdown_threads(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    Thread *thread = gate_me();
    for (uint32_t i = 1; thread != NULL && i < gate.state->threads; i++) {
        Thread *other = &gate.slots[i];
        if (other->daemon || other == thread) {
            continue;
        }
        parallel_extra_point(thread);
        if (wait_for_end(thread, other, -1) == WAIT_FAILED) {
            return NULL;
        }
        parallel_joined(thread, other);
        if (locks_are_watched && other->status == ENDED) {
            locks_done(OP_JOIN, &other->done);
        }
    }
    return PyObject_CallNoArgs(native_shutdown);
}

/* 3.11 and 3.12: the lock that C code releases when a thread's state is deleted */
static PyObject *set_sentinel(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    PyObject *lock = PyObject_CallNoArgs(native_set_sentinel);
    if (lock != NULL && me != NULL) {
        me->sentinel = lock;
        object_of(lock, OBJECT_LOCK)->ends = me->index;
    }
    return lock;
}

/* interrupt_main(signum=SIGINT): as if the signal had come from outside */
static PyObject *interrupt_main(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    (void)module;
    Thread *thread = gate_me();
    long number = count == 0 ? SIGINT : PyLong_Check(args[0]) ? PyLong_AsLong(args[0]) : -1;
    if (thread == NULL || count > 1 || number < 1 || number > 63) {
        PyErr_Clear();
        return PyObject_Vectorcall(native_interrupt, args, (size_t)count, NULL);
    }
    if (gate_enter(thread, OP_CALL, NULL) < 0) {
        return NULL;
    }
    gate_done(OP_CALL, NULL);
    if (gate.settings.mode == MODE_RECORD) {
        signals_raise((int)number);
    }
    if (gate_enter(thread, OP_NONE, NULL) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PyMethodDef thread_functions[] = {
    {"start_new_thread", (PyCFunction)(void (*)(void))start_new_thread, METH_FASTCALL, NULL},
    {"start_joinable_thread", (PyCFunction)(void (*)(void))start_joinable_thread,
     METH_FASTCALL | METH_KEYWORDS, NULL},
    {"_set_sentinel", set_sentinel, METH_NOARGS, NULL},
    {"_shutdown", shutdown_threads, METH_NOARGS, NULL},
    {"interrupt_main", (PyCFunction)(void (*)(void))interrupt_main, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL}};

static PyObject *native_of(PyObject *module, const char *name)
{
    PyObject *native = PyObject_GetAttrString(module, name);
    PyErr_Clear();
    return native;
}

int threads_install(PyObject *thread_module)
{
    native_start = native_of(thread_module, "start_new_thread");
    native_start_joinable = native_of(thread_module, "start_joinable_thread");
    native_set_sentinel = native_of(thread_module, "_set_sentinel");
    native_shutdown = native_of(thread_module, "_shutdown");
    native_interrupt = native_of(thread_module, "interrupt_main");
    PyTypeObject *handle = (PyTypeObject *)native_of(thread_module, "_ThreadHandle");
    if (handle != NULL) {
        native_join = patch_method(handle, &join_method);
        native_is_done = patch_method(handle, &is_done_method);
        native_handle_dealloc = handle->tp_dealloc;
        handle->tp_dealloc = handle_dealloc;
    }
    return pthread_key_create(&exit_key, on_exit_of_thread);
}
