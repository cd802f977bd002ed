/* The parallel engine's gate: threads run as they like, and their lanes say what came before what.
 *
 * The functions mirror those of gate.c, which call them when this engine is on. A thread has a
 * position, the number of points that it has passed, in place of the steps of all. What is done to
 * an object is done while it is held (object_hold), so that its operations have an order; each
 * comes after the one before it, which is noted if that was another thread's. Waiting is done on a
 * word of the object's that changes when the wait may be over; the native lock is only tried.
 *
 * Some things that have no point under the serial engine have one here, and so have them in a
 * serial replay of what was recorded here (gate.has_lanes), or there would be no place to stop a
 * thread at: calls to the outside, writes to text files, the waits for other threads at the end,
 * and the end itself. */
#include "core.h"
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Points between looks at the garbage collector; how often one looks at a lock that another has,
 * and then naps, before it sleeps */
enum { CHECK_INTERVAL = 1000, LOOKS = 40, NAPS = 3, NAP_NS = 50000 };
/* How long the main thread sleeps at most, since signals may go to others; and how often nothing
 * may be seen to move before it is called a deadlock */
enum { LONGEST_SLEEP_NS = 50000000, STILL_PERIODS = 8 };

static _Atomic int32_t timed; /* waits with a deadline */

static void futex_wake(_Atomic int32_t *word, int count)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

static bool is_replay(void)
{
    return gate.settings.mode == MODE_REPLAY;
}

/* The thread runs, at a point or after a wait that has come to something. What else it does without
 * the GIL, such as a write, counts as done before others went on. */
static void note_shift(Thread *thread)
{
    if (!is_replay()) {
        shifts_take(thread);
    }
}

/* ---- objects ---- */

/* Whoever holds it may have to stop for a collection, which waits for us in turn. */
static void __attribute__((noinline)) hold_later(Thread *thread, Object *object)
{
    if (thread != NULL) {
        thread->lane.is_held_up = true;
        turns_leave(thread);
    }
    for (int turn = 1; atomic_exchange(&object->held, 1) != 0; turn++) {
        parallel_pause(turn);
    }
    if (thread != NULL) {
        turns_arrive(thread);
        thread->lane.is_held_up = false;
    }
}

void parallel_hold(Object *object)
{
    Thread *thread = me;
    if (atomic_exchange(&object->held, 1) != 0) {
        hold_later(thread, object);
    }
    if (thread != NULL) {
        note_shift(thread);
    }
}

/* Between two looks at what another thread is about to change, with the GIL or without it. */
void parallel_pause(int turn)
{
    if (turn % GIVE_WAY != 0) {
        __builtin_ia32_pause();
    }
    else if (compat_thread_state() == NULL) {
        sched_yield();
    }
    else {
        PyThreadState *tstate = PyEval_SaveThread();
        sched_yield();
        PyEval_RestoreThread(tstate);
    }
}

void parallel_wake(Object *object)
{
    object->is_signal = true; /* of locks: whoever released it is not one of our threads */
    atomic_fetch_add(&object->turn, 1);
    if (object->parked > 0) {
        futex_wake(&object->turn, object->kind == OBJECT_THREAD ? INT_MAX : 1);
    }
}

/* A lock was released while it is held, and nobody is to hold it any more. One waiter is woken, but
 * not again while it is on its way. */
void parallel_let_go(Object *object)
{
    bool wakes = object->parked > object->woken;
    if (wakes) {
        object->woken++;
        atomic_fetch_add(&object->turn, 1);
    }
    object_let_go(object);
    if (wakes) {
        futex_wake(&object->turn, 1);
    }
}

/* ---- points ---- */

void parallel_adopt(Thread *thread)
{
    thread->limit = thread->budget = HAS_GIL ? 1 : CHECK_INTERVAL;
    lane_open(thread);
    turns_arrive(thread);
    thread->status = RUNNING; /* last: from here on others may ask it for what it has */
    if (is_replay()) {
        obey_adopt(thread);
    }
}

/* The thread takes the slow path at one of its next points. */
void parallel_look_within(Thread *thread, int64_t points)
{
    int64_t excess = thread->budget - points;
    if (excess > 0) {
        thread->limit -= excess; /* in this order: others may look how far it is */
        atomic_signal_fence(memory_order_seq_cst);
        thread->budget = points;
    }
}

/* In a wait as well: to who replays, the handler ran before the wait began. */
static int take_signals(Thread *thread)
{
    if (thread->index == 0) {
        uint64_t pending = atomic_exchange(&gate.signals_pending, 0);
        for (int number = 1; pending != 0 && number < 64; number++) {
            if (pending & (1ULL << number)) {
                lane_other(thread, LANE_SIGNAL, (uint64_t)number);
                thread->lane.waits = false; /* after the handler it waits anew */
            }
        }
        thread->signals |= pending;
    }
    return signals_run(thread);
}

int parallel_point(Thread *thread)
{
    if (is_replay()) {
        return obey_point(thread);
    }
    note_shift(thread);
    if (thread->budget <= 0) {
        int64_t budget = thread->lane.is_leaving ? 1 : CHECK_INTERVAL;
        thread->limit += budget - thread->budget;
        thread->budget = budget;
        turns_go_on(thread); /* in a finalizer that does not come to an end */
        knowing_let_go_on(thread);
        thread->budget -= collect_if_due() && !HAS_GIL; /* which had the point for itself */
    }
    turns_consent(thread);
    presence_say_after(thread);
    if (__builtin_expect(baseline_is_on, 0)) {
        baseline_leave(thread);
    }
    return take_signals(thread);
}

/* Where the serial engine needs none; handlers of signals wait for the next one. */
void parallel_extra_point(Thread *thread)
{
    if (gate.has_lanes) {
        thread->deferring++;
        gate_enter(thread, OP_NONE, NULL);
        thread->deferring--;
    }
}

void parallel_joined(Thread *thread, const Thread *other)
{
    if (gate.is_parallel && other->status == ENDED && !is_replay()) {
        lane_gone(thread, other->index);
        lane_other(thread, LANE_END, (uint64_t)other->index);
    }
}

/* ---- waiting ---- */

static void sleep_until(_Atomic int32_t *word, int32_t seen, int64_t deadline_ns)
{
    struct timespec deadline = {deadline_ns / 1000000000, deadline_ns % 1000000000};
    syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, seen, deadline_ns < 0 ? NULL : &deadline,
            NULL, FUTEX_BITSET_MATCH_ANY);
}

/* Without the object, and without the GIL. */
static void park(Thread *thread, _Atomic int32_t *word, int32_t seen, int64_t deadline_ns)
{
    bool is_main = thread->index == 0;
    while (atomic_load(word) == seen && (deadline_ns < 0 || real_ns() < deadline_ns) &&
           !(is_main && atomic_load(&gate.signals_pending) != 0)) {
        int64_t soon_ns = is_main ? real_ns() + LONGEST_SLEEP_NS : -1;
        bool is_sooner = is_main && (deadline_ns < 0 || soon_ns < deadline_ns);
        sleep_until(word, seen, is_sooner ? soon_ns : deadline_ns);
    }
}

/* Until the lock is free, and was when it was looked at before, with nothing done to it meanwhile.
 */
static void await_idle(const Object *object)
{
    int64_t seen = -1;
    for (int look = 0; look < LOOKS; look++) {
        bool is_free = *(const volatile int32_t *)&object->owner < 0;
        int64_t latest = *(const volatile int64_t *)&object->latest.position;
        if (is_free && latest == seen) {
            return;
        }
        seen = is_free ? latest : -1;
        sched_yield();
    }
}

static void nap(void)
{
    PyThreadState *tstate = PyEval_SaveThread();
    nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
    PyEval_RestoreThread(tstate);
}

/* Until the word is another, or the time is over, which it says: false. */
bool parallel_sleep(_Atomic int32_t *word, int32_t seen, int64_t time_ns)
{
    int64_t deadline_ns = real_ns() + time_ns;
    PyThreadState *tstate = PyEval_SaveThread();
    sleep_until(word, seen, deadline_ns);
    PyEval_RestoreThread(tstate);
    return real_ns() < deadline_ns;
}

void parallel_wake_one(_Atomic int32_t *word)
{
    futex_wake(word, 1);
}

/* Whoever has a lock may be about to give it back, so that it is better to look again than to sleep
 * and be woken, which costs the other more than the lock is worth; Python's own locks spin as well.
 * But a thread that takes it again and again is left in peace for a while: passing the lock, and
 * all that it guards, to and fro costs more than waiting. Nothing of it is told. The object is held
 * before and after, not meanwhile; false: it is time to wait. */
bool parallel_look_again(Thread *thread, Object *object, int time)
{
    bool is_anothers = object->owner >= 0 && object->owner != thread->index;
    if (HAS_GIL || is_replay() || time > (is_anothers ? NAPS : 0)) {
        return false;
    }
    object_let_go(object);
    turns_leave(thread);
    if (time == 0) {
        await_idle(object);
    }
    else {
        nap();
    }
    turns_arrive(thread);
    object_hold(object);
    return true;
}

/* The object is held before and after, not meanwhile. */
enum Waited parallel_wait(Thread *thread, enum Operation kind, Object *object, int64_t deadline_ns)
{
    thread->pending_op = (uint8_t)kind;
    thread->pending_site = site_here(kind);
    if (object != NULL && object->id == 0 && object->kind != OBJECT_THREAD) {
        define_object(object, thread->pending_site);
    }
    thread->pending_object = object != NULL ? object->id : 0;
    if (!is_replay()) {
        /* What it finds taken was taken by then. The first thread may begin a wait again, after the
         * handler of a signal, and does not wait to the end. */
        if (object != NULL && !thread->lane.waits && thread->index != 0) {
            lane_after(thread, object->latest);
        }
        lane_wait(thread, thread->pending_site, object);
    }
    else if (obey_wait(thread)) {
        return WAIT_RESUMED;
    }
    _Atomic int32_t *word = object == NULL ? &thread->baton : &object->turn;
    int32_t seen = atomic_load(word);
    if (object != NULL) {
        object->parked++;
        object_let_go(object);
    }
    thread->waits_for = object;
    atomic_fetch_add(&timed, deadline_ns >= 0);
    thread->status = WAITING;
    turns_leave(thread);
    PyThreadState *tstate = PyEval_SaveThread();
    park(thread, word, seen, deadline_ns);
    PyEval_RestoreThread(tstate);
    turns_arrive(thread);
    thread->status = RUNNING;
    atomic_fetch_sub(&timed, deadline_ns >= 0);
    thread->waits_for = NULL;
    thread->pending_site = 0;
    int result = is_replay() ? 0 : take_signals(thread);
    if (object != NULL) {
        object_hold(object);
        object->parked--;
        object->woken -= object->woken > 0;
    }
    /* after a handler it waits once more, if only to find that the time is over */
    bool is_over =
        thread->lane.waits && !is_replay() && deadline_ns >= 0 && real_ns() >= deadline_ns;
    return result < 0 ? WAIT_FAILED : is_over ? WAIT_RESUMED : WAIT_INTERRUPTED;
}

/* ---- operations that happened ---- */

static bool is_failure(enum Operation kind)
{
    return kind == OP_ACQUIRE_FAILED || kind == OP_ACQUIRE_TIMEOUT || kind == OP_JOIN_TIMEOUT ||
           kind == OP_LOCKED;
}

/* What waits for the end of a thread: the lock that Python releases then, or its handle. Who finds
 * it not ended yet comes before the end, who finds that it has comes after. The thread's own last
 * operation is at the same point as its end: who comes before one does not come after the other. */
static void relate_to_end(Thread *thread, enum Operation kind, Object *object, int32_t ending)
{
    bool is_held = object->kind == OBJECT_THREAD ||
                   (object->owner == ending && compat_lock_is_taken(object->key));
    if (ending == thread->index) {
        lane_after(thread, object->latest);
        if (kind != OP_END) {
            object->latest = (Deed){thread->index, thread_position(thread)};
        }
    }
    else if (is_failure(kind) && is_held && gate.slots[ending].status != ENDED) {
        if (object->latest.thread != ending) { /* which is about to end, and comes later */
            lane_after(thread, object->latest);
        }
        object->latest = (Deed){thread->index, thread_position(thread)};
    }
    else {
        lane_gone(thread, ending);
    }
}

static void relate(Thread *thread, enum Operation kind, Object *object)
{
    bool is_end = object->kind == OBJECT_THREAD && kind != OP_START && kind != OP_BEGIN;
    int32_t ending = is_end ? (int32_t)object->id : object->ends;
    if (ending >= 0 && object->kind != OBJECT_QUEUE) {
        relate_to_end(thread, kind, object, ending);
        return;
    }
    lane_after(thread, object->latest);
    object->latest = (Deed){thread->index, thread_position(thread)};
}

void parallel_done(enum Operation kind, Object *object)
{
    Thread *thread = me;
    if (__builtin_expect(baseline_is_on, 0)) {
        baseline_done(thread, kind, object);
        return;
    }
    uint32_t site = site_here(kind);
    turns_consent(thread);
    if (object != NULL && object->id == 0 && object->kind != OBJECT_THREAD) {
        define_object(object, site);
    }
    if (is_replay()) {
        obey_operation(thread, site);
        if (kind == OP_END) { /* before Python releases the lock that joins wait for */
            obey_gone(thread);
        }
        return;
    }
    if (kind == OP_BEGIN || thread->lane.waits) {
        note_shift(thread);
    }
    if (object != NULL) {
        relate(thread, kind, object);
        if (gate.settings.order == ORDER_LIGHT) {
            flow_done(thread, kind, object);
        }
    }
    lane_operation(thread, site, object);
    if (kind == OP_END) {
        thread->lane.is_leaving = true;
        parallel_look_within(thread, 1);
    }
}

/* ---- outside calls, and ends ---- */

void parallel_drop(Thread *thread)
{
    if (is_replay()) {
        obey_yield(thread);
    }
    else {
        lane_yield(thread);
    }
    thread->away = true;
    thread->status = OUTSIDE;
    turns_leave(thread);
}

void parallel_rejoin(Thread *thread)
{
    thread->away = false;
    turns_arrive(thread);
    thread->status = RUNNING; /* who holds it off until then finds it outside */
}

/* Without the GIL. */
void parallel_thread_gone(Thread *thread, Object *sentinel)
{
    bool is_own = sentinel != NULL && sentinel->ends == thread->index; /* else it died, and this is
                                                                          another at its address */
    Object *objects[] = {&thread->done, is_own ? sentinel : NULL};
    if (is_replay()) {
        obey_gone(thread);
    }
    for (int i = 0; i < 2; i++) {
        if (objects[i] != NULL) {
            object_hold(objects[i]);
            if (!is_replay()) {
                lane_after(thread, objects[i]->latest);
            }
            thread->status = ENDED;
            object_let_go(objects[i]);
        }
    }
    if (!is_replay()) {
        flow_end(thread, thread);
        lane_other(thread, LANE_END, (uint64_t)thread->index);
    }
    turns_leave(thread);
    exits_end(thread);
    for (int i = 0; i < 2; i++) {
        if (objects[i] != NULL) {
            parallel_wake(objects[i]);
        }
    }
}

/* What was under way when the run ended. */
static void end_flow(Thread *thread)
{
    for (uint32_t i = 0; i < gate.state->threads; i++) {
        if (gate.slots[i].status != ENDED) {
            flow_end(thread, &gate.slots[i]);
        }
    }
}

void parallel_close(void)
{
    if (baseline_is_on) {
        baseline_close();
    }
    gate.state->operations = 0;
    for (uint32_t i = 0; i < gate.state->threads; i++) {
        const Thread *thread = &gate.slots[i];
        gate.state->operations += thread->lane.operations;
        if (thread != me && thread->status != ENDED && !is_replay()) {
            lane_final(me, thread);
        }
    }
    if (!is_replay()) {
        end_flow(me);
        lane_other(me, LANE_CLOSE, 0);
    }
}

/* The patrol's part: nobody runs, nobody will be woken by a clock or from outside, and that was
 * seen several times in a row. */
void parallel_look_for_deadlock(void)
{
    static int64_t positions;
    static int periods;
    int64_t now = 0;
    bool is_still = atomic_load(&timed) == 0 && gate.foreign == 0 && !signals_may_come();
    for (uint32_t i = 0; i < gate.state->threads; i++) {
        const Thread *thread = &gate.slots[i];
        is_still = is_still && (thread->status == WAITING || thread->status == ENDED);
        now += thread_position(thread);
    }
    periods = is_still && now == positions ? periods + 1 : 0;
    positions = now;
    if (periods >= STILL_PERIODS) {
        if (!is_replay()) {
            end_flow(&gate.slots[0]); /* which does nothing any more */
        }
        report_deadlock();
    }
}
