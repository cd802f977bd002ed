/* Which objects are watched, by which weak references they are known, and the two types that stand
 * where a weak reference has its callback (deaths.c says what for). */
#include "deaths.h"

#ifdef Py_GIL_DISABLED

uint32_t deaths_life;
Guard deaths_guard;

/* ---- tables ---- */

enum { BUCKETS = 1 << 14 };
typedef struct Entry {
    struct Entry *next;
    uint64_t key;
    void *value;
    enum Key kind;
} Entry;
static Entry *buckets[BUCKETS];

static Entry **place_of(enum Key kind, uint64_t key)
{
    return &buckets[((key ^ (uint64_t)kind << 50) * 0x9E3779B97F4A7C15ULL >> 40) % BUCKETS];
}

static Entry **find(enum Key kind, uint64_t key)
{
    Entry **at = place_of(kind, key);
    while (*at != NULL && ((*at)->key != key || (*at)->kind != kind)) {
        at = &(*at)->next;
    }
    return at;
}

void *watches_find(enum Key kind, uint64_t key)
{
    Entry *entry = *find(kind, key);
    return entry == NULL ? NULL : entry->value;
}

void watches_add(enum Key kind, uint64_t key, void *value)
{
    Entry *entry = PyMem_RawMalloc(sizeof *entry);
    if (entry != NULL) {
        Entry **first = place_of(kind, key);
        *entry = (Entry){*first, key, value, kind};
        *first = entry;
    }
}

void *watches_remove(enum Key kind, uint64_t key)
{
    Entry **at = find(kind, key), *entry = *at;
    if (entry == NULL) {
        return NULL;
    }
    void *value = entry->value;
    *at = entry->next;
    PyMem_RawFree(entry);
    return value;
}

/* That of an object that was made before a fork does not count. */
Watch *watches_of_object(const PyObject *object)
{
    compat_guard(&deaths_guard);
    Watch *watch = watches_find(BY_OBJECT, (uintptr_t)object);
    watch = watch != NULL && watch->life == deaths_life ? watch : NULL;
    Py_XINCREF(watch);
    compat_unguard(&deaths_guard);
    return watch;
}

Watch *watches_of_reference(const PyObject *reference)
{
    compat_guard(&deaths_guard);
    const Mark *mark = watches_find(BY_REFERENCE, (uintptr_t)reference);
    Watch *watch = mark == NULL ? NULL : mark->watch;
    Py_XINCREF(watch);
    compat_unguard(&deaths_guard);
    return watch;
}

/* Its finalizer is called, or its object is gone. */
void watches_settle(Watch *watch)
{
    compat_guard(&deaths_guard);
    bool is_owed = watch->is_owed;
    watch->is_owed = false;
    if (is_owed && watches_find(BY_OBJECT, watch->address) == watch) {
        watches_remove(BY_OBJECT, watch->address);
    }
    compat_unguard(&deaths_guard);
    if (is_owed) {
        Py_DECREF(watch);
    }
}

/* The next one that keeps its object, from a bucket on; or NULL. */
Watch *watches_next_kept(uint32_t *bucket)
{
    for (; *bucket < BUCKETS; (*bucket)++) {
        for (Entry *entry = buckets[*bucket]; entry != NULL; entry = entry->next) {
            Watch *watch = entry->kind == BY_NUMBER ? entry->value : NULL;
            if (watch != NULL && watch->kept != NULL) {
                return watch;
            }
        }
    }
    return NULL;
}

/* ---- the types ---- */

static void watch_dealloc(PyObject *self)
{
    Watch *watch = (Watch *)self;
    compat_guard(&deaths_guard);
    if (watches_find(BY_NUMBER, watch->number) == watch) {
        watches_remove(BY_NUMBER, watch->number);
    }
    compat_unguard(&deaths_guard);
    Py_TYPE(self)->tp_free(self);
}

static int traverse_callback(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(((Callback *)self)->callback);
    return 0;
}

static int clear_callback(PyObject *self)
{
    Callback *callback = (Callback *)self;
    Py_XSETREF(callback->callback, Py_NewRef(Py_None));
    return 0;
}

static void callback_dealloc(PyObject *self)
{
    Callback *callback = (Callback *)self;
    PyObject_GC_UnTrack(self);
    compat_guard(&deaths_guard);
    if (callback->mark != NULL) {
        callback->mark->callback = NULL;
    }
    if (watches_find(BY_CALLBACK_NUMBER, callback->number) == callback) {
        watches_remove(BY_CALLBACK_NUMBER, callback->number);
    }
    compat_unguard(&deaths_guard);
    Py_XDECREF(callback->callback);
    PyObject_GC_Del(self);
}

PyTypeObject WatchType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "reenact._core.Watch",
    .tp_basicsize = sizeof(Watch),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_vectorcall_offset = offsetof(Watch, call),
    .tp_call = PyVectorcall_Call,
    .tp_dealloc = watch_dealloc,
};
PyTypeObject CallbackType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "reenact._core.Callback",
    .tp_basicsize = sizeof(Callback),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_HAVE_GC,
    .tp_vectorcall_offset = offsetof(Callback, call),
    .tp_call = PyVectorcall_Call,
    .tp_traverse = traverse_callback,
    .tp_clear = clear_callback,
    .tp_dealloc = callback_dealloc,
};

/* Not yet in the tables; NULL: none, and an exception. */
Watch *watch_new(PyObject *object, uint64_t number)
{
    Watch *watch = PyObject_New(Watch, &WatchType);
    if (watch == NULL) {
        return NULL;
    }
    watch->call = deaths_watch_called;
    watch->own = watch->kept = NULL;
    watch->address = (uintptr_t)object;
    watch->number = number;
    watch->life = deaths_life;
    watch->is_noted = watch->is_owed = false;
    PyObject *own = PyWeakref_NewRef(object, (PyObject *)watch);
    if (own == NULL) {
        Py_DECREF(watch);
        return NULL;
    }
    watch->own = own;
    return watch;
}

Callback *callback_new(PyObject *native, uint64_t number)
{
    Callback *callback = PyObject_GC_New(Callback, &CallbackType);
    if (callback != NULL) {
        callback->call = deaths_callback_called;
        callback->callback = Py_NewRef(native);
        callback->mark = NULL;
        callback->number = number;
        callback->life = deaths_life;
        callback->due = NULL;
        PyObject_GC_Track(callback);
    }
    return callback;
}

#else

PyTypeObject WatchType = {PyVarObject_HEAD_INIT(NULL, 0).tp_name = "reenact._core.Watch"},
             CallbackType = {PyVarObject_HEAD_INIT(NULL, 0).tp_name = "reenact._core.Callback"};

#endif
