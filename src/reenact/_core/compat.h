/* What differs between CPython versions, and nothing else: the only file with version #ifs.
 *
 * Layouts of objects that CPython does not publish are stated here once; module.c compares
 * their sizes with the running interpreter's and refuses to load when they disagree. */
#ifndef REENACT_COMPAT_H
#define REENACT_COMPAT_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#if PY_VERSION_HEX < 0x030B0000 || PY_VERSION_HEX >= 0x030E0000
#error "reenact supports CPython 3.11, 3.12 and 3.13"
#endif
#if defined(Py_GIL_DISABLED) && PY_VERSION_HEX < 0x030D0000
#error "reenact supports free-threaded builds from 3.13 on"
#endif
#if !defined(__linux__) || !defined(__x86_64__)
#error "reenact supports Linux on x86-64 only"
#endif

#define Py_BUILD_CORE 1
#undef _PyGC_FINALIZED /* 3.11 defines it twice */
#include <internal/pycore_ceval.h>
#include <internal/pycore_code.h>
#include <internal/pycore_frame.h>
#include <internal/pycore_gc.h>
#include <internal/pycore_interp.h>
#include <internal/pycore_pystate.h>
#include <internal/pycore_runtime.h>
#undef Py_BUILD_CORE
#include <pythread.h>
#include <errno.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#if PY_VERSION_HEX < 0x030C0000
#include <opcode.h>
#endif

/* Says that the core needs no GIL; else importing it would bring the GIL back. */
static inline int compat_needs_no_gil(PyObject *module)
{
#ifdef Py_GIL_DISABLED
    return PyUnstable_Module_SetGIL(module, Py_MOD_GIL_NOT_USED);
#else
    (void)module;
    return 0;
#endif
}

/* Of a few instructions of our own. No Python runs while it is taken. */
typedef struct {
    _Atomic int32_t taken;
} Guard;

static inline void guard_take(Guard *guard)
{
    while (atomic_exchange_explicit(&guard->taken, 1, memory_order_acquire) != 0) {
        __builtin_ia32_pause();
    }
}

static inline void guard_give(Guard *guard)
{
    atomic_store_explicit(&guard->taken, 0, memory_order_release);
}

/* The same for what the GIL guards where there is one: threads come to it with the baton and
 * without it. */
static inline void compat_guard(Guard *guard)
{
#ifdef Py_GIL_DISABLED
    guard_take(guard);
#else
    (void)guard;
#endif
}

static inline void compat_unguard(Guard *guard)
{
#ifdef Py_GIL_DISABLED
    guard_give(guard);
#else
    (void)guard;
#endif
}

/* The locks of objects that C code of a thread has taken, as a chain through its stack: where that
 * chain begins, and what it is after a call was left by longjmp. */
static inline uintptr_t compat_sections(PyThreadState *tstate)
{
#if PY_VERSION_HEX >= 0x030D0000
    return tstate->critical_section;
#else
    (void)tstate;
    return 0;
#endif
}

static inline void compat_leave_sections(PyThreadState *tstate, uintptr_t sections)
{
#if PY_VERSION_HEX >= 0x030D0000
    tstate->critical_section = sections;
#else
    (void)tstate, (void)sections;
#endif
}

/* Does the collector go through the blocks of the allocator of objects? Then each must be an
 * object, or look free. */
#ifdef Py_GIL_DISABLED
enum { COLLECTOR_VISITS_BLOCKS = 1 };
#else
enum { COLLECTOR_VISITS_BLOCKS = 0 };
#endif

/* May a thread that was started make its first steps while the one that started it goes on? Then
 * both get memory from the system, in any order. */
#ifdef Py_GIL_DISABLED
enum { HAS_GIL = 0, BEGINS_IN_PARALLEL = 1, FREE_LISTS_ARE_OF_THREADS = 1 };
#else
enum { HAS_GIL = 1, BEGINS_IN_PARALLEL = 0, FREE_LISTS_ARE_OF_THREADS = 0 };
#endif

/* An object that lives for ever. Without the GIL, threads other than the one that made it would
 * count its references by atomic instructions. */
static inline void compat_make_immortal(PyObject *object)
{
#ifdef Py_GIL_DISABLED
    object->ob_tid = _Py_UNOWNED_TID;
    object->ob_ref_local = _Py_IMMORTAL_REFCNT_LOCAL;
    object->ob_ref_shared = 0;
#else
    (void)object;
#endif
}

/* A PyThread_type_lock is a POSIX semaphore on Linux. PyThread_acquire_lock reads the clock even
 * when it is not to wait, which costs more than all the rest of an acquire. */
static inline bool compat_try_native(PyThread_type_lock native)
{
    while (sem_trywait((sem_t *)native) != 0) {
        if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

static inline void compat_release_native(PyThread_type_lock native)
{
    sem_post((sem_t *)native);
}

/* _thread.RLock, the same in 3.11 to 3.13 */
typedef struct {
    PyObject_HEAD PyThread_type_lock native;
    unsigned long owner;
    unsigned long count;
    PyObject *weakrefs;
} RecursiveLock;

/* _thread.lock: a semaphore and a flag; a mutex in later releases of 3.13, as 3.13.5. The type's
 * size says which, since an extension built for 3.13 runs on all of them. */
typedef struct {
    PyObject_HEAD PyThread_type_lock native;
    PyObject *weakrefs;
    char locked;
} SemaphoreLock;

#if PY_VERSION_HEX >= 0x030D0000
typedef struct {
    PyObject_HEAD PyMutex mutex;
} MutexLock;

static inline bool compat_is_mutex(const PyObject *lock)
{
    return Py_TYPE((PyObject *)lock)->tp_basicsize == sizeof(MutexLock);
}

static inline bool compat_knows_lock(const PyTypeObject *type)
{
    return type->tp_basicsize == sizeof(SemaphoreLock) || type->tp_basicsize == sizeof(MutexLock);
}

static inline bool compat_try_mutex(PyMutex *mutex)
{
    uint8_t bits = _Py_atomic_load_uint8(&mutex->_bits);
    while ((bits & _Py_LOCKED) == 0) {
        if (_Py_atomic_compare_exchange_uint8(&mutex->_bits, &bits, bits | _Py_LOCKED)) {
            return true;
        }
    }
    return false;
}

static inline bool compat_lock_is_taken(const PyObject *lock)
{
    return compat_is_mutex(lock) ? ((const MutexLock *)lock)->mutex._bits & _Py_LOCKED
                                 : ((const SemaphoreLock *)lock)->locked;
}
#else
static inline bool compat_knows_lock(const PyTypeObject *type)
{
    return type->tp_basicsize == sizeof(SemaphoreLock);
}

static inline bool compat_lock_is_taken(const PyObject *lock)
{
    return ((const SemaphoreLock *)lock)->locked;
}
#endif

/* Takes a lock if nobody has it. */
static inline bool compat_take_lock(PyObject *object)
{
#if PY_VERSION_HEX >= 0x030D0000
    if (compat_is_mutex(object)) {
        return compat_try_mutex(&((MutexLock *)object)->mutex);
    }
#endif
    SemaphoreLock *lock = (SemaphoreLock *)object;
    if (lock->locked || !compat_try_native(lock->native)) {
        return false;
    }
    lock->locked = 1;
    return true;
}

/* Somebody has it. */
static inline void compat_release_lock(PyObject *object)
{
#if PY_VERSION_HEX >= 0x030D0000
    if (compat_is_mutex(object)) {
        PyMutex_Unlock(&((MutexLock *)object)->mutex);
        return;
    }
#endif
    SemaphoreLock *lock = (SemaphoreLock *)object;
    compat_release_native(lock->native);
    lock->locked = 0;
}

/* _io.FileIO: the descriptor is its first field */
typedef struct {
    PyObject_HEAD int fd;
} FileObject;

/* _socket.socket: its descriptor and its timeout, 0 if it never waits */
typedef struct {
    PyObject_HEAD int fd, family, type, protocol;
    void *error_handler;
    int64_t timeout;
} SocketObject;

/* dict_keys, dict_values and dict_items, published in 3.11 and 3.12 only */
typedef struct {
    PyObject_HEAD PyObject *dict;
} DictView;

typedef struct {
    PyObject_HEAD Py_ssize_t index; /* negative at its end */
    PyObject *list;                 /* with the GIL, NULL at its end */
} ListIterator;

/* The list that an iterator is not yet at the end of, borrowed, or NULL. */
static inline PyObject *compat_iterated_list(PyObject *iterator)
{
    const ListIterator *it = (const ListIterator *)iterator;
    return it->index < 0 ? NULL : it->list;
}

/* super, the same in 3.11 to 3.13 */
typedef struct {
    PyObject_HEAD PyTypeObject *type;
    PyObject *object;
    PyTypeObject *object_type;
} SuperObject;

/* How many bytes of an object's memory lie before the object. What the garbage collector notes is
 * in the object itself if there is no GIL. */
#ifdef Py_GIL_DISABLED
enum { GC_HEADER = 0 };
#else
enum { GC_HEADER = sizeof(PyGC_Head) };
#endif

static inline size_t compat_header_size(PyTypeObject *type)
{
#if PY_VERSION_HEX >= 0x030C0000
    unsigned long extra = Py_TPFLAGS_MANAGED_DICT | Py_TPFLAGS_MANAGED_WEAKREF;
#else
    unsigned long extra = Py_TPFLAGS_MANAGED_DICT;
#endif
    return (type->tp_flags & Py_TPFLAGS_HAVE_GC ? GC_HEADER : 0) +
           (type->tp_flags & extra ? 2 * sizeof(PyObject *) : 0);
}

typedef struct _PyInterpreterFrame Frame;

static inline Frame *compat_top_frame(PyThreadState *tstate)
{
#if PY_VERSION_HEX >= 0x030D0000
    return tstate->current_frame;
#else
    return tstate->cframe->current_frame;
#endif
}

/* In a child of fork() that runs on without the interpreter's help: whoever waited for the GIL is
 * not there, so it need not be given away, nor is a part of it taken. Without a GIL whoever stops
 * the world, and be it for an import, would wait for threads that are not there. */
static inline void compat_gil_alone(PyThreadState *tstate)
{
#ifdef Py_GIL_DISABLED
    for (PyThreadState *each = tstate->interp->threads.head; each != NULL; each = each->next) {
        if (each != tstate) {
            _Py_atomic_store_int(&each->state, _Py_THREAD_DETACHED);
        }
    }
#else
#if PY_VERSION_HEX >= 0x030D0000
    struct _gil_runtime_state *gil = tstate->interp->ceval.gil;
    _Py_atomic_and_uintptr(&tstate->eval_breaker, ~(uintptr_t)_PY_GIL_DROP_REQUEST_BIT);
#elif PY_VERSION_HEX >= 0x030C0000
    struct _gil_runtime_state *gil = tstate->interp->ceval.gil;
    _Py_atomic_store_relaxed(&tstate->interp->ceval.gil_drop_request, 0);
#else
    struct _gil_runtime_state *gil = &_PyRuntime.ceval.gil;
    _Py_atomic_store_relaxed(&tstate->interp->ceval.gil_drop_request, 0);
#endif
    pthread_mutex_init(&gil->mutex, NULL);
    pthread_cond_init(&gil->cond, NULL);
#ifdef FORCE_SWITCHING
    pthread_mutex_init(&gil->switch_mutex, NULL);
    pthread_cond_init(&gil->switch_cond, NULL);
#endif
#endif
}

/* The code object a frame executes, or NULL for the interpreter's own helper frames. */
static inline PyCodeObject *compat_frame_code(Frame *frame)
{
#if PY_VERSION_HEX >= 0x030D0000
    if (frame->owner == FRAME_OWNED_BY_CSTACK || !PyCode_Check(frame->f_executable)) {
        return NULL;
    }
    return (PyCodeObject *)frame->f_executable;
#elif PY_VERSION_HEX >= 0x030C0000
    return frame->owner == FRAME_OWNED_BY_CSTACK ? NULL : frame->f_code;
#else
    return frame->f_code;
#endif
}

/* The same without the code itself: a frame of 3.11 always has it. */
static inline bool compat_has_code(Frame *frame)
{
#if PY_VERSION_HEX >= 0x030C0000
    return compat_frame_code(frame) != NULL;
#else
    (void)frame;
    return true;
#endif
}

/* Was the frame's function called by C, and not by Python code? */
static inline bool compat_is_called_by_c(const Frame *frame)
{
#if PY_VERSION_HEX >= 0x030C0000
    return frame->previous != NULL && frame->previous->owner == FRAME_OWNED_BY_CSTACK;
#else
    return frame->is_entry;
#endif
}

static inline _Py_CODEUNIT *compat_frame_instruction(Frame *frame)
{
#if PY_VERSION_HEX >= 0x030D0000
    return frame->instr_ptr;
#else
    return frame->prev_instr;
#endif
}

/* How many calls of the interpreter by C code there is room for: less within a callback. Each level
 * has its number, as long as it runs. */
static inline int compat_room_for_calls(const PyThreadState *tstate)
{
#if PY_VERSION_HEX >= 0x030C0000
    return tstate->c_recursion_remaining;
#else
    (void)tstate;
    return 0;
#endif
}

/* The same, whether or not the interpreter has specialised it: on 3.11 a call is two instructions,
 * and once it has often been made the first of them does it all. */
static inline _Py_CODEUNIT *compat_frame_call(Frame *frame)
{
    _Py_CODEUNIT *instruction = compat_frame_instruction(frame);
#if PY_VERSION_HEX < 0x030C0000
    switch (_Py_OPCODE(*instruction)) {
    case CALL:
    case CALL_ADAPTIVE:
    case CALL_PY_EXACT_ARGS:
    case CALL_PY_WITH_DEFAULTS: return instruction - 2; /* PRECALL, which has one entry of cache */
    default: break;
    }
#endif
    return instruction;
}

static inline int compat_frame_offset(Frame *frame, PyCodeObject *code)
{
    return (int)((compat_frame_instruction(frame) - _PyCode_CODE(code)) *
                 (Py_ssize_t)sizeof(_Py_CODEUNIT));
}

/* Where a frame's stack of values begins; what lies there is alive up to the stack's top. */
static inline PyObject **compat_frame_stack(Frame *frame, PyCodeObject *code)
{
    return frame->localsplus + code->co_nlocalsplus;
}

/* Has events of all threads told to a function; -1 with an exception set. */
static inline int compat_trace_all(Py_tracefunc function)
{
#if PY_VERSION_HEX >= 0x030C0000
    PyEval_SetTraceAllThreads(function, Py_None);
    return PyErr_Occurred() ? -1 : 0;
#else
    PyThreadState *tstate = PyInterpreterState_ThreadHead(PyInterpreterState_Get());
    for (; tstate != NULL; tstate = PyThreadState_Next(tstate)) {
        if (_PyEval_SetTrace(tstate, function, Py_None) < 0) {
            return -1;
        }
    }
    return 0;
#endif
}

/* The same of calls and returns, those of C functions among them. */
static inline int compat_profile_all(Py_tracefunc function)
{
#if PY_VERSION_HEX >= 0x030C0000
    PyEval_SetProfileAllThreads(function, Py_None);
    return PyErr_Occurred() ? -1 : 0;
#else
    PyThreadState *tstate = PyInterpreterState_ThreadHead(PyInterpreterState_Get());
    for (; tstate != NULL; tstate = PyThreadState_Next(tstate)) {
        if (_PyEval_SetProfile(tstate, function, Py_None) < 0) {
            return -1;
        }
    }
    return 0;
#endif
}

/* Has the instructions of a frame told as well; from 3.12 on sys.monitoring does that for code. */
static inline void compat_trace_instructions(PyFrameObject *frame)
{
#if PY_VERSION_HEX < 0x030C0000
    frame->f_trace_opcodes = 1;
#else
    (void)frame;
#endif
}

/* The same wherever a function is told all events of a thread, whatever it costs. */
static inline void compat_trace_opcodes(PyFrameObject *frame)
{
#if PY_VERSION_HEX < 0x030C0000
    frame->f_trace_opcodes = 1;
#else
    if (PyObject_SetAttrString((PyObject *)frame, "f_trace_opcodes", Py_True) < 0) {
        PyErr_Clear();
    }
#endif
}

/* What a frame object, as Python has it, stands for. */
static inline Frame *compat_inner_frame(PyFrameObject *frame)
{
    return frame->f_frame;
}

/* The cell of a variable that a frame shares with other functions, borrowed, or NULL. */
static inline PyObject *compat_frame_cell(Frame *frame, PyCodeObject *code, PyObject *name)
{
    for (int i = 0; i < code->co_nlocalsplus; i++) {
        PyObject *each = PyTuple_GET_ITEM(code->co_localsplusnames, i);
        if ((each == name || PyUnicode_Compare(each, name) == 0) &&
            (_PyLocals_GetKind(code->co_localspluskinds, i) & (CO_FAST_CELL | CO_FAST_FREE))) {
            PyObject *cell = frame->localsplus[i];
            return cell != NULL && PyCell_Check(cell) ? cell : NULL;
        }
    }
    return NULL;
}

/* Before 3.12 an event loop counts as running in the process only that has this number. */
static inline void compat_renumber_loops(pid_t before, pid_t now)
{
#if PY_VERSION_HEX < 0x030C0000
    typedef struct {
        PyObject_HEAD PyObject *loop;
        pid_t pid;
    } Running;
    PyThreadState *tstate = PyInterpreterState_ThreadHead(PyInterpreterState_Get());
    for (; tstate != NULL; tstate = PyThreadState_Next(tstate)) {
        PyObject *key, *value;
        Py_ssize_t at = 0;
        while (tstate->dict != NULL && PyDict_Next(tstate->dict, &at, &key, &value)) {
            bool is_running = strcmp(Py_TYPE(value)->tp_name, "_RunningLoopHolder") == 0;
            if (is_running && ((Running *)value)->pid == before) {
                ((Running *)value)->pid = now;
            }
        }
    }
#else
    (void)before, (void)now;
#endif
}

/* One instruction that asks for the truth of any object and jumps; 3.13 has none. */
#if PY_VERSION_HEX < 0x030C0000
#define POP_AND_JUMP_IF_TRUE POP_JUMP_FORWARD_IF_TRUE
#define POP_AND_JUMP_IF_FALSE POP_JUMP_FORWARD_IF_FALSE
#elif PY_VERSION_HEX < 0x030D0000
#define POP_AND_JUMP_IF_TRUE POP_JUMP_IF_TRUE
#define POP_AND_JUMP_IF_FALSE POP_JUMP_IF_FALSE
#endif

/* An instruction that calls tp_iternext of what it finds, with nothing of Python's in between,
 * drops it if that gives nothing, and jumps. From 3.12 on it is one of those that are specialised,
 * and gains nothing over others. What it is given else goes to another one with the object itself:
 * `del OBJECT[GIVEN]`. */
#if PY_VERSION_HEX < 0x030C0000
#define ASK_AND_JUMP FOR_ITER
#define HAND_OVER DELETE_SUBSCR
#endif

/* Is the frame at such an instruction? */
static inline bool compat_is_asked_after(Frame *frame)
{
#ifdef ASK_AND_JUMP
    return _Py_OPCODE(*compat_frame_instruction(frame)) == ASK_AND_JUMP;
#else
    (void)frame;
    return false;
#endif
}

static inline void compat_set_instruction(_Py_CODEUNIT *unit, int opcode, int argument)
{
#if PY_VERSION_HEX < 0x030C0000
    *unit = _Py_MAKECODEUNIT(opcode, argument);
#else
    unit->op.code = (uint8_t)opcode;
    unit->op.arg = (uint8_t)argument;
#endif
}

static inline int compat_opcode(_Py_CODEUNIT unit)
{
#if PY_VERSION_HEX < 0x030C0000
    return _Py_OPCODE(unit);
#else
    return unit.op.code;
#endif
}

static inline int compat_argument(_Py_CODEUNIT unit)
{
#if PY_VERSION_HEX < 0x030C0000
    return _Py_OPARG(unit);
#else
    return unit.op.arg;
#endif
}

/* Borrowed. Some types of 3.12 and later have a dictionary for each interpreter. */
static inline PyObject *compat_type_dict(PyTypeObject *type)
{
#if PY_VERSION_HEX >= 0x030C0000
    PyObject *dict = PyType_GetDict(type);
    Py_XDECREF(dict);
    return dict;
#else
    return type->tp_dict;
#endif
}

/* The names of a class's attributes, as its instances share them; the same in 3.11 to 3.13. */
typedef struct {
    Py_ssize_t references;
    uint8_t log2_size, log2_index_bytes, kind;
    uint32_t version;
    Py_ssize_t usable, count;
    char indices[];
} SharedKeys;

typedef struct {
    PyObject *name, *unused;
} SharedKey;

/* Has a dictionary no keys but texts? To look something up in one runs no code of the program's. */
static inline bool compat_has_plain_keys(PyObject *dict)
{
    return PyDict_CheckExact(dict) && ((SharedKeys *)((PyDictObject *)dict)->ma_keys)->kind != 0;
}

/* Where an instance keeps its attributes: a dictionary, borrowed, or values by the place of their
 * names in the keys of its class; NULL and NULL if it has none. */
static inline PyObject *compat_instance_dict(PyObject *object, PyObject ***values)
{
    PyTypeObject *type = Py_TYPE(object);
    *values = NULL;
    if ((type->tp_flags & Py_TPFLAGS_MANAGED_DICT) == 0) {
        PyObject **place = type->tp_dictoffset == 0 ? NULL : _PyObject_GetDictPtr(object);
        return place == NULL ? NULL : *place;
    }
#ifdef Py_GIL_DISABLED
    char *dict = ((char **)object)[-1];
#else
    char *dict = ((char **)object)[-3];
#endif
#if PY_VERSION_HEX >= 0x030D0000
    unsigned char *inside = (unsigned char *)object + sizeof(PyObject);
    if (dict == NULL && (type->tp_flags & Py_TPFLAGS_INLINE_VALUES) && inside[3] != 0) {
        *values = (PyObject **)inside + 1;
    }
#elif PY_VERSION_HEX >= 0x030C0000
    if ((uintptr_t)dict & 1) {
        *values = (PyObject **)(dict + 1);
        return NULL;
    }
#else
    *values = ((PyObject ***)object)[-4];
#endif
    return (PyObject *)dict;
}

/* Has an instance an attribute of its own of this interned name, or could it? Makes no dictionary
 * for it. */
static inline bool compat_instance_has(PyObject *object, PyObject *name)
{
    PyObject **values, *dict = compat_instance_dict(object, &values);
    if (values == NULL && dict != NULL) {
        return !compat_has_plain_keys(dict) || PyDict_GetItemWithError(dict, name) != NULL;
    }
    if (values == NULL) {
        return false;
    }
    SharedKeys *keys = (SharedKeys *)((PyHeapTypeObject *)Py_TYPE(object))->ht_cached_keys;
    SharedKey *each = (SharedKey *)(keys->indices + ((size_t)1 << keys->log2_index_bytes));
    for (Py_ssize_t i = 0; i < keys->count; i++) {
        if (each[i].name == name) {
            return values[i] != NULL;
        }
    }
    return false;
}

/* The value of an exact int that is small and not negative; else -1. */
static inline Py_ssize_t compat_small_index(PyObject *number)
{
#if PY_VERSION_HEX >= 0x030C0000
    const PyLongObject *value = (const PyLongObject *)number;
    if (!PyUnstable_Long_IsCompact(value)) {
        return -1;
    }
    Py_ssize_t index = PyUnstable_Long_CompactValue(value);
    return index < 0 ? -1 : index;
#else
    Py_ssize_t size = Py_SIZE(number);
    return size == 0 ? 0 : size == 1 ? (Py_ssize_t)((PyLongObject *)number)->ob_digit[0] : -1;
#endif
}

/* How many numbers an iterator of a range has yet to give, and how far they are apart. */
static inline Py_ssize_t compat_range_left(PyObject *iterator, Py_ssize_t *step)
{
    const long *fields = (const long *)((const char *)iterator + sizeof(PyObject));
#if PY_VERSION_HEX >= 0x030C0000
    *step = fields[1];
    return fields[2];
#else
    *step = fields[2];
    return fields[3] - fields[0];
#endif
}

/* What a weak proxy stands for, borrowed. */
static inline PyObject *compat_proxied(PyObject *proxy)
{
#if PY_VERSION_HEX >= 0x030D0000
    PyObject *object = NULL;
    int found = PyWeakref_GetRef(proxy, &object);
    Py_XDECREF(object);
    return found == 1 ? object : Py_None;
#else
    return PyWeakref_GET_OBJECT(proxy);
#endif
}

/* NULL if the thread has not got the GIL, or is not attached. Before 3.12 one variable serves all
 * threads: what is there may be another's. */
static inline PyThreadState *compat_thread_state(void)
{
#if PY_VERSION_HEX >= 0x030D0000
    return PyThreadState_GetUnchecked();
#elif PY_VERSION_HEX >= 0x030C0000
    return _PyThreadState_UncheckedGet();
#else
    PyThreadState *tstate = _PyThreadState_UncheckedGet();
    return tstate == PyGILState_GetThisThreadState() ? tstate : NULL;
#endif
}

/* Without a GIL an object that another thread was the last to let go of dies in the thread that
 * made it, as soon as that looks for such, between two instructions. While this is put off it does
 * not; whether there was any. */
static inline bool compat_put_off_deaths(void)
{
#ifdef Py_GIL_DISABLED
    PyThreadState *tstate = compat_thread_state();
    uintptr_t bit = _PY_EVAL_EXPLICIT_MERGE_BIT;
    return tstate != NULL && (_Py_atomic_and_uintptr(&tstate->eval_breaker, ~bit) & bit) != 0;
#else
    return false;
#endif
}

static inline void compat_take_up_deaths(void)
{
#ifdef Py_GIL_DISABLED
    PyThreadState *tstate = compat_thread_state();
    if (tstate != NULL) {
        _Py_atomic_or_uintptr(&tstate->eval_breaker, _PY_EVAL_EXPLICIT_MERGE_BIT);
    }
#endif
}

/* The oldest generation that is over its threshold, by CPython's rule; -1 if none is. Without the
 * GIL there is one generation, and each thread tells of what it allocated some hundred at a time.
 */
static inline int compat_due_generation(void)
{
    const struct _gc_runtime_state *gc = &PyInterpreterState_Get()->gc;
    if (gc->generations[0].threshold == 0 || gc->collecting ||
        gc->generations[0].count <= gc->generations[0].threshold) {
        return -1;
    }
#ifdef Py_GIL_DISABLED
    bool is_due = gc->generations[0].count > gc->long_lived_total / 4;
    return is_due || gc->generations[1].threshold == 0 ? 0 : -1;
#else
    for (int i = NUM_GENERATIONS - 1; i >= 0; i--) {
        bool over = gc->generations[i].count > gc->generations[i].threshold;
        bool worth_it =
            i < NUM_GENERATIONS - 1 || gc->long_lived_pending >= gc->long_lived_total / 4;
        if (over && worth_it) {
            return i;
        }
    }
    return -1;
#endif
}

static inline int compat_long_as_bytes(PyObject *value, unsigned char *bytes, size_t size)
{
#if PY_VERSION_HEX >= 0x030D0000
    return _PyLong_AsByteArray((PyLongObject *)value, bytes, size, 1, 1, 0);
#else
    return _PyLong_AsByteArray((PyLongObject *)value, bytes, size, 1, 1);
#endif
}

static inline void compat_write_unraisable(PyObject *function)
{
#if PY_VERSION_HEX >= 0x030D0000
    PyErr_FormatUnraisable("Exception ignored in thread started by %R", function);
#else
    _PyErr_WriteUnraisableMsg("in thread started by", function);
#endif
}

#endif
