/* The gate: who holds the baton, who waits for what, and how the baton is handed over.
 *
 * These are the only functions in which a controlled thread ever gives up control: gate_slow (at
 * a point), gate_wait (for an object or a deadline), gate_drop (into an outside call) and
 * gate_thread_gone. Each hands the baton over under gate.mutex, lets go of the GIL, and only then
 * wakes the next thread, which is the kernel's floor for a switch.
 *
 * Recording, the next thread is chosen here and logged; replaying, replay.c names it. A wait that
 * ends without what it waited for was ended by its deadline: the schedule alone says so, nothing
 * more need be recorded. */
#include "core.h"
#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Points between looks at the garbage collector; ticks between choices of a search that has no
 * choices at ticks; and how long a deadline waits for a thread in an outside call */
enum { CHECK_INTERVAL = 1000, SEARCH_INTERVAL = 10000, GRACE_NS = 20000000 };
enum { TURN_NS = 5000000 }; /* as Python itself lets a thread run (sys.getswitchinterval) */

/* How soon, and how often at last, an event loop that waits for the outside looks again */
enum { FIRST_LOOK_NS = 50000, LAST_LOOK_NS = 5000000 };

Gate gate = {.mutex = PTHREAD_MUTEX_INITIALIZER, .stop_step = -1};
__thread Thread *me;
__thread int32_t quiet;
static __thread bool foreign_seen;

int64_t real_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* The time of deadlines. */
int64_t now_ns(void)
{
    return gate.is_virtual ? search.clock_ns : real_ns();
}

int64_t gate_step(void)
{
    return gate.holder == NULL ? gate.state->step_end : gate.state->step_end - gate.holder->budget;
}

static bool is_recording(void)
{
    return gate.settings.mode == MODE_RECORD;
}

/* splitmix64 */
static uint64_t next_random(void)
{
    uint64_t z = gate.random += 0x9E3779B97F4A7C15ULL;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
}

/* ---- futexes ---- */

static long futex(void *word, int operation, int value, const struct timespec *deadline)
{
    return syscall(SYS_futex, word, operation, value, deadline, NULL, FUTEX_BITSET_MATCH_ANY);
}

static void wake(Thread *thread)
{
    atomic_store(&thread->baton, 1);
    futex(&thread->baton, FUTEX_WAKE_PRIVATE, 1, NULL);
}

/* An ended thread frees stacks and arenas on its way out of the process. Whoever runs next waits
 * until it is gone, so that the order of those calls, and with it every later address, is the
 * same in every run. The kernel clears the word at tid_address last of all. */
static void await_exit(void)
{
    pid_t tid = gate.leaving_tid;
    gate.leaving_tid = 0;
    if (tid == 0 || !log_is_on()) {
        return;
    }
    if (gate.leaving_address == NULL) {
        while (syscall(SYS_tgkill, gate.pid, tid, 0) == 0) {
            usleep(20);
        }
        return;
    }
    while (futex(gate.leaving_address, FUTEX_WAIT_BITSET, tid, NULL) == 0 || errno == EINTR) {
    }
}

/* ---- handing over ---- */

static Thread *random_enabled(bool may_stay)
{
    size_t enabled = queue_sift();
    if (enabled == 0) {
        return NULL;
    }
    uint64_t pick = next_random() % (enabled + (may_stay ? 1 : 0));
    return pick == enabled ? NULL : queue_nth(pick);
}

/* The time of a turn begins when it is first looked at: handing over takes no look at a clock. */
static void begin_slice(void)
{
    gate.slice_left = gate.settings.slice > 0 ? gate.settings.slice : INT64_MAX / 2;
    gate.turn_began_ns = 0;
}

/* Of turns that have no number of points: has this one taken its time? */
static bool is_turn_over(void)
{
    if (gate.settings.slice > 0) {
        return false;
    }
    int64_t now_ns = real_ns();
    if (gate.turn_began_ns == 0) {
        gate.turn_began_ns = now_ns;
    }
    return now_ns - gate.turn_began_ns >= TURN_NS;
}

static int64_t next_budget(void)
{
    switch (gate.settings.strategy) {
    case STRATEGY_QUEUE: return gate.slice_left < CHECK_INTERVAL ? gate.slice_left : CHECK_INTERVAL;
    case STRATEGY_RANDOM: return 1 + (int64_t)(next_random() % (2 * (uint64_t)gate.settings.slice));
    case STRATEGY_SEARCH: return search.at_ticks ? 1 : SEARCH_INTERVAL;
    default: return gate.settings.slice;
    }
}

/* The process may be killed at any instruction. What it leaves as the current step is then never
 * less than it was; a little more does no harm. */
static void in_this_order(void)
{
    atomic_signal_fence(memory_order_seq_cst);
}

/* The running thread's next point is looked at, whatever its budget. */
static void look_soon(Thread *thread)
{
    int64_t excess = thread->budget - 1;
    if (excess > 0) {
        thread->budget = 1;
        in_this_order();
        gate.state->step_end -= excess;
    }
}

void gate_look_soon(Thread *thread)
{
    if (gate.is_parallel) {
        parallel_look_within(thread, 1);
        return;
    }
    pthread_mutex_lock(&gate.mutex);
    look_soon(thread);
    pthread_mutex_unlock(&gate.mutex);
}

static void grant(Thread *thread, int64_t step)
{
    if (is_recording()) {
        int64_t budget = next_budget();
        gate.state->step_end = step + budget;
        in_this_order();
        thread->budget = budget;
    }
    else {
        replay_grant(thread, step);
    }
    if (thread->signals != 0 || epoch_is_due) {
        look_soon(thread); /* in case their handlers cannot run as the thread is resumed */
    }
}

/* The bookkeeping of a handover; waking comes later, without the GIL. A replay may hand over to a
 * thread that is still away, and that must not find a budget before it has come back. */
static void hand(Thread *next)
{
    int64_t step = gate_step();
    queue_remove(next);
    next->status = RUNNING;
    shadow_settle();
    if (__builtin_expect(culprits_are_watched, 0)) {
        culprits_switch(next->index);
    }
    gate.holder = next;
    gate.state->holder = -1;
    in_this_order();
    gate.state->switches++;
    begin_slice();
    gate.slice_step = step;
    if (!next->away) {
        grant(next, step);
    }
    in_this_order();
    gate.state->holder = next->index;
}

static void go_idle(void)
{
    int64_t step = gate_step();
    shadow_settle();
    gate.holder = NULL;
    gate.state->holder = -1;
    gate.idle_since_ns = gate.exploring ? real_ns() : 0;
    in_this_order();
    gate.state->step_end = step;
}

static bool can_anything_happen(void)
{
    return gate.outside > 0 || gate.timed > 0 || gate.foreign > 0 || gate.abroad > 0 ||
           (gate.bystanders > 0 && !gate.exploring) || signals_may_come();
}

/* Who follows a thread that cannot go on. May only be asked once per handover. */
static Thread *choose_successor(Thread *thread)
{
    if (!is_recording()) {
        return replay_yield_target(thread, gate_step());
    }
    Thread *next = gate.settings.strategy == STRATEGY_SEARCH   ? search_choose(NULL)
                   : gate.settings.strategy == STRATEGY_RANDOM ? random_enabled(false)
                                                               : queue_first();
    if (next != NULL) {
        log_entry(ENTRY_YIELD, (uint64_t)next->index);
    }
    return next;
}

static Thread *pass_on(Thread *thread)
{
    Thread *next = choose_successor(thread);
    if (next == NULL && gate.exploring && !can_anything_happen() && !log_is_on()) {
        search_abort(RUN_IN_DEADLOCK);
        next = choose_successor(thread);
    }
    if (next != NULL) {
        hand(next);
    }
    else if (can_anything_happen()) {
        go_idle();
    }
    else {
        log_entry(ENTRY_END, ENDED_IN_DEADLOCK);
        go_idle();
        report_deadlock();
    }
    return next;
}

/* Caller holds the mutex; the thread becomes runnable, and runs if nobody does. */
static void make_ready(Thread *thread)
{
    thread->status = READY;
    queue_push(thread);
    if (gate.holder == NULL) {
        Thread *next = choose_successor(thread);
        if (next != NULL) {
            hand(next);
            wake(next);
        }
    }
}

/* Nobody runs, and somebody could: caller holds the mutex. */
void gate_resume(void)
{
    Thread *next = gate.holder == NULL ? choose_successor(NULL) : NULL;
    if (next != NULL) {
        hand(next);
        wake(next);
    }
}

static void note_deadline(Thread *thread)
{
    pthread_mutex_lock(&gate.mutex);
    thread->expired = true;
    if (thread->status == WAITING) {
        make_ready(thread);
    }
    pthread_mutex_unlock(&gate.mutex);
}

static void take_signals(enum EntryKind entry)
{
    Thread *main_thread = &gate.slots[0];
    if (gate.active && is_recording() && signals_collect(entry) && main_thread->status == WAITING) {
        make_ready(main_thread);
    }
}

/* A signal came while its thread was parked. One that came while the main thread runs is for the
 * main thread's next point. */
void gate_take_interrupts(void)
{
    pthread_mutex_lock(&gate.mutex);
    if (gate.slots[0].status != RUNNING) {
        take_signals(ENTRY_INTERRUPT);
    }
    pthread_mutex_unlock(&gate.mutex);
}

/* Nobody runs: an event loop may have been called from outside. */
static void look_abroad(void)
{
    pthread_mutex_lock(&gate.mutex);
    if (gate.holder == NULL && gate.active && ready_look()) {
        gate_resume();
    }
    pthread_mutex_unlock(&gate.mutex);
}

/* Parks the calling OS thread until the baton is its own. Called without the GIL. */
static void await_baton(Thread *thread, int64_t deadline_ns)
{
    int64_t pause_ns = thread->explored.is_abroad ? FIRST_LOOK_NS : 0;
    while (atomic_load(&thread->baton) == 0) {
        if (!is_recording()) {
            deadline_ns = -1; /* it may be a copy of one that had one */
        }
        int64_t look_ns = pause_ns > 0 ? real_ns() + pause_ns : -1;
        bool looks = look_ns >= 0 && (deadline_ns < 0 || look_ns < deadline_ns);
        int64_t until_ns = looks ? look_ns : deadline_ns;
        struct timespec deadline = {until_ns / 1000000000, until_ns % 1000000000};
        int error = 0;
        long failed = fork_park(&thread->baton, until_ns < 0 ? NULL : &deadline, &error);
        if (failed != 0 && error == ETIMEDOUT && looks) {
            look_abroad();
            pause_ns = pause_ns * 2 < LAST_LOOK_NS ? pause_ns * 2 : LAST_LOOK_NS;
        }
        else if (failed != 0 && error == ETIMEDOUT && gate.is_virtual) {
            search_idle();
            deadline_ns = real_ns() + GRACE_NS;
        }
        else if (failed != 0 && error == ETIMEDOUT) {
            deadline_ns = -1;
            note_deadline(thread);
        }
        else if (failed != 0 && error == EINTR) {
            gate_take_interrupts();
        }
    }
    atomic_store(&thread->baton, 0);
    await_exit();
}

/* Gives the GIL back, wakes next, and returns with both baton and GIL. */
static void park(Thread *thread, Thread *next, int64_t deadline_ns)
{
    PyThreadState *tstate = PyEval_SaveThread();
    if (next != NULL) {
        wake(next);
    }
    await_baton(thread, deadline_ns);
    PyEval_RestoreThread(tstate);
    if (!is_recording()) {
        replay_settle(thread);
    }
}

/* ---- points ---- */

/* The caller holds the mutex, which is let go. */
void gate_preempt_locked(Thread *thread, Thread *next)
{
    thread->status = READY;
    if (is_recording()) {
        log_entry(ENTRY_PREEMPT, (uint64_t)next->index);
        queue_push(thread);
    }
    hand(next);
    pthread_mutex_unlock(&gate.mutex);
    park(thread, next, -1);
}

void gate_preempt(Thread *thread, Thread *next)
{
    pthread_mutex_lock(&gate.mutex);
    gate_preempt_locked(thread, next);
}

/* Points that come too early for a choice: the finalizers of a collection passed points of their
 * own, after which this one's step is no longer the current one; or the threads that would run
 * were woken for a lock that this thread has taken again. (Without the latter, a loop that takes
 * and releases a lock could have all its slices end while it holds it, and starve everybody.) */
static void choose_at_next_point(Thread *thread)
{
    pthread_mutex_lock(&gate.mutex);
    int64_t step = gate_step();
    thread->budget = 1;
    gate.state->step_end = step + 1;
    gate.slice_left = 1;
    gate.slice_step = step;
    pthread_mutex_unlock(&gate.mutex);
}

static void choose(Thread *thread)
{
    if (gate.settings.strategy == STRATEGY_SEARCH) {
        search_point(thread);
        return;
    }
    if (gate.settings.strategy == STRATEGY_PYTHON) {
        chooser_ask(thread);
        return;
    }
    pthread_mutex_lock(&gate.mutex);
    bool random = gate.settings.strategy == STRATEGY_RANDOM;
    bool somebody_woken = gate.run_first != NULL;
    Thread *next = random ? random_enabled(true) : queue_first();
    if (next != NULL) {
        gate_preempt_locked(thread, next);
        return;
    }
    pthread_mutex_unlock(&gate.mutex);
    if (somebody_woken && !random) {
        choose_at_next_point(thread);
    }
}

static int record_point(Thread *thread)
{
    int64_t step = gate_step();
    gate.slice_left -= step - gate.slice_step;
    bool slice_is_over = gate.slice_left <= 0 || is_turn_over();
    bool over = gate.settings.strategy != STRATEGY_QUEUE || slice_is_over;
    if (slice_is_over) {
        begin_slice();
    }
    gate.slice_step = step;
    pthread_mutex_lock(&gate.mutex); /* the step must look right to a parked main thread */
    if (thread->budget <= 0) {
        grant(thread, step);
    }
    if (atomic_load(&gate.signals_pending) != 0) {
        take_signals(ENTRY_SIGNAL);
    }
    pthread_mutex_unlock(&gate.mutex);
    if (epoch_is_due && epoch_renew()) {
        return replay_point(thread, gate_step());
    }
    if (!gate.exploring && collect_if_due()) { /* a search has its own collections */
        choose_at_next_point(thread);
    }
    else if (over) {
        choose(thread);
    }
    return search_raise(thread, false) < 0 ? -1 : signals_run(thread);
}

int gate_slow(Thread *thread)
{
    if (!gate.active) {
        thread->budget = INT64_MAX;
        return 0;
    }
    if (gate.is_parallel) {
        return parallel_point(thread);
    }
    if (thread->away) {
        gate_rejoin(thread);
        if (!gate.active || --thread->budget > 0) {
            return 0;
        }
    }
    return is_recording() ? record_point(thread) : replay_point(thread, gate_step());
}

/* ---- waiting ---- */

static void begin_wait(Thread *thread, Object *object, int64_t deadline_ns)
{
    thread->status = WAITING;
    thread->expired = false;
    waiters_add(object, thread);
    thread->deadline_ns = deadline_ns;
    thread->explored.is_patient =
        thread->explored.is_slow || deadline_ns - now_ns() >= search.patience_ns;
    thread->timed = deadline_ns >= 0;
    gate.timed += thread->timed;
    if (gate.exploring && thread->timed) {
        run->timed_waits++;
    }
    if (is_recording() && deadline_ns >= 0 && deadline_ns <= now_ns()) {
        thread->expired = true;
        thread->status = READY;
        queue_push(thread);
    }
}

static void end_wait(Thread *thread)
{
    pthread_mutex_lock(&gate.mutex);
    waiters_remove(thread);
    gate.timed -= thread->timed;
    thread->timed = thread->expired = false;
    pthread_mutex_unlock(&gate.mutex);
}

/* When a parked thread is to look at the clock itself. */
static int64_t real_deadline(int64_t deadline_ns)
{
    if (!is_recording() || deadline_ns < 0) {
        return -1;
    }
    return gate.is_virtual ? real_ns() + GRACE_NS : deadline_ns;
}

enum Waited gate_wait(Thread *thread, enum Operation kind, Object *object, int64_t deadline_ns)
{
    if (gate.is_parallel) {
        return parallel_wait(thread, kind, object, deadline_ns);
    }
    if (search_raise(thread, true) < 0) {
        return WAIT_FAILED;
    }
    thread->pending_op = (uint8_t)kind;
    thread->pending_site = site_here(kind);
    if (object != NULL && object->id == 0 && object->kind != OBJECT_THREAD) {
        define_object(object, thread->pending_site);
    }
    thread->pending_object = object != NULL ? object->id : 0;
    uint32_t noted = locks_are_watched ? locks_waiting(kind, object, deadline_ns) : 0;
    Thread *chosen = chooser_successor(thread);
    pthread_mutex_lock(&gate.mutex);
    begin_wait(thread, object, deadline_ns);
    Thread *next = chosen;
    if (chosen != NULL) {
        log_entry(ENTRY_YIELD, (uint64_t)chosen->index);
        hand(chosen);
    }
    else {
        next = pass_on(thread);
    }
    pthread_mutex_unlock(&gate.mutex);
    park(thread, next, real_deadline(deadline_ns));
    if (gate.exploring && search.aborting) {
        search_tell(); /* while it can still be seen who waits for what */
    }
    end_wait(thread);
    thread->pending_site = 0;
    if (noted != 0) {
        locks_woken(noted, object);
    }
    if (search_raise(thread, true) < 0) {
        return WAIT_FAILED;
    }
    if (thread->signals != 0) {
        return signals_run(thread) < 0 ? WAIT_FAILED : WAIT_INTERRUPTED;
    }
    return WAIT_RESUMED;
}

static void wake_waiters(Object *object)
{
    for (Thread *thread = object->first_waiter; thread != NULL; thread = thread->wait_next) {
        if (thread->status == WAITING) {
            make_ready(thread);
        }
    }
    object->all_woken = true;
}

void gate_wake(Object *object)
{
    if (gate.is_parallel) {
        parallel_wake(object);
        return;
    }
    if (object->first_waiter == NULL || object->all_woken || !is_recording()) {
        return;
    }
    pthread_mutex_lock(&gate.mutex);
    wake_waiters(object);
    pthread_mutex_unlock(&gate.mutex);
}

/* ---- operations that happened ---- */

void gate_done(enum Operation kind, Object *object)
{
    if (__builtin_expect(gate.is_parallel, 0)) {
        parallel_done(kind, object);
        return;
    }
    bool is_new = object != NULL && object->id == 0 && object->kind != OBJECT_THREAD;
    uint32_t site = is_new || operations_are_kept ? site_here(kind) : 0;
    if (is_new) {
        define_object(object, site);
    }
    uint32_t id = object != NULL ? object->id : 0;
    gate.state->operations++;
    if (gate.exploring) {
        search_done(kind, object);
    }
    if (clocks_are_on) {
        clocks_done(kind, object);
    }
    if (locks_are_watched) {
        locks_done(kind, object);
    }
    if (!operations_are_kept) {
        return;
    }
    if (is_recording()) {
        log_operation(site, me->index, id, gate_step());
    }
    else {
        replay_check(kind, site, id, gate_step());
    }
}

/* ---- outside calls ---- */

void gate_drop(Thread *thread)
{
    if (gate.is_parallel) {
        parallel_drop(thread);
        return;
    }
    Thread *chosen = chooser_successor(thread);
    pthread_mutex_lock(&gate.mutex);
    thread->status = OUTSIDE;
    thread->away = true;
    gate.outside++;
    Thread *next = chosen;
    if (chosen != NULL) {
        log_entry(ENTRY_YIELD, (uint64_t)chosen->index);
        hand(chosen);
    }
    else {
        next = pass_on(thread);
    }
    if (next != thread) {
        thread->budget = 0;
    }
    pthread_mutex_unlock(&gate.mutex);
    if (next != NULL) {
        wake(next);
    }
}

/* Nobody runs and nobody else could: the thread goes on at once, without letting go of the GIL. */
static bool rejoin_at_once(Thread *thread)
{
    bool is_free;
    pthread_mutex_lock(&gate.mutex);
    if (is_recording()) {
        is_free =
            gate.active && gate.holder == NULL && gate.run_first == NULL && gate.leaving_tid == 0;
        if (is_free) {
            log_entry(ENTRY_YIELD, (uint64_t)thread->index);
            thread->away = false;
            hand(thread);
        }
    }
    else {
        is_free =
            gate.holder == thread && atomic_load(&thread->baton) == 1 && gate.leaving_tid == 0;
        if (is_free) {
            atomic_store(&thread->baton, 0);
            thread->away = false;
            grant(thread, gate.slice_step);
        }
    }
    gate.outside -= is_free;
    pthread_mutex_unlock(&gate.mutex);
    return is_free;
}

void gate_rejoin(Thread *thread)
{
    if (gate.is_parallel) {
        parallel_rejoin(thread);
        return;
    }
    if (rejoin_at_once(thread)) {
        if (!is_recording()) {
            replay_settle(thread);
        }
        return;
    }
    PyThreadState *tstate = PyEval_SaveThread();
    pthread_mutex_lock(&gate.mutex);
    gate.outside--;
    thread->away = false;
    if (is_recording() && gate.active) {
        make_ready(thread);
    }
    else if (gate.holder == thread) {
        grant(thread, gate.slice_step);
    }
    pthread_mutex_unlock(&gate.mutex);
    await_baton(thread, -1);
    PyEval_RestoreThread(tstate);
    if (!is_recording()) {
        replay_settle(thread);
    }
}

/* The holder is stuck in a call nobody declared: it goes on as if it were outside. */
void gate_steal(Thread *thread, Thread *next)
{
    thread->status = OUTSIDE;
    thread->away = true;
    gate.outside++;
    hand(next);
    thread->budget = 0;
    wake(next);
}

bool gate_rescue(Thread *thread)
{
    Thread *next = queue_first();
    if (next == NULL) {
        return false;
    }
    log_entry(ENTRY_STEAL, (uint64_t)next->index);
    stream_varint(&streams[STREAM_SCHEDULE], gate.state->operations);
    search_uncontrolled("a thread was stuck in a call that is not in the table");
    audit_note(NOTE_STOLEN, (uint64_t)thread->tid, thread->index,
               "a thread was stuck in a call that is not in the table");
    gate_steal(thread, next);
    return true;
}

/* ---- threads ---- */

void gate_enroll(Thread *thread)
{
    if (gate.is_parallel) {
        parallel_adopt(thread);
        return;
    }
    thread->status = READY;
    if (clocks_are_on) {
        clocks_begin(thread, &gate.slots[thread->parent < 0 ? 0 : thread->parent]);
    }
    if (is_recording()) {
        pthread_mutex_lock(&gate.mutex);
        if (gate.exploring) {
            search_enroll(thread);
        }
        queue_push(thread);
        pthread_mutex_unlock(&gate.mutex);
    }
}

/* A run of a search begins or ends; the caller runs. */
void gate_explore(bool on)
{
    pthread_mutex_lock(&gate.mutex);
    int64_t step = gate_step();
    gate.exploring = gate.choose_at_operations = on;
    access_changed();
    clocks_are_on = on || races_are_on;
    gate.is_virtual = on && gate.is_virtual;
    gate.settings.strategy = on ? STRATEGY_SEARCH : STRATEGY_QUEUE;
    begin_slice();
    grant(gate.holder, step);
    pthread_mutex_unlock(&gate.mutex);
}

void gate_withdraw(Thread *thread)
{
    turns_leave(thread);
    pthread_mutex_lock(&gate.mutex);
    queue_remove(thread);
    thread->status = ENDED;
    pthread_mutex_unlock(&gate.mutex);
}

void gate_take_turn(Thread *thread)
{
    if (!gate.is_parallel) {
        park(thread, NULL, -1);
    }
}

void gate_adopt_main(Thread *thread)
{
    me = thread;
    if (gate.is_parallel) {
        gate.state->holder = -1;
        parallel_adopt(thread);
        return;
    }
    thread->status = RUNNING;
    gate.holder = thread;
    begin_slice();
    grant(thread, 0);
}

/* Called as the OS thread ends, after Python has forgotten it, without the GIL. */
void gate_thread_gone(Thread *thread, Object *sentinel)
{
    cold_forget(thread);
    if (gate.is_parallel) {
        parallel_thread_gone(thread, sentinel);
        return;
    }
    pthread_mutex_lock(&gate.mutex);
    bool held = gate.holder == thread;
    thread->status = ENDED;
    clocks_end(thread);
    gate.leaving_tid = thread->tid;
    gate.leaving_address = thread->tid_address;
    if (is_recording()) {
        wake_waiters(&thread->done);
        if (sentinel != NULL) {
            wake_waiters(sentinel);
        }
    }
    gate.outside -= thread->away;
    Thread *next = held ? pass_on(thread) : NULL;
    pthread_mutex_unlock(&gate.mutex);
    if (next != NULL) {
        wake(next);
    }
}

enum { MOST_BYSTANDERS = 64 };
static unsigned long bystanders[MOST_BYSTANDERS];

/* Threads of whoever runs the searches, as that of a test runner which talks to another process.
 * They are no part of the program: it does not wait for them in a run, but between runs one may. */
void gate_know_bystanders(void)
{
    PyThreadState *tstate = PyInterpreterState_ThreadHead(PyInterpreterState_Get());
    gate.bystanders = 0;
    for (; tstate != NULL; tstate = PyThreadState_Next(tstate)) {
        if (tstate->thread_id != PyThread_get_thread_ident() && gate.bystanders < MOST_BYSTANDERS) {
            bystanders[gate.bystanders++] = tstate->thread_id;
        }
    }
}

static bool is_bystander(void)
{
    for (uint32_t i = 0; i < gate.bystanders; i++) {
        if (bystanders[i] == PyThread_get_thread_ident()) {
            return true;
        }
    }
    return false;
}

/* A thread that nothing of ours started runs Python code: said once for each, never ignored. */
void gate_foreign(void)
{
    if (quiet > 0 || foreign_seen || getpid() != gate.pid) {
        return;
    }
    foreign_seen = true;
    if (is_bystander()) {
        return;
    }
    pthread_mutex_lock(&gate.mutex);
    gate.foreign++;
    search_uncontrolled("a thread that Python did not start runs Python code");
    audit_note(NOTE_FOREIGN, (uint64_t)syscall(SYS_gettid), 0,
               "a thread that Python did not start runs Python code");
    pthread_mutex_unlock(&gate.mutex);
}

/* The run is over; threads that are parked stay so for ever unless they are let go. */
void gate_close(bool let_go)
{
    if (me != NULL) {
        turns_halt(me);
    }
    pthread_mutex_lock(&gate.mutex);
    if (gate.is_parallel) {
        parallel_close();
    }
    else if (is_recording()) {
        log_entry(ENTRY_END, ENDED_NORMALLY);
    }
    else {
        replay_close();
    }
    go_idle();
    gate.state->ended = RUN_CLOSED;
    gate.active = false;
    for (uint32_t i = 1; let_go && i < gate.state->threads; i++) {
        wake(&gate.slots[i]);
    }
    pthread_mutex_unlock(&gate.mutex);
    if (let_go) {
        turns_release();
    }
}
