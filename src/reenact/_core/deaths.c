/* Deaths of objects that have weak references, in runs whose threads count references by
 * themselves.
 *
 * Which thread drops the last reference, and when, no order tells: without a GIL counts are added
 * up by an object's owner, at some moment, and a collection finds things in the order in which they
 * lie. What can be seen of it are finalizers, weak references that are called, and their callbacks.
 * So each object that is referred to so has a *watch*. In a recording, whoever first finds it dead
 * takes note: the thread in which its finalizer or the callbacks run, or one whose call of a
 * reference came to nothing. An object that lies where it was read from cannot have died: calls are
 * accesses to the watch.
 *
 * A replay keeps the object until then, and finalizes it, clears its references and calls their
 * callbacks where the recording did, whoever has dropped what. A collection must find it as it did,
 * so before one the replay lets go of what died in it (engine/deaths.py).
 *
 * References are known by the thread that made them and by how many it had made. Objects without
 * weak references die as they like, and so do those that cannot be told to have been finalized. */
#include "deaths.h"

#ifdef Py_GIL_DISABLED

const char deaths_watched[] = "watched", deaths_referred[] = "referred";

/* ---- who is asked ---- */

/* A thread whose references count now, or NULL. */
Thread *deaths_counted(void)
{
    Thread *thread = gate.active && gate.has_lanes && gate.settings.order != ORDER_SYNC ? me : NULL;
    return thread == NULL || thread->inside > 0 ? NULL : thread;
}

bool deaths_are_obeyed(void)
{
    return gate.settings.mode == MODE_REPLAY && !gate.is_parallel;
}

bool deaths_are_noted(void)
{
    return gate.settings.mode == MODE_RECORD && gate.is_parallel;
}

int deaths_point(Thread *thread, const void *accessed, const char *name, bool writes)
{
    if (tick(thread) < 0) {
        return -1;
    }
    if (accessed != NULL && deaths_are_noted()) {
        access_in_order(thread, accessed, (const PyObject *)(const void *)name, writes, writes);
        turns_settle(thread);
    }
    return 0;
}

/* Handlers of signals wait: what happens here is nobody's call. */
static void come_to_quiet_point(Thread *thread, const void *accessed)
{
    thread->deferring++;
    deaths_point(thread, accessed, deaths_watched, true);
    thread->deferring--;
}

/* ---- an object dies ---- */

/* Does it die since a collection found that nothing leads to it? What only waited for its owner to
 * add up counts dies in one as well, but no reference is left other than the collection's own. */
static bool is_swept(const Thread *thread, PyObject *object)
{
    return collect_is_under_way(thread) && Py_REFCNT(object) > 1;
}

void deaths_note(Thread *thread, Watch *watch, enum Death death)
{
    atomic_store(&watch->is_noted, true);
    lane_death(thread, death, watch->number);
}

/* The interpreter has cleared the object's references, and calls callbacks one by one. */
static void find_dead(Thread *thread, Watch *watch)
{
    if (!atomic_load(&watch->is_noted)) {
        come_to_quiet_point(thread, watch);
        if (deaths_are_noted()) { /* maybe somebody else has meanwhile; once more is no harm */
            PyObject *object = (PyObject *)watch->address; /* is about to be freed, not yet */
            deaths_note(thread, watch, is_swept(thread, object) ? DEATH_SWEPT : DEATH_DIED);
        }
        atomic_store(&watch->is_noted, true);
    }
}

static bool is_yet_to_be_finalized(PyObject *object)
{
    return Py_TYPE(object)->tp_finalize != NULL && !PyObject_GC_IsFinalized(object);
}

/* Generators lose their references before they are finalized: their watch is known until then. */
static bool is_finalized_later(const Thread *thread, const Watch *watch)
{
    PyObject *object = (PyObject *)watch->address;
    return thread != NULL && !deaths_are_obeyed() && !is_swept(thread, object) &&
           is_yet_to_be_finalized(object);
}

/* The callback of the reference that is the watch's own. */
PyObject *deaths_watch_called(PyObject *self, PyObject *const *args, size_t count, PyObject *names)
{
    (void)args, (void)count, (void)names;
    Watch *watch = (Watch *)self;
    Thread *thread = watch->life == deaths_life ? deaths_counted() : NULL;
    bool is_later = is_finalized_later(thread, watch);
    compat_guard(&deaths_guard);
    if (is_later) {
        watch->is_owed = true;
        Py_INCREF(watch);
    }
    else if (watches_find(BY_OBJECT, watch->address) == watch) {
        watches_remove(BY_OBJECT, watch->address);
    }
    PyObject *own = watch->own;
    watch->own = NULL;
    compat_unguard(&deaths_guard);
    if (thread != NULL && deaths_are_obeyed()) {
        replay_deaths(thread, false);
    }
    else if (thread != NULL) {
        find_dead(thread, watch);
    }
    Py_XDECREF(own);
    Py_RETURN_NONE;
}

static void call_back(PyObject *callback, PyObject *reference)
{
    PyObject *result = PyObject_CallOneArg(callback, reference);
    if (result == NULL) {
        PyErr_WriteUnraisable(callback);
    }
    Py_XDECREF(result);
}

PyObject *deaths_callback_called(PyObject *self, PyObject *const *args, size_t count,
                                 PyObject *names)
{
    (void)count, (void)names;
    Callback *callback = (Callback *)self;
    Thread *thread = callback->life == deaths_life ? deaths_counted() : NULL;
    if (thread != NULL && deaths_are_obeyed()) {
        replay_deaths(thread, false);
        Py_RETURN_NONE;
    }
    if (thread != NULL) {
        Watch *watch = watches_of_reference(args[0]);
        if (watch != NULL) {
            find_dead(thread, watch);
            Py_DECREF(watch);
        }
        come_to_quiet_point(thread, NULL);
        if (deaths_are_noted()) {
            lane_death(thread, DEATH_CALLED, callback->number);
        }
    }
    call_back(callback->callback, args[0]);
    Py_RETURN_NONE;
}

/* ---- finalizers ---- */

/* What a type, or the one that it has its finalizer from, had in place of ours. */
static destructor native_finalizer(const PyTypeObject *type)
{
    destructor found = NULL;
    Py_ssize_t count = type->tp_mro == NULL ? 0 : PyTuple_GET_SIZE(type->tp_mro);
    compat_guard(&deaths_guard);
    for (Py_ssize_t i = 0; i < count && found == NULL; i++) {
        found = (destructor)watches_find(BY_TYPE, (uintptr_t)PyTuple_GET_ITEM(type->tp_mro, i));
    }
    compat_unguard(&deaths_guard);
    return found;
}

/* In a collection they are called in the order in which it finds things. */
static void finalize(PyObject *self)
{
    Thread *thread = deaths_counted();
    destructor native = native_finalizer(Py_TYPE(self));
    Watch *watch = thread == NULL || is_swept(thread, self) ? NULL : watches_of_object(self);
    if (watch != NULL && !deaths_are_obeyed()) {
        PyObject *raised = PyErr_GetRaisedException();
        come_to_quiet_point(thread, watch);
        if (deaths_are_noted()) {
            lane_death(thread, DEATH_FINALIZED, watch->number);
        }
        PyErr_SetRaisedException(raised);
        watches_settle(watch);
    }
    Py_XDECREF(watch);
    if (native != NULL) {
        native(self);
    }
}

/* Called once for each object, which is told from a bit that only containers have. */
bool deaths_can_watch(const PyObject *object)
{
    const PyTypeObject *type = Py_TYPE(object);
    bool is_static = PyType_Check(object) &&
                     !PyType_HasFeature((const PyTypeObject *)object, Py_TPFLAGS_HEAPTYPE);
    return type->tp_weaklistoffset != 0 && !is_static && type->tp_del == NULL &&
           (type->tp_finalize == NULL || PyType_IS_GC(type));
}

void deaths_watch_finalizer(PyTypeObject *type)
{
    compat_guard(&deaths_guard);
    if (type->tp_finalize != NULL && type->tp_finalize != finalize) {
        watches_remove(BY_TYPE, (uintptr_t)type);
        watches_add(BY_TYPE, (uintptr_t)type, (void *)type->tp_finalize);
        type->tp_finalize = finalize;
    }
    compat_unguard(&deaths_guard);
}

/* ---- in a serial replay ---- */

/* Its callbacks are called later, if they were. */
static void bury(Watch *watch)
{
    PyObject *object = NULL;
    if (watch->own != NULL && PyWeakref_GetRef(watch->own, &object) < 0) {
        PyErr_Clear();
    }
    if (object != NULL) {
        PyWeakReference *reference =
            *(PyWeakReference **)((char *)object + Py_TYPE(object)->tp_weaklistoffset);
        for (; reference != NULL; reference = reference->wr_next) { /* all others are parked */
            PyObject *callback = reference->wr_callback;
            if (callback != NULL && Py_IS_TYPE(callback, &CallbackType)) {
                ((Callback *)Py_NewRef(callback))->due = Py_NewRef((PyObject *)reference);
            }
        }
        watches_remove(BY_OBJECT, watch->address);
        PyUnstable_Object_ClearWeakRefsNoCallbacks(object);
        Py_CLEAR(watch->own);
    }
    if (watch->kept != NULL && is_yet_to_be_finalized(watch->kept)) {
        watch->is_owed = true;
        Py_INCREF(watch);
    }
    else {
        Py_CLEAR(watch->kept);
    }
    Py_XDECREF(object);
}

static void finalize_recorded(Watch *watch)
{
    PyObject_CallFinalizer(watch->kept);
    if (watch->is_owed) {
        Py_CLEAR(watch->kept);
        watches_settle(watch);
    }
}

/* A callback is called if its reference is still there. */
static void call_recorded(uint64_t number)
{
    compat_guard(&deaths_guard);
    Callback *callback = watches_find(BY_CALLBACK_NUMBER, number);
    PyObject *reference =
        callback == NULL || callback->mark == NULL ? NULL : callback->mark->reference;
    compat_unguard(&deaths_guard);
    if (reference != NULL) {
        Py_INCREF(reference);
        Py_INCREF(callback);
        PyObject *due = callback->due;
        callback->due = NULL;
        call_back(callback->callback, reference);
        Py_DECREF(reference);
        Py_DECREF(callback);
        if (due != NULL) {
            Py_DECREF(due);
            Py_DECREF(callback);
        }
    }
}

static void obey(Watch *watch, enum Death death)
{
    Py_INCREF(watch);
    if (death == DEATH_RELEASED) {
        Py_CLEAR(watch->kept);
    }
    else if (death != DEATH_FINALIZED) {
        bury(watch);
    }
    else if (watch->kept != NULL) {
        finalize_recorded(watch);
    }
    Py_DECREF(watch);
}

/* What the recording has here. Whoever comes to it is in the midst of something else. */
void deaths_obey(Thread *thread, enum Death death, uint64_t number)
{
    uint8_t operation = thread->pending_op;
    uint32_t object = thread->pending_object;
    Object *pending = thread->pending;
    PyObject *raised = PyErr_GetRaisedException();
    Watch *watch = death == DEATH_CALLED ? NULL : watches_find(BY_NUMBER, number);
    if (death == DEATH_CALLED) {
        call_recorded(number);
    }
    else if (watch != NULL) {
        obey(watch, death);
    }
    PyErr_SetRaisedException(raised);
    thread->pending_op = operation;
    thread->pending_object = object;
    thread->pending = pending;
}

/* ---- at the end of a thread, in a serial replay ---- */

/* What others have let go of dies last of all, as the thread's counts are added up. The replay
 * keeps such objects; so one that nobody keeps says when it is time for those. */
static void let_queue(PyObject *parting)
{
    _Py_DecRefShared(parting); /* as another thread would, which leaves the rest to its owner */
}

static bool is_time_to_part(PyThreadState *tstate)
{
    const struct _brc_thread_state *queues = &((_PyThreadStateImpl *)tstate)->brc;
    return compat_top_frame(tstate) == NULL && queues->local_objects_to_merge.head == NULL &&
           queues->objects_to_merge.head == NULL;
}

static void part(PyObject *self)
{
    Thread *thread = deaths_counted();
    PyThreadState *tstate = PyThreadState_Get();
    if (thread != NULL && gate.active && !is_time_to_part(tstate)) {
        let_queue(PyObject_Init(self, Py_TYPE(self)));
        return;
    }
    PyObject_Free(self);
    if (thread != NULL) {
        replay_deaths(thread, true);
    }
}

static PyTypeObject PartingType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "reenact._core.Parting",
    .tp_basicsize = sizeof(PyObject),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_dealloc = part,
};

/* The thread has told its end, and its state is about to be cleared. */
void deaths_part(void)
{
    if (deaths_counted() != NULL && deaths_are_obeyed()) {
        PyObject *parting = PyObject_New(PyObject, &PartingType);
        if (parting != NULL) {
            let_queue(parting);
        }
    }
}

/* ---- no more ---- */

/* The run is over, or this is another process: from here on they die by themselves. */
void deaths_let_go(void)
{
    uint32_t bucket = 0;
    Watch *watch;
    while (deaths_are_obeyed() && (watch = watches_next_kept(&bucket)) != NULL) {
        Py_CLEAR(watch->kept); /* what it leads to may change the table */
    }
}

void deaths_forget(void)
{
    deaths_guard = (Guard){0};
    deaths_life++;
    deaths_let_go();
}

#else

void deaths_part(void)
{
}
void deaths_let_go(void)
{
}
void deaths_forget(void)
{
}
void deaths_obey(Thread *thread, enum Death death, uint64_t number)
{
    (void)thread, (void)death, (void)number;
}

#endif
