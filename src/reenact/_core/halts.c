/* All others stay where they are, where threads really run at the same time (turns.c): at the end,
 * and for collections, whose findings depend on how far others are. */
#include "turns.h"

/* For how long others are waited for */
enum { HALT_NS = 100000000 };
/* For how many collections others are held, if accesses are only kept while it is cheap */
enum { FEW_STOPS = 50 };

static _Atomic uint32_t stops; /* of others, for collections */

/* Others stay where they are. Whoever comes to no point for so long is left alone. */
static void halt(Thread *thread)
{
    int64_t began_ns = real_ns(), deadline_ns = began_ns + HALT_NS;
    turns_leave(thread);
    presence_try_change(deadline_ns);
    for (uint32_t i = 0; i < gate.state->threads; i++) {
        Thread *other = &gate.slots[i];
        if (other == thread || other->status == FREE || other->status == ENDED) {
            continue;
        }
        int64_t end_ns = other->lane.is_late ? began_ns + LATE_HALT_NS : deadline_ns;
        atomic_store(&other->lane.asked, 1);
        bool has_come = presence_become(other, TAKEN);
        for (int turn = 1; !has_come && real_ns() < end_ns; turn++) {
            parallel_pause(turn);
            has_come = presence_become(other, TAKEN);
        }
        other->lane.is_late = !has_come;
    }
    turns_arrive(thread);
}

/* The run is about to be closed: how far others came is known. */
void turns_halt(Thread *thread)
{
    if (turns_are_used()) {
        halt(thread);
    }
}

/* What a collection finds depends on how far others are. So they stay where they are, and both
 * lanes say so; the collection has a point for itself, since what comes after it may need one of
 * the others. Whoever waits for something in the midst of it, in a finalizer, lets them go on. */
void turns_stop(Thread *thread)
{
    bool is_enough = gate.settings.order == ORDER_COLD && atomic_load(&stops) >= FEW_STOPS;
    if (!turns_are_used() || thread->lane.holds_others || is_enough) {
        return;
    }
    atomic_fetch_add(&stops, 1);
    exits_stop(thread);
    halt(thread);
    for (uint32_t i = 0; i < gate.state->threads; i++) {
        Thread *other = &gate.slots[i];
        if (other != thread && turns_is_halted(other)) {
            lane_after(thread, (Deed){other->index, thread_position(other) - 1});
        }
    }
    thread->lane.holds_others = true;
}

static void let_all_go(Thread *thread)
{
    thread->lane.holds_others = false;
    turns_release();
    exits_go_on(thread);
}

void turns_go_on(Thread *thread)
{
    if (__builtin_expect(thread->lane.holds_others, 0)) {
        for (uint32_t i = 0; i < gate.state->threads; i++) {
            Thread *other = &gate.slots[i];
            bool stays = other != thread && turns_is_halted(other) && other->status == RUNNING;
            if (stays) { /* one that waits may do so to the end */
                lane_after(other, (Deed){thread->index, thread_position(thread)});
            }
        }
        let_all_go(thread);
    }
}

/* Nothing was done meanwhile that others come after. */
void turns_stop_no_more(Thread *thread)
{
    if (thread->lane.holds_others) {
        let_all_go(thread);
    }
}

/* It is closed, and the program goes on without us; or it goes on. */
void turns_release(void)
{
    for (uint32_t i = 0; turns_are_used() && i < gate.state->threads; i++) {
        atomic_store(&gate.slots[i].lane.asked, 0);
        int32_t taken = TAKEN;
        atomic_compare_exchange_strong(&gate.slots[i].lane.presence, &taken, ABSENT);
    }
    presence_end_change();
}

/* Is it where it is because it was halted? Then it has not done what comes at its position. */
bool turns_is_halted(const Thread *thread)
{
    return turns_are_used() && atomic_load(&((Thread *)thread)->lane.presence) == TAKEN;
}
