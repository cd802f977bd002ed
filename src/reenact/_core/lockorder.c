/* Who has which locks, and what is waited for meanwhile: for deadlocks that did not happen this
 * time.
 *
 * While locks are watched, the gate and the locks say here what threads do. For each thread its
 * locks are kept in the order of taking, with the stack of each. A thread that takes a lock for as
 * long as it needs, or waits for something else, while it has others is noted: once for the same
 * locks, taken at the same places, with a few of the moments when it was so. Starts and joins of
 * threads are kept in their order; it says which of two moments cannot be at the same time.
 *
 * A lock of Condition.wait's own is no lock but a signal, and what threading and imports do for
 * themselves is no matter of the program's. What all of this means is told in Python:
 * reenact/analysis/locks.py. */
#include "lockorder.h"
#include <string.h>

enum { MEMORY_SIZE = 1 << 30, LEAST_LIVES = 1024, JOINS_LOOKED_AT = 64 };

bool locks_are_watched, locks_overflowed;
WatchedLock *watched_locks;
Kept nested;
Life *lives;
uint32_t life_count;

static uint32_t lock_count, free_lock, life_room;
static PyObject *condition_wait; /* the code of Condition.wait */

/* ---- memory, which is all taken anew as a watch begins ---- */

static struct {
    char *base;
    size_t used;
} memory;

void *locks_memory(size_t size)
{
    size = (size + 15) & ~(size_t)15;
    if (MEMORY_SIZE - memory.used < size) {
        locks_overflowed = true;
        return NULL;
    }
    memory.used += size;
    return memory.base + memory.used - size;
}

/* Nothing is known yet, and nobody has a lock that we know of. */
void locks_begin(void)
{
    if (memory.base == NULL) { /* most of it is never touched, and costs nothing */
        memory.base = take_memory(MEMORY_SIZE);
        watched_locks = take_memory(MOST_LOCKS * sizeof *watched_locks);
    }
    memory.used = 0;
    locks_overflowed = false;
    lock_count = free_lock = life_count = life_room = 0;
    lives = NULL;
    kept_clear(&nested);
    locksets_begin();
    objects_unwatch();
    for (uint32_t i = 0; gate.state != NULL && i < gate.state->threads; i++) {
        gate.slots[i].holding = NULL;
        gate.slots[i].life = 0;
    }
}

/* ---- locks ---- */

/* Condition.wait takes a lock twice, for somebody else to release it in between. */
static bool is_signal(const Object *object)
{
    PyThreadState *tstate = compat_thread_state();
    Frame *frame = tstate == NULL ? NULL : compat_top_frame(tstate);
    return object->kind == OBJECT_LOCK && frame != NULL && condition_wait != NULL &&
           (PyObject *)compat_frame_code(frame) == condition_wait;
}

static uint32_t new_lock(void)
{
    uint32_t lock = free_lock;
    if (lock != 0) {
        free_lock = watched_locks[lock].next_free;
    }
    else if (lock_count + 1 < MOST_LOCKS) {
        lock = ++lock_count;
    }
    else {
        locks_overflowed = true;
    }
    return lock;
}

/* The number of a lock; 0 if it is none of the program's, as far as one can see by now. */
static uint32_t lock_of(Object *object)
{
    if (object->watched == 0 && object->ends < 0 && !is_signal(object) && !search_is_machinery()) {
        uint32_t lock = object->watched = new_lock();
        if (lock != 0) {
            watched_locks[lock] =
                (WatchedLock){.id = object->id, .kind = object->kind, .holder = -1};
        }
    }
    return object->watched;
}

static void note_taker(WatchedLock *lock, int32_t thread)
{
    uint32_t count = lock->taker_count;
    for (uint32_t i = 0; i < count; i++) {
        if (lock->takers[i] == thread) {
            lock->latest_taker = (uint8_t)i;
            return;
        }
    }
    if (count == MOST_TAKERS) {
        lock->has_more_takers = true;
        return;
    }
    lock->takers[count] = thread;
    lock->latest_taker = (uint8_t)count;
    lock->taker_count++;
}

/* Its holder has it no more; that may be a thread of an earlier run, of which nothing is left. */
static void drop(WatchedLock *lock, uint32_t number)
{
    HeldLocks *holding = gate.slots[lock->holder].holding;
    if (holding != NULL) {
        holding_remove(holding, number);
    }
    lock->holder = -1;
}

/* The lock is gone. */
void locks_forget(Object *object)
{
    uint32_t number = object->watched;
    object->watched = 0;
    if (number == 0) {
        return;
    }
    WatchedLock *lock = &watched_locks[number];
    if (lock->holder >= 0) {
        drop(lock, number);
    }
    if (!lock->is_kept) {
        lock->next_free = free_lock;
        free_lock = number;
    }
}

/* ---- what is waited for with locks held ---- */

static bool is_same_nested(const void *entry, const void *wanted)
{
    const Nested *one = entry, *other = wanted;
    return one->set == other->set && one->stack == other->stack && one->lock == other->lock &&
           one->kind == other->kind && one->is_timed == other->is_timed;
}

enum { ANYBODY = -2, NOBODY = -1 };

/* The moment of this thread, in the state of starts and joins that it is in, ended by this waker.
 */
static Moment *moment_of(Nested *entry, int32_t waker)
{
    for (uint32_t i = 0; i < entry->moment_count; i++) {
        Moment *moment = &entry->moments[i];
        if (moment->thread == me->index && moment->life == me->life &&
            (waker == ANYBODY || moment->waker == waker)) {
            return moment;
        }
    }
    return NULL;
}

static void add_moment(Nested *entry, int32_t waker)
{
    if (entry->moment_count == MOST_MOMENTS) {
        entry->left_out++;
        return;
    }
    entry->moments[entry->moment_count++] = (Moment){me->index, me->life, waker};
}

static uint32_t keep(const Nested *wanted)
{
    Nested *entry = locks_memory(sizeof *entry);
    if (entry == NULL) {
        return 0;
    }
    *entry = *wanted;
    watched_locks[entry->lock].is_kept = true;
    return kept_add(&nested, entry);
}

/* This thread waits, or might have to: the number of what is known of that, 0 if there is no room.
 */
static uint32_t note(enum NestedKind kind, uint32_t lock, uint32_t stack, bool is_timed)
{
    Nested wanted = {.set = locks_number(me),
                     .stack = stack,
                     .lock = lock,
                     .kind = (uint8_t)kind,
                     .is_timed = is_timed};
    if (wanted.set == 0) {
        return 0;
    }
    wanted.hash = mixed(mixed((uint64_t)wanted.set << 32 | stack, lock), kind * 2U + is_timed);
    uint32_t number = kept_find(&nested, wanted.hash, &wanted, is_same_nested);
    number = number != 0 ? number : keep(&wanted);
    if (number != 0 && moment_of(kept_at(&nested, number), ANYBODY) == NULL) {
        add_moment(kept_at(&nested, number), NOBODY);
    }
    return number;
}

/* ---- what the locks say ---- */

static HeldLocks *holding_of(Thread *thread)
{
    if (thread->holding == NULL) {
        HeldLocks *holding = locks_memory(sizeof *holding);
        if (holding != NULL) {
            *holding = (HeldLocks){.count = 0};
        }
        thread->holding = holding;
    }
    return thread->holding;
}

/* This thread has a lock that it had not; for ever: it would have waited until it had it. */
void locks_taken(Object *object, bool is_for_ever)
{
    uint32_t number = lock_of(object);
    HeldLocks *holding = number == 0 ? NULL : holding_of(me);
    if (holding == NULL) {
        return;
    }
    WatchedLock *lock = &watched_locks[number];
    uint32_t stack = depot_stack();
    if (is_for_ever && holding->count > 0) {
        uint32_t noted = note(NESTED_LOCK, number, stack, false);
        if (noted != 0) {
            ((Nested *)kept_at(&nested, noted))->count++;
        }
    }
    if (lock->first == 0) {
        lock->first = stack;
    }
    if (lock->taker_count == 0 || lock->takers[lock->latest_taker] != me->index) {
        note_taker(lock, me->index);
    }
    lock->holder = me->index;
    holding_add(holding, (Held){number, stack});
}

/* Nobody has the lock any more; whoever released it may be a thread that is not under control. */
void locks_released(Object *object)
{
    object->waker = me == NULL ? -1 : me->index;
    WatchedLock *lock = &watched_locks[object->watched];
    if (object->watched == 0 || lock->holder < 0) {
        return;
    }
    if (me == NULL || lock->holder != me->index) {
        lock->is_handed = true;
    }
    drop(lock, object->watched);
}

/* ---- what the gate says ---- */

static bool make_room_for_life(void)
{
    uint32_t room = life_room == 0 ? LEAST_LIVES : life_room * 2;
    Life *larger = locks_memory(room * sizeof *larger);
    if (larger == NULL) {
        return false;
    }
    if (life_count > 0) {
        memcpy(larger, lives, life_count * sizeof *lives);
    }
    lives = larger;
    life_room = room;
    return true;
}

/* It knows so by now: a join is often several operations, and asking is not learning. */
static bool has_just_joined(const Thread *other)
{
    for (uint32_t i = life_count; i > 0 && i + JOINS_LOOKED_AT > life_count; i--) {
        const Life *life = &lives[i - 1];
        if (life->is_join && life->thread == me->index && life->other == other->index) {
            return true;
        }
    }
    return false;
}

static void note_life(Thread *other, bool is_join)
{
    if (is_join && has_just_joined(other)) {
        return;
    }
    if (life_count < life_room || make_room_for_life()) {
        lives[life_count++] = (Life){me->index, other->index, is_join};
        me->life = life_count;
        if (!is_join) {
            other->life = life_count;
        }
    }
}

/* The thread whose end the operation has seen, -1 if none's: from 3.13 on it can be asked for. */
static int32_t ended_thread(enum Operation kind, const Object *object)
{
    if (kind == OP_LOCKED && object->kind == OBJECT_THREAD) {
        return gate.slots[object->id].status == ENDED ? (int32_t)object->id : -1;
    }
    return clocks_ended(kind, object);
}

/* An operation of this thread has happened. Acquiring is told by the lock itself: locks_taken. */
void locks_done(enum Operation kind, Object *object)
{
    if (object == NULL) {
        return;
    }
    int32_t ended = ended_thread(kind, object);
    if (ended >= 0 && ended != me->index) {
        note_life(&gate.slots[ended], true);
    }
    else if (kind == OP_START) {
        note_life(&gate.slots[object->id], false);
    }
    else if (kind == OP_RELEASE && object->owner < 0) {
        locks_released(object);
    }
    else if (kind == OP_PUT) {
        object->waker = me->index;
    }
}

static uint32_t note_waiting_for_lock(Object *object, bool is_timed)
{
    if (object->ends >= 0) {
        return note(NESTED_JOIN, 0, depot_stack(), is_timed);
    }
    uint32_t lock = lock_of(object);
    if (lock != 0) { /* it may never get it: then this is the last that is heard of it */
        return is_timed ? 0 : note(NESTED_LOCK, lock, depot_stack(), false);
    }
    bool is_own = !is_signal(object) || search_is_machinery();
    return is_own ? 0 : note(NESTED_CONDITION, 0, depot_stack(), is_timed);
}

/* This thread is about to wait; what is returned is for locks_woken, if it is not 0. */
uint32_t locks_waiting(enum Operation kind, Object *object, int64_t deadline_ns)
{
    if (me->holding == NULL || me->holding->count == 0) {
        return 0;
    }
    bool is_timed = deadline_ns >= 0;
    if (object != NULL) {
        object->waker = -1;
    }
    switch (kind) {
    case OP_ACQUIRE: return note_waiting_for_lock(object, is_timed);
    case OP_JOIN: return note(NESTED_JOIN, 0, depot_stack(), is_timed);
    case OP_GET:
        return note(object->kind == OBJECT_LOOP ? NESTED_LOOP : NESTED_QUEUE, 0, depot_stack(),
                    is_timed);
    case OP_SLEEP: /* for no time at all is no wait */
        return is_timed && deadline_ns <= now_ns() ? 0 : note(NESTED_SLEEP, 0, depot_stack(), true);
    default: return 0;
    }
}

/* It has waited. Who ended that is not known if time may have. */
void locks_woken(uint32_t number, const Object *object)
{
    Nested *entry = number > nested.count ? NULL : kept_at(&nested, number);
    if (entry == NULL || entry->is_timed || entry->kind == NESTED_LOCK || object == NULL) {
        return;
    }
    int32_t waker = object->kind == OBJECT_THREAD ? (int32_t)object->id
                    : object->ends >= 0           ? object->ends
                                                  : object->waker;
    if (waker < 0 || moment_of(entry, waker) != NULL) {
        return;
    }
    Moment *moment = moment_of(entry, NOBODY);
    if (moment != NULL) {
        moment->waker = waker;
    }
    else {
        add_moment(entry, waker);
    }
}

/* ---- for Python ---- */

/* Is a file next to threading.py, or below, and not of an installed package? */
bool locks_are_of_library(PyObject *file)
{
    const char *name = PyUnicode_AsUTF8(file), *threading = NULL;
    if (condition_wait != NULL) {
        threading = PyUnicode_AsUTF8(((PyCodeObject *)condition_wait)->co_filename);
    }
    const char *end = threading == NULL ? NULL : strrchr(threading, '/');
    PyErr_Clear();
    return name != NULL && end != NULL &&
           strncmp(name, threading, (size_t)(end - threading) + 1) == 0 &&
           strstr(name, "-packages/") == NULL;
}

/* locks_watch(on): from now on, with nothing known of what was before; what was found stays until
 * it is turned on again */
static PyObject *watch(PyObject *module, PyObject *on)
{
    (void)module;
    int is_on = PyObject_IsTrue(on);
    if (is_on < 0) {
        return NULL;
    }
    if (is_on) {
        locks_begin();
    }
    locks_are_watched = is_on;
    Py_RETURN_NONE;
}

/* locks_know_wait(code): of Condition.wait, before locks are watched */
static PyObject *know_wait(PyObject *module, PyObject *code)
{
    (void)module;
    if (!PyCode_Check(code)) {
        PyErr_SetString(PyExc_TypeError, "locks_know_wait(code)");
        return NULL;
    }
    Py_XSETREF(condition_wait, Py_NewRef(code));
    Py_RETURN_NONE;
}

/* locks_joined(index): the calling thread knows that another one has ended, by other means than an
 * operation */
static PyObject *joined(PyObject *module, PyObject *index)
{
    (void)module;
    unsigned long number = PyLong_AsUnsignedLong(index);
    if (PyErr_Occurred()) {
        return NULL;
    }
    if (locks_are_watched && me != NULL && number < gate.state->threads) {
        note_life(&gate.slots[number], true);
    }
    Py_RETURN_NONE;
}

PyMethodDef lock_functions[] = {{"locks_watch", watch, METH_O, NULL},
                                {"locks_joined", joined, METH_O, NULL},
                                {"locks_know_wait", know_wait, METH_O, NULL},
                                {NULL, NULL, 0, NULL}};
