/* Who may touch which location, where threads really run at the same time.
 *
 * Between a site and the access behind it nobody else may touch the location, or the order that was
 * noted is not the one that happened. There is no hook behind an access, so a thread keeps what it
 * has touched until another asks (Octet: Bond and others, OOPSLA 2013): a location has an owner,
 * one thread, or all that read it. Touching one's own costs a comparison. To take another's, that
 * thread has to consent, which it does at its next point, where no access of its own is half done;
 * one that waits or is outside has consented beforehand. So a thread is *present* while it runs,
 * and whoever takes something from it does so while it is absent.
 *
 * Transfers happen one at a time. Whoever waits for another is absent itself meanwhile, and so
 * loses what it has, perhaps what it has just got: then it asks again. */
#include "core.h"

enum Presence { ABSENT, PRESENT, TAKEN };
enum { NOBODY = 0, READERS = -1 };

static _Atomic int32_t changing; /* a transfer is under way */

static bool are_used(void)
{
    return !HAS_GIL && gate.is_parallel && gate.settings.order != ORDER_SYNC &&
           gate.settings.mode == MODE_RECORD;
}

void turns_leave(Thread *thread)
{
    if (are_used()) {
        atomic_store(&thread->lane.presence, ABSENT);
    }
}

static bool become(Thread *thread, int32_t presence)
{
    int32_t absent = ABSENT;
    return atomic_compare_exchange_strong(&thread->lane.presence, &absent, presence);
}

void turns_arrive(Thread *thread)
{
    for (int turn = 1; are_used() && !become(thread, PRESENT); turn++) {
        parallel_pause(turn);
    }
}

/* Until whoever asked has come. */
void __attribute__((noinline, cold)) turns_consent_slowly(Thread *thread)
{
    turns_leave(thread);
    for (int turn = 1; atomic_load(&thread->lane.asked) != 0; turn++) {
        parallel_pause(turn);
    }
    turns_arrive(thread);
}

/* The other is absent from here on, until it is let go. */
static void hold_off(Thread *other)
{
    atomic_store(&other->lane.asked, 1);
    for (int turn = 1; !become(other, TAKEN); turn++) {
        parallel_pause(turn);
    }
    atomic_store(&other->lane.asked, 0);
}

static void let_go(Thread *other)
{
    atomic_store(&other->lane.presence, ABSENT);
}

/* Does the location have the owner that an access needs? */
static inline bool is_owned(const Thread *thread, int32_t owner, bool writes)
{
    return owner == thread->index + 1 || (owner == READERS && !writes);
}

/* All that the others have done so far, whatever it was: which of them have read is not known. */
static void take_from_readers(Thread *thread)
{
    for (uint32_t i = 0; i < gate.state->threads; i++) {
        Thread *other = &gate.slots[i];
        if (other != thread && other->status != FREE) {
            hold_off(other); /* one that has ended is absent for good */
            lane_after(thread, (Deed){other->index, thread_position(other) - 1});
            let_go(other);
        }
    }
}

static void take_over(Thread *thread, Location *location, bool writes)
{
    int32_t owner = atomic_load(&location->owner), next = thread->index + 1;
    if (owner == READERS) {
        take_from_readers(thread);
    }
    else if (owner != NOBODY) {
        Thread *other = &gate.slots[owner - 1];
        hold_off(other);
        bool has_written = location->write >> POSITION_BITS == (uint64_t)owner;
        next = writes || has_written ? next : READERS;
        order_after(thread, location->write);
        order_after(thread, location->read);
        let_go(other);
    }
    location->read = 0; /* whoever has read it comes first, by now */
    atomic_store(&location->owner, next);
}

static void __attribute__((noinline)) transfer(Thread *thread, Location *location, bool writes)
{
    turns_leave(thread);
    for (int turn = 1; atomic_exchange(&changing, 1) != 0; turn++) {
        parallel_pause(turn);
    }
    if (!is_owned(thread, atomic_load(&location->owner), writes)) {
        take_over(thread, location, writes);
    }
    atomic_store(&changing, 0);
    turns_arrive(thread);
}

/* Sees to it that the thread may make the access now. False if the location belongs to all readers,
 * which do not note that they read. */
bool turns_own(Thread *thread, Location *location, bool writes)
{
    turns_consent(thread);
    int32_t owner = atomic_load(&location->owner);
    while (__builtin_expect(!is_owned(thread, owner, writes), 0)) {
        transfer(thread, location, writes);
        owner = atomic_load(&location->owner);
    }
    if (owner == READERS) {
        order_after(thread, location->write);
    }
    return owner != READERS;
}
