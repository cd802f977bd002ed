/* In which order threads are gone, where there is no GIL.
 *
 * A thread has memory of its own there, which it leaves to the interpreter as it ends; a collection
 * goes through it in the order in which that was left, and calls finalizers in that order; unless a
 * new thread takes it over. So threads end one after the other, each after the one before it is
 * gone, and say so; and no thread begins and no collection happens in the midst of it.
 *
 * An ending thread may run finalizers that wait for something. Nobody waits for it long: what has
 * no order then is the order of its memory. */
#include "core.h"

enum { PATIENCE_NS = 20000000 };

static _Atomic int32_t leaving;        /* thread + 1; 0 nobody */
static _Atomic int32_t last_gone = -1; /* of those that said so */

static bool take(Thread *thread)
{
    int64_t deadline_ns = real_ns() + PATIENCE_NS;
    int32_t nobody = 0;
    bool is_taken = false;
    turns_leave(thread);
    for (int turn = 1; gate.active && real_ns() < deadline_ns; turn++) {
        nobody = 0;
        if ((is_taken = atomic_compare_exchange_strong(&leaving, &nobody, thread->index + 1))) {
            break;
        }
        parallel_pause(turn);
    }
    turns_arrive(thread);
    return is_taken;
}

/* At the thread's last operation, before it is done. */
void exits_begin(Thread *thread)
{
    if (turns_are_used() && take(thread) && last_gone >= 0) {
        lane_gone(thread, last_gone);
    }
}

/* The thread is gone. */
void exits_end(const Thread *thread)
{
    if (atomic_load(&leaving) == thread->index + 1) {
        last_gone = thread->index;
        atomic_store(&leaving, 0);
    }
}

/* Nobody leaves until the thread has let them; whoever has left so far is seen to be gone. */
void exits_stop(Thread *thread)
{
    bool is_mine = atomic_load(&leaving) == thread->index + 1;
    if (!turns_are_used() || is_mine || !take(thread) || last_gone < 0) {
        return;
    }
    lane_gone(thread, last_gone);
}

void exits_go_on(const Thread *thread)
{
    int32_t own = thread->index + 1;
    atomic_compare_exchange_strong(&leaving, &own, 0);
}

/* In a forked process, where nobody is who was about to leave. */
void exits_forget(void)
{
    atomic_store(&leaving, 0);
    last_gone = -1;
}
