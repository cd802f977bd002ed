/* Who is present, where threads really run at the same time (turns.c): a thread that runs is, and
 * one that waits, is outside or consents is absent. Whoever takes something from a thread, or has
 * it stay where it is, does so while it is absent.
 *
 * Transfers, and all that needs several threads to be absent at once, happen one at a time. */
#include "turns.h"

enum { MANY_LOOKS = 50 };

static _Atomic int32_t changing; /* a transfer is under way */

/* The thread is absent meanwhile. */
void presence_begin_change(void)
{
    for (int turn = 1; atomic_exchange(&changing, 1) != 0; turn++) {
        parallel_pause(turn);
    }
}

/* False: it is not to be had in time. */
bool presence_try_change(int64_t deadline_ns)
{
    for (int turn = 1; atomic_exchange(&changing, 1) != 0; turn++) {
        if (real_ns() >= deadline_ns) {
            return false;
        }
        parallel_pause(turn);
    }
    return true;
}

void presence_end_change(void)
{
    atomic_store(&changing, 0);
}

/* In a forked process. */
void presence_forget(void)
{
    atomic_store(&changing, 0);
}

void turns_leave(Thread *thread)
{
    if (__builtin_expect(baseline_is_on, 0)) {
        baseline_leave(thread);
    }
    turns_go_on(thread);
    knowing_let_go_on(thread);
    if (turns_are_used()) {
        turns_give_back(thread);
        atomic_store(&thread->lane.presence, ABSENT);
    }
}

bool presence_become(Thread *thread, int32_t presence)
{
    int32_t absent = ABSENT;
    return atomic_compare_exchange_strong(&thread->lane.presence, &absent, presence);
}

/* Between two looks at whether one is let go. A collection waits for all that are attached. */
static void stay(Thread *thread, int turn)
{
    if (turn < GIVE_WAY || atomic_load(&thread->lane.presence) != TAKEN ||
        compat_thread_state() == NULL) {
        parallel_pause(turn);
        return;
    }
    PyThreadState *tstate = PyEval_SaveThread();
    for (int look = 0; look < MANY_LOOKS && atomic_load(&thread->lane.presence) == TAKEN; look++) {
        sched_yield();
    }
    PyEval_RestoreThread(tstate);
}

/* Whoever is held for somebody's access (knowing.c) waits no longer than a while for its end. */
static bool breaks_free(Thread *thread)
{
    Lane *lane = &thread->lane;
    int32_t by = lane->held_by, taken = TAKEN;
    bool is_over = by != 0 && real_ns() > lane->held_until_ns &&
                   atomic_compare_exchange_strong(&lane->presence, &taken, PRESENT);
    if (is_over) {
        lane->held_by = 0;
        cold_has_waited(LATE_NS);
    }
    return is_over;
}

void turns_arrive(Thread *thread)
{
    Lane *lane = &thread->lane;
    for (int turn = 1; turns_are_used() && !presence_become(thread, PRESENT); turn++) {
        if (turn >= GIVE_WAY && breaks_free(thread)) {
            break;
        }
        stay(thread, turn);
    }
    if (__builtin_expect(lane->let_by_count > 0, 0)) {
        parallel_look_within(thread, 1);
    }
}

/* At a point, where nothing is done yet: what comes after those by whom it was held. */
void presence_say_after(Thread *thread)
{
    Lane *lane = &thread->lane;
    while (__builtin_expect(lane->let_by_count > 0, 0)) {
        lane_after(thread, lane->let_by[--lane->let_by_count]);
    }
}

/* What it has locked is free again; and if somebody asks, until that one has come. */
void __attribute__((noinline)) turns_consent_slowly(Thread *thread)
{
    bool is_asked = atomic_load(&thread->lane.asked) != 0;
    if (!is_asked && turns_may_keep(thread)) {
        parallel_look_within(thread, UNSEEN_POINTS);
        return;
    }
    turns_give_back(thread);
    if (!is_asked) {
        return;
    }
    turns_leave(thread);
    for (int turn = 1; atomic_load(&thread->lane.asked) != 0; turn++) {
        stay(thread, turn);
    }
    turns_arrive(thread);
}

/* The other is absent from here on, until it is let go; unless it does not come to a point for so
 * long, and nobody must wait for it. */
bool presence_hold_off(Thread *other)
{
    bool is_patient = gate.settings.order != ORDER_COLD, has_come = false;
    int64_t deadline_ns =
        is_patient ? 0 : real_ns() + (other->lane.is_late ? LATE_HALT_NS : LATE_NS);
    atomic_store(&other->lane.asked, 1);
    for (int turn = 1; !(has_come = presence_become(other, TAKEN)); turn++) {
        if (!is_patient && turn % GIVE_WAY == 0 && real_ns() > deadline_ns) {
            break;
        }
        parallel_pause(turn);
    }
    atomic_store(&other->lane.asked, 0);
    other->lane.is_late = !has_come;
    return has_come;
}

void presence_let_go(Thread *other, bool has_come)
{
    if (has_come) {
        atomic_store(&other->lane.presence, ABSENT);
    }
}
