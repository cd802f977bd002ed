/* Sets of locks: those that a thread has now, and those that somebody asked for, with numbers.
 *
 * The hash of what a thread has is kept up to date as it takes and releases locks, so that the
 * number is found at once. A set says where each of its locks was taken, too: the same locks taken
 * elsewhere are another set. */
#include "lockorder.h"
#include <string.h>

static Kept sets;

/* Added for a lock that is taken, and subtracted again. */
static uint64_t share_of(Held held)
{
    return mixed(held.lock, held.stack);
}

static bool make_room(HeldLocks *holding)
{
    uint32_t room = holding->room == 0 ? 8 : holding->room * 2;
    Held *larger = locks_memory(room * sizeof *larger);
    if (larger == NULL) {
        return false;
    }
    if (holding->count > 0) {
        memcpy(larger, holding->held, holding->count * sizeof *larger);
    }
    holding->held = larger;
    holding->room = room;
    return true;
}

void holding_add(HeldLocks *holding, Held held)
{
    if (holding->count < holding->room || make_room(holding)) {
        holding->held[holding->count++] = held;
        holding->hash += share_of(held);
        holding->set = 0;
    }
}

/* Most locks are released in the reverse order of taking. */
bool holding_remove(HeldLocks *holding, uint32_t lock)
{
    uint32_t i = holding->count;
    while (i > 0 && holding->held[i - 1].lock != lock) {
        i--;
    }
    if (i == 0) {
        return false;
    }
    holding->hash -= share_of(holding->held[i - 1]);
    holding->set = 0;
    holding->count--;
    for (; i <= holding->count; i++) {
        holding->held[i - 1] = holding->held[i];
    }
    return true;
}

/* ---- numbers ---- */

static bool is_same_set(const void *entry, const void *wanted)
{
    const LockSet *set = entry;
    const HeldLocks *holding = wanted;
    return set->count == holding->count &&
           memcmp(set->held, holding->held, set->count * sizeof *set->held) == 0;
}

static uint32_t keep(const HeldLocks *holding)
{
    LockSet *set = locks_memory(sizeof *set + holding->count * sizeof *set->held);
    if (set == NULL) {
        return 0;
    }
    set->hash = holding->hash;
    set->count = holding->count;
    memcpy(set->held, holding->held, set->count * sizeof *set->held);
    for (uint32_t i = 0; i < set->count; i++) {
        watched_locks[set->held[i].lock].is_kept = true;
    }
    return kept_add(&sets, set);
}

const LockSet *lockset_at(uint32_t number)
{
    static const LockSet none;
    return number == 0 || number > sets.count ? &none : kept_at(&sets, number);
}

/* The number of the set of locks that the thread has; 0 if it has none, or there is no room. */
uint32_t locks_number(const Thread *thread)
{
    HeldLocks *holding = thread->holding;
    if (holding == NULL || holding->count == 0) {
        return 0;
    }
    if (holding->set == 0) {
        uint32_t number = holding->latest;
        if (number == 0 || !is_same_set(lockset_at(number), holding)) {
            number = kept_find(&sets, holding->hash, holding, is_same_set);
        }
        holding->set = holding->latest = number != 0 ? number : keep(holding);
    }
    return holding->set;
}

void locksets_begin(void)
{
    kept_clear(&sets);
}

/* ---- for Python ---- */

/* (file, line, function) where a lock was taken: of the code that uses Python's library, if that
 * took it. */
static PyObject *show_where(uint32_t number)
{
    PyObject *stack = depot_show_stack(number);
    if (stack == NULL) {
        return NULL;
    }
    Py_ssize_t count = PyTuple_GET_SIZE(stack), i = 0;
    while (i < count && locks_are_of_library(PyTuple_GET_ITEM(PyTuple_GET_ITEM(stack, i), 0))) {
        i++;
    }
    PyObject *place = count == 0 ? Py_None : PyTuple_GET_ITEM(stack, i < count ? i : 0);
    Py_INCREF(place);
    Py_DECREF(stack);
    return place;
}

/* ({"id": ..., "kind": "lock" or "rlock", "where": (file, line, function) or None}, ...) */
PyObject *locks_show(uint32_t number)
{
    const LockSet *set = lockset_at(number);
    PyObject *shown = PyTuple_New(set->count);
    for (uint32_t i = 0; shown != NULL && i < set->count; i++) {
        const WatchedLock *lock = &watched_locks[set->held[i].lock];
        PyObject *each = Py_BuildValue("{sI ss sN}", "id", lock->id, "kind",
                                       lock->kind == OBJECT_RLOCK ? "rlock" : "lock", "where",
                                       show_where(set->held[i].stack));
        if (each == NULL) {
            Py_CLEAR(shown);
            break;
        }
        PyTuple_SET_ITEM(shown, i, each);
    }
    return shown;
}
