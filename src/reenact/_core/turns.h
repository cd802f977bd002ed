/* What turns.c, presence.c, knowing.c and halts.c share: whose a location is, who is present, and
 * who is held where it is. */
#ifndef REENACT_TURNS_H
#define REENACT_TURNS_H

#include "core.h"

enum Presence { ABSENT, PRESENT, TAKEN, RETURNED };
/* How long a thread that was late the last time is waited for; and how long others are, and held,
 * where nobody must wait for them */
enum { LATE_HALT_NS = 2000000, LATE_NS = 50000000 };
enum { UNSEEN_POINTS = 64 }; /* at most, from one look at who waits to the next */

/* presence.c */
void presence_begin_change(void);
bool presence_try_change(int64_t deadline_ns);
void presence_end_change(void);
void presence_forget(void);
bool presence_become(Thread *thread, int32_t presence);
bool presence_hold_off(Thread *other);
void presence_let_go(Thread *other, bool has_come);

/* turns.c */
void turns_give_back(Thread *thread);
bool turns_may_keep(Thread *thread);
bool turns_is_risky(const Wanted *wanted);

/* knowing.c */
extern _Atomic int32_t knowing_count; /* threads */
bool knowing_must_hold(const Thread *thread);
void knowing_hold(Thread *thread);
void knowing_forget(void);

static inline bool knowing_others(const Thread *thread)
{
    int32_t count = atomic_load_explicit(&knowing_count, memory_order_relaxed);
    return __builtin_expect(count > thread->lane.knows, 0);
}

#endif
