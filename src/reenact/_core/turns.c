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
 * Transfers happen one at a time. Whoever waits for another is absent itself meanwhile, and may
 * lose what it has. So all that one site accesses is taken together, and noted only once it is. */
#include "core.h"

enum Presence { ABSENT, PRESENT, TAKEN };
enum { READERS = -1 };
enum { LONGEST_ACCESS = 24 }; /* units of code, from a site to behind its access */
enum { HALT_NS = 100000000 }; /* how long the end of the run waits for others to come to a point */

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

/* ---- taking ---- */

static inline bool is_owned(const Thread *thread, const Wanted *wanted)
{
    int32_t owner = atomic_load_explicit(&wanted->turn->owner, memory_order_relaxed);
    return owner == thread->index + 1 || (owner == READERS && !wanted->needs_all);
}

/* Which of the others have read is not known: what comes next comes after all that they have done
 * so far. The location is not theirs any more, so that whoever is let go cannot read it again. */
static void take_from_readers(Thread *thread, bool is_unsaid)
{
    for (uint32_t i = 0; i < gate.state->threads; i++) {
        Thread *other = &gate.slots[i];
        if (other != thread && other->status != FREE) {
            hold_off(other); /* one that has ended is absent for good */
            if (is_unsaid || gate.settings.order == ORDER_DITTO) {
                lane_after(thread, (Deed){other->index, thread_position(other) - 1});
            }
            let_go(other);
        }
    }
}

static void take_from(Thread *thread, Turn *turn, Thread *other, bool writes)
{
    hold_off(other);
    bool is_shared = !writes && !turn->is_written;
    turn->is_written = false;
    atomic_store(&turn->owner, is_shared ? READERS : thread->index + 1);
    let_go(other);
}

static void take_over(Thread *thread, Turn *turn, bool writes)
{
    int32_t owner = atomic_load(&turn->owner);
    if (owner > 0) {
        take_from(thread, turn, &gate.slots[owner - 1], writes);
        return;
    }
    atomic_store(&turn->owner, thread->index + 1);
    if (owner == READERS) {
        turn->was_shared = true;
        take_from_readers(thread, turn->is_unsaid);
        turn->is_unsaid = false;
    }
}

/* Everybody may have read what nobody has told of so far. */
void turns_share(Turn *turn)
{
    int32_t nobody = 0;
    turn->is_unsaid = atomic_compare_exchange_strong(&turn->owner, &nobody, READERS);
}

/* All at once, and present again before anybody else can take something. */
static void __attribute__((noinline)) transfer(Thread *thread)
{
    Lane *lane = &thread->lane;
    turns_leave(thread);
    for (int turn = 1; atomic_exchange(&changing, 1) != 0; turn++) {
        parallel_pause(turn);
    }
    for (uint32_t i = 0; i < lane->wanted_count; i++) {
        if (!is_owned(thread, &lane->wanted[i])) {
            take_over(thread, lane->wanted[i].turn, lane->wanted[i].needs_all);
        }
    }
    turns_arrive(thread);
    atomic_store(&changing, 0);
}

/* ---- the end ---- */

/* The run is about to be closed: others stay where they are, so that how far they came is known.
 * Whoever comes to no point for so long is left alone. */
void turns_halt(Thread *thread)
{
    if (!are_used()) {
        return;
    }
    int64_t deadline_ns = real_ns() + HALT_NS;
    turns_leave(thread);
    for (int turn = 1; atomic_exchange(&changing, 1) != 0 && real_ns() < deadline_ns; turn++) {
        parallel_pause(turn);
    }
    for (uint32_t i = 0; i < gate.state->threads; i++) {
        Thread *other = &gate.slots[i];
        if (other == thread || other->status == FREE || other->status == ENDED) {
            continue;
        }
        atomic_store(&other->lane.asked, 1);
        for (int turn = 1; !become(other, TAKEN) && real_ns() < deadline_ns; turn++) {
            parallel_pause(turn);
        }
    }
    turns_arrive(thread);
}

/* It is closed, and the program goes on without us. */
void turns_release(void)
{
    for (uint32_t i = 0; are_used() && i < gate.state->threads; i++) {
        atomic_store(&gate.slots[i].lane.asked, 0);
        int32_t taken = TAKEN;
        atomic_compare_exchange_strong(&gate.slots[i].lane.presence, &taken, ABSENT);
    }
    atomic_store(&changing, 0);
}

/* Is it where it is because it was halted? Then it has not done what comes at its position. */
bool turns_is_halted(const Thread *thread)
{
    return are_used() && atomic_load(&((Thread *)thread)->lane.presence) == TAKEN;
}

/* In a forked process, where nobody is who was in the middle of a transfer. */
void turns_forget(void)
{
    atomic_store(&changing, 0);
}

/* ---- callbacks ---- */

/* A dict compares its keys, a heap its items, a list that is sorted asks for keys: in the middle of
 * an access the program runs, with sites and points, and others may come in between. What C code
 * does then is a part of no site but the last one in the callback. So each of those accesses again
 * what is under way outside it. */

/* Is the frame where it was at the site, or at the instruction behind it? */
static bool is_under_way(const Pending *pending, Frame *frame)
{
    for (; frame != NULL; frame = frame->previous) {
        if (frame == pending->frame) {
            ptrdiff_t since = compat_frame_instruction(frame) - pending->site;
            return since >= 0 && since <= LONGEST_ACCESS;
        }
    }
    return false;
}

static void __attribute__((noinline)) want_what_is_under_way(Thread *thread, int room)
{
    Lane *lane = &thread->lane;
    while (lane->pending_count > 0 && lane->pending[lane->pending_count - 1].room <= room) {
        lane->pending_count--; /* of this level, or of one that it was called by */
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < lane->pending_count; i++) {
        if (is_under_way(&lane->pending[i], compat_top_frame(thread->tstate))) {
            lane->pending[kept++] = lane->pending[i];
            turns_want(thread, lane->pending[i].wanted);
        }
    }
    lane->pending_count = kept;
}

static void begin(Thread *thread, const Wanted *wanted, int room)
{
    Lane *lane = &thread->lane;
    Frame *frame = compat_top_frame(thread->tstate);
    if (lane->pending_count < MOST_PENDING && frame != NULL) {
        lane->pending[lane->pending_count++] =
            (Pending){*wanted, frame, compat_frame_instruction(frame), room};
    }
}

/* ---- what a site accesses ---- */

/* The thread is about to make the accesses that it has wanted: from here to its next point nobody
 * else comes in between. */
void turns_settle(Thread *thread)
{
    Lane *lane = &thread->lane;
    turns_consent(thread);
    uint32_t own_count = lane->wanted_count;
    int room = compat_room_for_calls(thread->tstate);
    if (lane->pending_count > 0) {
        want_what_is_under_way(thread, room);
    }
    uint32_t count = lane->wanted_count;
    bool are_owned = true;
    for (uint32_t i = 0; i < count; i++) {
        are_owned = are_owned && is_owned(thread, &lane->wanted[i]);
    }
    if (__builtin_expect(!are_owned, 0)) {
        transfer(thread);
    }
    if (__builtin_expect(!gate.active, 0)) { /* closed meanwhile */
        count = 0;
    }
    bool is_light = gate.settings.order == ORDER_LIGHT;
    for (uint32_t i = 0; i < count; i++) {
        const Wanted *wanted = &lane->wanted[i];
        bool is_alone = atomic_load_explicit(&wanted->turn->owner, memory_order_relaxed) > 0;
        if (wanted->writes) {
            wanted->turn->is_written = true;
        }
        (is_light ? flow_note : order_note)(thread, wanted, is_alone);
        if (wanted->is_container && i < own_count) {
            begin(thread, wanted, room);
        }
    }
    lane->wanted_count = 0;
}
