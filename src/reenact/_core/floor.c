/* Turns of threads that do little but access what others access, too, where there is no GIL.
 *
 * Nothing is gained if such accesses happen at the same time: each line of the cache goes to and
 * fro for each of them, and each leaves a note. So one of these threads has the *floor*, and keeps
 * all contended locations that it has locked (turns.c), until another has waited for a while. The
 * floor decides nothing but who is fast: a thread without it can lock what is free.
 *
 * Called by turns.c, by a thread that has locked nothing and is absent, or by who has the floor. */
#include "core.h"

enum { TURN_NS = 5000000, LOOKS = 50 };

static _Atomic int32_t holder;  /* thread + 1; 0 nobody */
static _Atomic int32_t waiting; /* threads */

bool floor_is_had(const Thread *thread)
{
    return atomic_load_explicit(&holder, memory_order_relaxed) == thread->index + 1;
}

static bool take(const Thread *thread)
{
    int32_t nobody = 0;
    return atomic_compare_exchange_strong(&holder, &nobody, thread->index + 1);
}

/* Whoever was asked for it, and is faster than those who wait, lets one of them have it. */
static void give_way(Thread *thread)
{
    for (int look = 1; thread->lane.gives_way && look < LOOKS && atomic_load(&waiting) > 0 &&
                       atomic_load(&holder) == 0;
         look++) {
        parallel_pause(GIVE_WAY);
    }
    thread->lane.gives_way = false;
}

/* Until the thread has it; or the run is closed. */
void floor_take(Thread *thread)
{
    give_way(thread);
    atomic_fetch_add(&waiting, 1);
    while (gate.active && !take(thread)) {
        int32_t had_by = atomic_load(&holder);
        if (had_by != 0 && !parallel_sleep(&holder, had_by, TURN_NS) &&
            atomic_load(&holder) == had_by) {
            atomic_store_explicit(&gate.slots[had_by - 1].lane.hurried, true, memory_order_relaxed);
        }
    }
    atomic_fetch_sub(&waiting, 1);
}

void floor_give(Thread *thread)
{
    thread->lane.gives_way = atomic_load(&waiting) > 0;
    atomic_store(&holder, 0);
    if (thread->lane.gives_way) {
        parallel_wake_one(&holder);
    }
}

/* In a forked process, where nobody is who had it. */
void floor_forget(void)
{
    atomic_store(&holder, 0);
    atomic_store(&waiting, 0);
}
