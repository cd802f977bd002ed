/* Obeying a recording: the mirror of what gate.c decides while recording.
 *
 * The next entry of the schedule is always known; the running thread's budget is the number of
 * points until it. Every operation is compared with the recorded one. Whatever the recording
 * does not allow ends the process at once, with a report of both sides (outcome.c). */
#include "core.h"
#include <stdio.h>
#include <string.h>

typedef struct {
    bool exists;
    int64_t step;
    enum EntryKind kind;
    uint64_t argument;
    uint64_t operations; /* steal, between: how many operations came before it */
    Halt place;          /* between: where the thread is stopped, */
    uint64_t left;       /* if it has passed there so often */
    uint64_t number;     /* collect, from GENERATIONS on: of what died, or is called */
} Entry;

static Entry next;
static struct {
    int32_t thread;
    uint32_t object;
    int64_t step;
} last_operation;
static uint32_t verified_sites;
static int64_t last_clock[16];

static void read_entry(void)
{
    Cursor *cursor = &cursors[STREAM_SCHEDULE];
    int64_t before = next.step;
    next = (Entry){.step = before};
    if (cursor->at >= cursor->end) {
        return;
    }
    next.step = before + (int64_t)cursor_varint(cursor);
    uint64_t code = cursor_varint(cursor);
    next.kind = (enum EntryKind)(code & 7);
    next.argument = code >> 3;
    if (next.kind == ENTRY_STEAL || next.kind == ENTRY_BETWEEN) {
        next.operations = cursor_varint(cursor);
    }
    if (next.kind == ENTRY_BETWEEN) {
        next.place.code = cursor_varint(cursor);
        next.place.offset = cursor_varint(cursor);
        next.left = cursor_varint(cursor);
    }
    if (next.kind == ENTRY_COLLECT && next.argument >= GENERATIONS) {
        uint64_t thread = cursor_varint(cursor);
        next.number = cursor_varint(cursor) << REFERENCE_THREAD_BITS | thread;
    }
    bool is_beyond = gate.settings.last_step >= 0 && next.step > gate.settings.last_step;
    next.exists = !cursor->broken && next.step >= before && !is_beyond;
}

int replay_begin(void)
{
    read_entry();
    return sites_load_recorded();
}

/* In a copy of a process that records: the log goes on from here. */
void replay_resume(int64_t entry_step, int32_t thread, uint32_t object, int64_t step)
{
    next = (Entry){.step = entry_step};
    last_operation.thread = thread;
    last_operation.object = object;
    last_operation.step = step;
    clock_resume(last_clock);
    verified_sites = sites_known();
    read_entry();
}

static void describe_entry(char *text, size_t size)
{
    static const char *const NAMES[] = {"preempt", "yield", "steal",     "collect",
                                        "signal",  "end",   "interrupt", "between"};
    if (!next.exists) {
        snprintf(text, size, "schedule\tnothing\t0\t%lld", (long long)next.step);
        return;
    }
    snprintf(text, size, "schedule\t%s\t%llu\t%lld",
             next.kind <= ENTRY_BETWEEN ? NAMES[next.kind] : "?", (unsigned long long)next.argument,
             (long long)next.step);
}

/* The point that found out was not passed: the recorded run did not come to it. */
static void __attribute__((noreturn)) run_out(void)
{
    int64_t beyond = gate_step() - gate.settings.last_step;
    gate.state->step_end -= beyond > 0 ? beyond : 0;
    end_of_recording();
}

static void __attribute__((noreturn)) stray(const char *what, int64_t step)
{
    char expected[160], actual[160];
    if (!next.exists && gate.settings.is_cut && step >= gate.settings.last_step) {
        run_out();
    }
    describe_entry(expected, sizeof expected);
    snprintf(actual, sizeof actual, "schedule\t%s\t%d\t%lld", what, me != NULL ? me->index : -1,
             (long long)step);
    report_divergence("schedule", step, expected, actual);
}

/* The thread whose turn it is does not come back: what it waits for outside is another's. */
void replay_lost(const Thread *thread)
{
    char expected[160], actual[160];
    describe_entry(expected, sizeof expected);
    snprintf(actual, sizeof actual, "schedule\tlost\t%d\t%lld", thread->index,
             (long long)gate.slice_step);
    report_divergence("schedule", gate.slice_step, expected, actual);
}

static Thread *target(int64_t step)
{
    if (next.argument >= gate.state->threads || gate.slots[next.argument].status == ENDED) {
        stray("a thread that does not exist", step);
    }
    return &gate.slots[next.argument];
}

/* Invariant: step_end - budget is the current step; the budget ends at the next entry. */
void replay_grant(Thread *thread, int64_t step)
{
    int64_t until = next.exists ? next.step : gate.settings.last_step;
    until = until < 0 ? INT64_MAX / 2 : until;
    if (gate.stop_step >= step && gate.stop_step < until) {
        until = gate.stop_step;
    }
    bool is_sought = next.exists && next.kind == ENTRY_BETWEEN && next.step == step;
    if ((thread->signals != 0 && until > step + 1) || is_sought) {
        until = step + 1; /* a handler waits for its next point */
    }
    thread->budget = until - step;
    gate.state->step_end = step + thread->budget;
}

static bool steal_is_due(int64_t step)
{
    return next.exists && next.kind == ENTRY_STEAL && next.step == step &&
           next.operations <= gate.state->operations;
}

static void steal(Thread *thread, int64_t step)
{
    Thread *thief = target(step);
    pthread_mutex_lock(&gate.mutex);
    read_entry();
    gate_steal(thread, thief);
    pthread_mutex_unlock(&gate.mutex);
}

static void take_signal(void)
{
    gate.slots[0].signals |= 1ULL << (next.argument & 63);
    read_entry();
}

static bool interrupt_is_due(int64_t step)
{
    return next.exists && next.kind == ENTRY_INTERRUPT && next.step == step;
}

/* Signals that reached the main thread while it was parked and this thread ran. */
static void take_interrupts(Thread *thread, int64_t step)
{
    if (interrupt_is_due(step)) {
        pthread_mutex_lock(&gate.mutex);
        while (interrupt_is_due(step)) {
            take_signal();
        }
        replay_grant(thread, step);
        pthread_mutex_unlock(&gate.mutex);
    }
}

/* ---- between two points ---- */

static bool between_is_due(int64_t step)
{
    return next.exists && next.kind == ENTRY_BETWEEN && next.step == step;
}

/* The running thread has come to where it was left for another. */
void replay_stop_between(Thread *thread)
{
    int64_t step = gate_step();
    if (gate.active && gate.holder == thread && between_is_due(step)) {
        Thread *successor = target(step);
        read_entry();
        gate_preempt(thread, successor);
        replay_settle(thread);
    }
}

/* It has not come there, but to its next point: as if that were not reached yet. */
static int64_t stop_before_point(Thread *thread, int64_t step)
{
    if (between_is_due(step - 1)) {
        place_give_up();
        thread->budget++;
        replay_stop_between(thread);
        thread->budget--;
        step = gate_step();
    }
    return step;
}

/* What happened in between two points of the running thread. */
void replay_settle(Thread *thread)
{
    if (gate.active && gate.holder == thread && thread->index != 0) {
        take_interrupts(thread, gate_step());
    }
    if (gate.active && gate.holder == thread && steal_is_due(gate_step())) {
        steal(thread, gate_step());
    }
    if (gate.active && gate.holder == thread && between_is_due(gate_step()) &&
        !place_is_sought(thread)) {
        place_seek(thread, next.place, next.left);
    }
}

/* The main thread was parked when it was interrupted, so not at this point. */
static bool is_obeyed_at_points(const Thread *thread)
{
    return next.kind == ENTRY_COLLECT || next.kind == ENTRY_SIGNAL || next.kind == ENTRY_PREEMPT ||
           (next.kind == ENTRY_INTERRUPT && thread->index != 0);
}

/* ---- deaths ---- */

/* Is it one that has a point of its own? */
static bool is_death(const Entry *entry)
{
    return entry->exists && entry->kind == ENTRY_COLLECT &&
           (entry->argument == GENERATIONS + DEATH_DIED ||
            entry->argument == GENERATIONS + DEATH_SWEPT ||
            entry->argument == GENERATIONS + DEATH_CALLED ||
            entry->argument == GENERATIONS + DEATH_FINALIZED);
}

static bool is_collection(const Entry *entry)
{
    return !HAS_GIL && gate.has_lanes && entry->kind == ENTRY_COLLECT &&
           entry->argument < GENERATIONS;
}

/* Something has died, so that whatever the recording has of deaths here is due now. If it is the
 * last thing that the thread does, others that come first are due as well. */
void replay_deaths(Thread *thread, bool is_last)
{
    while (gate.active && gate.holder == thread && next.exists && next.step == gate_step() + 1 &&
           (is_death(&next) || (is_last && is_obeyed_at_points(thread)))) {
        thread->dies = true;
        tick(thread);
    }
}

static void obey_collect(Thread *thread, int64_t step)
{
    Entry entry = next;
    read_entry();
    replay_grant(thread, step);
    if (entry.argument < GENERATIONS) {
        collect_now(entry.argument);
    }
    else {
        deaths_obey(thread, (enum Death)(entry.argument - GENERATIONS), entry.number);
    }
}

static void obey(Thread *thread, int64_t step)
{
    switch (next.kind) {
    case ENTRY_COLLECT: obey_collect(thread, step); break;
    case ENTRY_SIGNAL:
    case ENTRY_INTERRUPT:
        take_signal();
        replay_grant(thread, step);
        break;
    default: {
        Thread *successor = target(step);
        read_entry();
        gate_preempt(thread, successor);
    }
    }
}

/* Before anything that the recording has at this step. */
static void stop_here(Thread *thread, int64_t step)
{
    if (gate.stop_step >= 0 && step >= gate.stop_step) {
        gate.stop_step = -1;
        checkpoint_stop(STOPPED_AT_STEP);
        replay_grant(thread, step);
    }
}

int replay_point(Thread *thread, int64_t step)
{
    bool dies = thread->dies;
    thread->dies = false;
    step = stop_before_point(thread, step);
    stop_here(thread, step);
    while (next.exists && next.step == step && is_obeyed_at_points(thread)) {
        bool was_death = is_death(&next), was_collection = is_collection(&next);
        obey(thread, step);
        if (thread->away) { /* robbed as soon as it had the baton again */
            return signals_run(thread);
        }
        if (was_death && dies) {
            return 0;
        }
        if (was_death || was_collection) { /* which had the point for itself: this is the next */
            thread->budget--;
        }
        step = gate_step();
    }
    int64_t until = next.exists ? next.step : gate.settings.last_step;
    if (until >= 0 && until < step) {
        stray("point", step);
    }
    replay_grant(thread, step);
    replay_settle(thread);
    return signals_run(thread);
}

Thread *replay_yield_target(Thread *thread, int64_t step)
{
    (void)thread;
    while (interrupt_is_due(step)) {
        take_signal();
    }
    if (next.exists && next.kind == ENTRY_END && next.argument == ENDED_IN_DEADLOCK &&
        next.step == step) {
        report_deadlock();
    }
    if (!next.exists || next.kind != ENTRY_YIELD || next.step != step) {
        stray("wait", step);
    }
    Thread *successor = target(step);
    read_entry();
    return successor;
}

static void __attribute__((noreturn)) disagree(const char *reason, uint64_t site, int32_t thread,
                                               uint64_t object, int64_t was_step, uint32_t here,
                                               uint32_t is_object, int64_t step)
{
    char expected[160], actual[4096];
    const Site *site_now = site_get(here);
    snprintf(expected, sizeof expected, "operation\t%llu\t%d\t%llu\t%lld", (unsigned long long)site,
             thread, (unsigned long long)object, (long long)was_step);
    snprintf(actual, sizeof actual, "operation\t%u\t%d\t%u\t%lld\t%s\t%u\t%s", site_now->kind,
             me->index, is_object, (long long)step, site_string(site_now->file), site_now->line,
             site_string(site_now->function));
    report_divergence(reason, step, expected, actual);
}

/* Sites are compared in full the first time each is met, by number from then on. */
static bool is_same_site(uint64_t recorded, uint32_t site)
{
    if (recorded != site) {
        return false;
    }
    if (site > verified_sites) {
        if (!site_agrees(site)) {
            return false;
        }
        verified_sites = site;
    }
    return true;
}

/* A log that was cut off by the death of the process simply ends, */
static void require(const Cursor *cursor)
{
    if (gate.settings.is_cut && cursor->at >= cursor->end) {
        run_out();
    }
}

/* perhaps inside an entry. */
static void require_whole(const Cursor *cursor)
{
    if (gate.settings.is_cut && cursor->broken) {
        run_out();
    }
}

void replay_check(enum Operation kind, uint32_t site, uint32_t object, int64_t step)
{
    (void)kind;
    Cursor *cursor = &cursors[STREAM_OPERATIONS];
    require(cursor);
    uint64_t head = cursor_varint(cursor);
    int32_t was_thread = head & 4 ? (int32_t)cursor_varint(cursor) : last_operation.thread;
    uint32_t was_object =
        (uint32_t)((int64_t)last_operation.object + (head & 2 ? cursor_zigzag(cursor) : 0));
    int64_t was_step = last_operation.step + (head & 1 ? (int64_t)cursor_varint(cursor) : 1);
    require_whole(cursor);
    const char *reason = cursor->broken                   ? "end"
                         : !is_same_site(head >> 3, site) ? "operation"
                         : was_object != object           ? "object"
                         : was_thread != me->index        ? "thread"
                         : was_step != step               ? "step"
                                                          : NULL;
    if (reason != NULL) {
        disagree(reason, head >> 3, was_thread, was_object, was_step, site, object, step);
    }
    last_operation.thread = was_thread;
    last_operation.object = was_object;
    last_operation.step = was_step;
    replay_settle(me);
}

void replay_close(void)
{
    int64_t step = gate_step();
    bool as_recorded = next.exists && next.kind == ENTRY_END && next.argument == ENDED_NORMALLY &&
                       next.step == step;
    if (!as_recorded) {
        stray("end", step);
    }
}

void replay_require_input(void)
{
    if (!gate.is_parallel) {
        require(&cursors[STREAM_INPUTS]);
    }
}

static void __attribute__((noreturn)) other_input(const char *was, const char *is)
{
    char expected[160], actual[160];
    snprintf(expected, sizeof expected, "input\t%s", was);
    snprintf(actual, sizeof actual, "input\t%s", is);
    report_divergence("input", gate_step(), expected, actual);
}

void replay_bad_input(const char *what)
{
    require_whole(inputs_cursor());
    other_input("an outcome that can be had again", what);
}

/* The calls of a replay are numbered as those of the recording. */
void replay_other_input(uint64_t recorded, uint64_t now)
{
    other_input(call_name(recorded), call_name(now));
}

int64_t replay_clock(uint64_t clock)
{
    if (gate.is_parallel) {
        return obey_clock(me, clock);
    }
    Cursor *cursor = &cursors[STREAM_CLOCK];
    require(cursor);
    uint64_t recorded = cursor_varint(cursor);
    int64_t delta = cursor_zigzag(cursor);
    require_whole(cursor);
    if (cursor->broken || recorded != clock) {
        char expected[80], actual[80];
        const char *form = cursor->broken ? "input\tno more readings of a clock" : "clock\t%llu";
        snprintf(expected, sizeof expected, form, (unsigned long long)recorded);
        snprintf(actual, sizeof actual, "clock\t%llu", (unsigned long long)clock);
        report_divergence("clock", gate_step(), expected, actual);
    }
    return last_clock[clock & 15] += delta;
}

/* In a forked child: its own recording begins. */
void replay_forget(void)
{
    next = (Entry){.exists = false};
    memset(&last_operation, 0, sizeof last_operation);
    verified_sites = 0;
    memset(last_clock, 0, sizeof last_clock);
}
