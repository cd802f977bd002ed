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
 * lose what it has. So all that one site accesses is taken together, and noted only once it is.
 *
 * Asking costs microseconds. A location that goes to and fro is *contended* (after Cao and others,
 * PPoPP 2016): its owner is a lock, which whoever accesses it takes, and gives back at its next
 * point, for which nobody has to be asked; if it takes the same one several times in a row, after
 * some points more. One that nobody else takes for long, or that is only read, is owned as before.
 *
 * Where threads do little but access contended locations, nothing is gained by having them do so at
 * the same time: each line of the cache goes to and fro for each access, and each leaves a note. So
 * they take turns (floor.c). A thread that writes to contended locations at every few points keeps
 * all that it has locked, until somebody has waited for a while.
 *
 * Who is present: presence.c; who is held where it is: knowing.c, halts.c. */
#include "turns.h"

enum { READERS = -1, CONTENDED = 1 << 30 };
/* Conflicts after which a location is contended; after how many accesses of one thread, or reads,
 * it is not; looks at a lock before its taker is absent; after how many accesses in a row a lock is
 * kept, and for how many points */
enum { LONG_STREAK = 4, LEASE = 24 };
/* Points from one contended location to the next at most, and how many such writes, for a thread to
 * keep all that it has; for how many points it does so at most; how long others wait */
enum { NEAR = 16, MANY = 16, LONG_LEASE = 1 << 18, PATIENCE_NS = 50000 };
enum { MOST_CONFLICTS = 4, CALM_REPEATS = 200, CALM_READS = 200, LOOKS = 100, FEW_LOOKS = 20 };
enum { LONGEST_ACCESS = 24 }; /* units of code, from a site to behind its access */
enum { LONG_NS = 20000 }; /* what a wait counts as at most: who is waited for may not be running */

bool turns_are_used(void)
{
    return !HAS_GIL && gate.is_parallel && gate.settings.order != ORDER_SYNC &&
           gate.settings.mode == MODE_RECORD;
}

void turns_give_back(Thread *thread)
{
    Lane *lane = &thread->lane;
    for (uint32_t i = 0; i < lane->locked_count; i++) {
        lane->locked[i]->done = thread_position(thread) - 1;
        atomic_store_explicit(&lane->locked[i]->owner, CONTENDED, memory_order_release);
    }
    lane->locked_count = 0;
    lane->lease_end = 0;
    atomic_store_explicit(&lane->hurried, false, memory_order_relaxed);
    if (floor_is_had(thread)) {
        floor_give(thread);
    }
}

/* Not if it has not accessed a contended location for a while. */
bool turns_may_keep(Thread *thread)
{
    const Lane *lane = &thread->lane;
    int64_t position = thread_position(thread);
    return position < lane->lease_end && position - lane->last_contended <= UNSEEN_POINTS &&
           !atomic_load_explicit(&lane->hurried, memory_order_relaxed);
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
            bool has_come = presence_hold_off(other); /* one that has ended is absent for good */
            if (has_come && (is_unsaid || gate.settings.order != ORDER_LIGHT)) {
                lane_after(thread, (Deed){other->index, thread_position(other) - 1});
            }
            presence_let_go(other, has_come);
        }
    }
}

/* What the thread owns from here on, or has locked. */
static int32_t as_owner(Thread *thread, Turn *turn)
{
    Lane *lane = &thread->lane;
    turn->conflicts += turn->conflicts < MOST_CONFLICTS;
    if (turn->conflicts < MOST_CONFLICTS || lane->locked_count == MOST_LOCKED) {
        return thread->index + 1;
    }
    lane->locked[lane->locked_count++] = turn;
    turn->last = thread->index;
    turn->repeats = turn->reads = 0;
    return CONTENDED | (thread->index + 1);
}

static void take_from(Thread *thread, Turn *turn, Thread *other, bool writes)
{
    bool has_come = presence_hold_off(other);
    bool is_shared = !writes && !turn->is_written;
    turn->is_written = false;
    atomic_store(&turn->owner, is_shared ? READERS : as_owner(thread, turn));
    presence_let_go(other, has_come);
}

static void take_over(Thread *thread, Turn *turn, bool writes)
{
    int32_t owner = atomic_load(&turn->owner);
    if (owner >= CONTENDED) {
        return; /* whoever was first found it so; it is locked once this thread is present */
    }
    if (owner > 0) {
        take_from(thread, turn, &gate.slots[owner - 1], writes);
        return;
    }
    atomic_store(&turn->owner, owner == 0 ? thread->index + 1 : as_owner(thread, turn));
    if (owner == READERS) {
        turn->was_shared = true;
        take_from_readers(thread, turn->is_unsaid);
        turn->is_unsaid = false;
    }
}

/* What all have only read so far is not written by code that they know. */
bool turns_is_risky(const Wanted *wanted)
{
    const Turn *turn = wanted->turn;
    int32_t owner = atomic_load_explicit(&turn->owner, memory_order_relaxed);
    return turn->conflicts > 0 || (wanted->writes && (turn->was_shared || owner == READERS));
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
    presence_begin_change();
    for (uint32_t i = 0; i < lane->wanted_count; i++) {
        if (!is_owned(thread, &lane->wanted[i])) {
            take_over(thread, lane->wanted[i].turn, lane->wanted[i].needs_all);
        }
    }
    turns_arrive(thread);
    presence_end_change();
}

/* ---- contended locations ---- */

/* Should it be owned again, and by whom? It is locked. */
static int32_t calmed(const Thread *thread, Turn *turn, bool writes)
{
    turn->repeats = turn->last == thread->index ? turn->repeats + 1 : 0;
    turn->reads = writes ? 0 : (uint8_t)(turn->reads + 1);
    turn->last = thread->index;
    return turn->repeats >= CALM_REPEATS ? thread->index + 1
           : turn->reads >= CALM_READS   ? READERS
                                         : CONTENDED;
}

/* How long the thread may keep what it has locked. One that reads a place again and again waits for
 * somebody to write to it, and does not take turns with anybody. */
static int64_t lease_of(Lane *lane, const Turn *turn)
{
    lane->streak = turn == lane->locked_last ? lane->streak + 1 : 0;
    lane->locked_last = turn;
    return lane->near_writes >= MANY ? LONG_LEASE : lane->streak >= LONG_STREAK ? LEASE : 0;
}

static void keep(Thread *thread, Turn *turn)
{
    Lane *lane = &thread->lane;
    int64_t lease = lease_of(lane, turn);
    lane->locked[lane->locked_count++] = turn;
    lane->lease_end = lease == 0 ? lane->lease_end : thread_position(thread) + lease;
    parallel_look_within(thread, lane->lease_end == 0 ? 1 : UNSEEN_POINTS);
}

static bool lock(Thread *thread, const Wanted *wanted)
{
    Lane *lane = &thread->lane;
    Turn *turn = wanted->turn;
    int32_t free = CONTENDED, mine = CONTENDED | (thread->index + 1);
    int64_t since = thread_position(thread) - lane->last_contended;
    lane->last_contended += since;
    bool is_another =
        wanted->writes && turn != lane->locked_last && gate.settings.order != ORDER_COLD;
    lane->near_writes = since <= NEAR ? lane->near_writes + is_another : 0;
    if (atomic_load_explicit(&turn->owner, memory_order_relaxed) == mine) {
        return true;
    }
    if (lane->locked_count == MOST_LOCKED ||
        !atomic_compare_exchange_strong(&turn->owner, &free, mine)) {
        return false;
    }
    if (gate.settings.order != ORDER_LIGHT) {
        lane_after(thread, (Deed){turn->last, turn->done});
    }
    int32_t owner = calmed(thread, turn, wanted->writes);
    if (owner != CONTENDED && (owner > 0 || !wanted->needs_all)) {
        turn->conflicts = MOST_CONFLICTS / 2;
        turn->is_written = owner > 0;
        atomic_store(&turn->owner, owner);
        return true;
    }
    keep(thread, turn);
    return true;
}

/* Whoever has it gives it back at its next site. */
static void hurry(int32_t owner)
{
    if (owner > CONTENDED) {
        Lane *lane = &gate.slots[(owner & ~CONTENDED) - 1].lane;
        atomic_store_explicit(&lane->hurried, true, memory_order_relaxed);
    }
}

/* With nothing locked, and absent if it takes long. */
static void __attribute__((noinline)) await_free(Thread *thread, const Turn *turn)
{
    bool is_absent = false;
    int32_t owner;
    int64_t patience_ends_ns = 0;
    turns_give_back(thread);
    for (int look = 1;
         gate.active &&
         (owner = atomic_load_explicit(&turn->owner, memory_order_relaxed)) > CONTENDED;
         look++) {
        if (look == FEW_LOOKS) {
            patience_ends_ns = real_ns() + PATIENCE_NS;
        }
        else if (look > FEW_LOOKS && real_ns() > patience_ends_ns) {
            hurry(owner);
        }
        if (!is_absent && (look > LOOKS || atomic_load(&thread->lane.asked) != 0)) {
            is_absent = true;
            turns_leave(thread);
        }
        parallel_pause(look > FEW_LOOKS ? GIVE_WAY : look); /* who has it may not be running */
    }
    if (is_absent) {
        turns_arrive(thread);
    }
}

static void __attribute__((noinline)) await_floor(Thread *thread)
{
    turns_leave(thread);
    floor_take(thread);
    turns_arrive(thread);
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
    lane->is_called_back = kept > 0;
}

/* A tick in the middle of an access, which goes on behind it. */
void __attribute__((noinline, cold)) turns_go_on_accessing(Thread *thread)
{
    thread->lane.is_called_back = false;
    turns_settle(thread);
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

static void count_wait(int64_t since_ns)
{
    int64_t waited_ns = real_ns() - since_ns;
    bool is_short = waited_ns < LONG_NS || waited_ns >= LATE_NS;
    cold_has_waited(is_short ? waited_ns : LONG_NS);
}

static void __attribute__((noinline)) wait_for(Thread *thread, const Wanted *wanted)
{
    int64_t since_ns = real_ns();
    if (atomic_load_explicit(&wanted->turn->owner, memory_order_relaxed) < CONTENDED) {
        transfer(thread);
    }
    else if (thread->lane.near_writes >= MANY && !floor_is_had(thread)) {
        await_floor(thread);
    }
    else {
        await_free(thread, wanted->turn);
    }
    count_wait(since_ns);
}

/* All that is wanted is the thread's, until its next point. If not, it may be the next time. */
static bool take_all(Thread *thread)
{
    Lane *lane = &thread->lane;
    for (uint32_t i = 0; i < lane->wanted_count; i++) {
        const Wanted *wanted = &lane->wanted[i];
        if (__builtin_expect(is_owned(thread, wanted), 1)) {
            continue;
        }
        bool is_contended =
            atomic_load_explicit(&wanted->turn->owner, memory_order_relaxed) >= CONTENDED;
        bool needs_floor = lane->near_writes >= MANY && !floor_is_had(thread);
        if (!is_contended || needs_floor || !lock(thread, wanted)) {
            wait_for(thread, wanted);
            return false;
        }
    }
    if (knowing_others(thread) && knowing_must_hold(thread)) {
        int64_t since_ns = real_ns();
        knowing_hold(thread);
        count_wait(since_ns);
        return false;
    }
    return true;
}

static inline void note(Thread *thread, const Wanted *wanted)
{
    bool is_alone = atomic_load_explicit(&wanted->turn->owner, memory_order_relaxed) > 0;
    if (wanted->writes) {
        wanted->turn->is_written = true;
    }
    if (gate.settings.order == ORDER_LIGHT) {
        flow_note(thread, wanted, is_alone);
    }
    else {
        order_note(thread, wanted, is_alone);
    }
}

/* Is it owned, or locked and to be kept? */
static inline bool is_at_hand(Thread *thread, const Wanted *wanted)
{
    int32_t locked = CONTENDED | (thread->index + 1);
    if (thread->lane.locked_count != 0 && !turns_may_keep(thread)) {
        return false;
    }
    if (atomic_load_explicit(&wanted->turn->owner, memory_order_relaxed) != locked) {
        return is_owned(thread, wanted);
    }
    thread->lane.last_contended = thread_position(thread);
    return true;
}

/* The same as turns_settle, if one thing is wanted, is the thread's, nobody asks for any, and the
 * program is not called back. */
bool turns_settle_at_once(Thread *thread)
{
    Lane *lane = &thread->lane;
    if (turns_are_asked(thread) || lane->wanted_count != 1 || lane->pending_count != 0 ||
        lane->wanted->is_container || !is_at_hand(thread, lane->wanted) ||
        (knowing_others(thread) && knowing_must_hold(thread))) {
        return false;
    }
    lane->wanted_count = 0;
    note(thread, lane->wanted);
    return true;
}

/* The thread is about to make the accesses that it has wanted: from here to its next point nobody
 * else comes in between. */
void turns_settle(Thread *thread)
{
    turns_settle_if(thread, NULL, NULL);
}

/* The same, if what is asked once all is the thread's says yes; else nothing is noted. */
bool turns_settle_if(Thread *thread, bool (*is_right)(void *), void *given)
{
    Lane *lane = &thread->lane;
    turns_consent(thread);
    uint32_t own_count = lane->wanted_count;
    int room = compat_room_for_calls(thread->tstate);
    if (lane->pending_count > 0) {
        want_what_is_under_way(thread, room);
    }
    while (gate.active && !take_all(thread)) {
    }
    if (__builtin_expect(!gate.active, 0)) { /* closed meanwhile */
        lane->wanted_count = 0;
    }
    else if (is_right != NULL && !is_right(given)) {
        lane->wanted_count = 0;
        return false;
    }
    for (uint32_t i = 0; i < lane->wanted_count; i++) {
        note(thread, &lane->wanted[i]);
        if (lane->wanted[i].is_container && i < own_count) {
            begin(thread, &lane->wanted[i], room);
        }
    }
    lane->wanted_count = 0;
    return true;
}
/* In a forked process, where nobody is who was in the middle of a transfer. */
void turns_forget(void)
{
    presence_forget();
    knowing_forget();
    floor_forget();
    exits_forget();
}
