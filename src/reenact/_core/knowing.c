/* Threads that know their code, where accesses are noted in cold code alone (cold.c): they touch
 * what they share without a word. So whoever comes to something shared in code that is cold to it
 * holds all of them until its next point: it comes after what they have done, and they come after
 * it. */
#include "turns.h"
#include <time.h>

_Atomic int32_t knowing_count;

/* The thread begins to, or ends. */
void knowing_note(Thread *thread, bool knows)
{
    if (thread->lane.knows != knows) {
        thread->lane.knows = knows;
        atomic_fetch_add(&knowing_count, knows ? 1 : -1);
    }
}

/* Others know their code: is it about to access something that they may touch? */
bool knowing_must_hold(const Thread *thread)
{
    const Lane *lane = &thread->lane;
    for (uint32_t i = 0; !lane->holds_rest && i < lane->wanted_count; i++) {
        if (turns_is_risky(&lane->wanted[i])) {
            return !cold_is_too_dear();
        }
    }
    return false;
}

/* Of this thread's own work. */
static int64_t own_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

void knowing_hold(Thread *thread)
{
    turns_leave(thread);
    presence_begin_change();
    for (uint32_t i = 0; i < gate.state->threads; i++) {
        Thread *other = &gate.slots[i];
        if (other != thread && other->lane.knows && other->status != ENDED &&
            presence_hold_off(other)) {
            other->lane.held_until_ns = real_ns() + LATE_NS;
            other->lane.held_by = thread->index + 1;
        }
    }
    turns_arrive(thread);
    presence_end_change();
    for (uint32_t i = 0; i < gate.state->threads; i++) {
        const Thread *other = &gate.slots[i];
        if (other->lane.held_by == thread->index + 1) {
            lane_after(thread, (Deed){other->index, thread_position(other) - 1});
        }
    }
    thread->lane.holds_rest = true;
    thread->lane.held_at = thread_position(thread);
    thread->lane.held_since_ns = own_ns();
    parallel_look_within(thread, 1);
}

/* It says in its own lane what it comes after, at its next point. */
static void let_rest_go_on(Lane *lane, Deed deed, bool is_done)
{
    int32_t taken = TAKEN;
    if (!atomic_compare_exchange_strong(&lane->presence, &taken, RETURNED)) {
        lane->held_by = 0; /* it has waited long enough, or all were let go */
        return;
    }
    uint32_t at = 0;
    while (at < lane->let_by_count && lane->let_by[at].thread != deed.thread) {
        at++;
    }
    if (is_done && at < MOST_LET_BY) {
        lane->let_by[at] = deed;
        lane->let_by_count += at == lane->let_by_count;
    }
    lane->held_by = 0;
    atomic_store(&lane->presence, ABSENT);
}

void knowing_let_go_on(Thread *thread)
{
    if (__builtin_expect(!thread->lane.holds_rest, 1)) {
        return;
    }
    thread->lane.holds_rest = false;
    cold_has_waited(own_ns() - thread->lane.held_since_ns);
    bool is_done = thread_position(thread) > thread->lane.held_at;
    for (uint32_t i = 0; i < gate.state->threads; i++) {
        if (gate.slots[i].lane.held_by == thread->index + 1) {
            let_rest_go_on(&gate.slots[i].lane, (Deed){thread->index, thread->lane.held_at},
                           is_done);
        }
    }
}

/* In a forked process, where no other thread is. */
void knowing_forget(void)
{
    atomic_store(&knowing_count, 0);
}
