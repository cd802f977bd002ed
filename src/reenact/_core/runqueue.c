/* Who could run, and who waits for what: the run queue and the lists of waiters.
 *
 * Used by gate.c while recording, under gate.mutex or by the holder of the baton; a replay obeys
 * the schedule and needs no queue. A thread stays in the list of what it waits for until it is
 * resumed, also while it stands in the run queue. */
#include "core.h"

void queue_push(Thread *thread)
{
    thread->queued = true;
    thread->run_next = NULL;
    thread->run_prev = gate.run_last;
    if (gate.run_last != NULL) {
        gate.run_last->run_next = thread;
    }
    else {
        gate.run_first = thread;
    }
    gate.run_last = thread;
}

void queue_remove(Thread *thread)
{
    if (!thread->queued) {
        return;
    }
    thread->queued = false;
    *(thread->run_prev != NULL ? &thread->run_prev->run_next : &gate.run_first) = thread->run_next;
    *(thread->run_next != NULL ? &thread->run_next->run_prev : &gate.run_last) = thread->run_prev;
}

void waiters_add(Object *object, Thread *thread)
{
    thread->waits_for = object;
    if (object == NULL) {
        return;
    }
    object->all_woken = false;
    thread->wait_next = NULL;
    thread->wait_prev = object->last_waiter;
    *(object->last_waiter != NULL ? &object->last_waiter->wait_next : &object->first_waiter) =
        thread;
    object->last_waiter = thread;
}

void waiters_remove(Thread *thread)
{
    Object *object = thread->waits_for;
    thread->waits_for = NULL;
    if (object == NULL) {
        return;
    }
    *(thread->wait_prev != NULL ? &thread->wait_prev->wait_next : &object->first_waiter) =
        thread->wait_next;
    *(thread->wait_next != NULL ? &thread->wait_next->wait_prev : &object->last_waiter) =
        thread->wait_prev;
}

bool is_free_for(const Object *object)
{
    switch (object->kind) {
    case OBJECT_LOCK: return !compat_lock_is_taken(object->key);
    case OBJECT_RLOCK: return ((RecursiveLock *)object->key)->count == 0;
    case OBJECT_QUEUE: return object->items > 0;
    case OBJECT_THREAD: return gate.slots[object->id].status == ENDED;
    case OBJECT_QUIET: return !search.is_settling;
    case OBJECT_LOOP: return ready_is_free(object);
    default: return true;
    }
}

/* A woken waiter whose lock was taken again in the meantime would only wait again. */
static bool is_enabled(const Thread *thread)
{
    return thread->waits_for == NULL || thread->expired || thread->signals != 0 ||
           is_free_for(thread->waits_for);
}

/* Drops what is not enabled from the run queue, and counts the rest. */
size_t queue_sift(void)
{
    size_t enabled = 0;
    for (Thread *thread = gate.run_first, *next; thread != NULL; thread = next) {
        next = thread->run_next;
        if (is_enabled(thread)) {
            enabled++;
            continue;
        }
        queue_remove(thread);
        thread->status = WAITING;
        thread->waits_for->all_woken = false;
    }
    return enabled;
}

/* First come, first served; sifts only as far as it must. */
Thread *queue_first(void)
{
    Thread *thread;
    while ((thread = gate.run_first) != NULL && !is_enabled(thread)) {
        queue_remove(thread);
        thread->status = WAITING;
        thread->waits_for->all_woken = false;
    }
    return thread;
}

Thread *queue_nth(uint64_t n)
{
    Thread *thread = gate.run_first;
    while (n-- > 0) {
        thread = thread->run_next;
    }
    return thread;
}
