/* Who runs next in a run of a search: the strategies that need no Python.
 *
 * search_choose is asked at every operation, at every access that may race, and whenever a thread
 * cannot go on. It gathers the threads that could make a step, lets the strategy pick one, and
 * notes the step. First come the choices that the run was given (a prefix, or switches at certain
 * positions); what follows is the strategy's:
 *   first   the running thread goes on; else the one that was started first
 *   random  any, with equal chance
 *   pct     the one of highest priority; at d-1 random steps the running thread's is lowered
 *           (Burckhardt et al., ASPLOS 2010)
 *   pos     each pending operation has a random priority, drawn again when an operation that it
 *           depends on is done (Yuan, Yang, Gu, CAV 2018)
 *   delay   as first, but at d random steps the thread whose turn it is is passed over
 *           (Emmi, Qadeer, Rakamaric, POPL 2011)
 *
 * Called by the holder of the baton or under gate.mutex, perhaps without the GIL: no Python here.
 */
#include "core.h"
#include <string.h>

enum { MOST_CANDIDATES = 1024, PATIENCE = 300 };

Search search;
Run *run;
bool search_finishes;

uint64_t search_random(void)
{
    uint64_t z = search.random += 0x9E3779B97F4A7C15ULL;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
}

/* What the program takes for random is the same in every run of a search. */
void search_fill(char *bytes, size_t size)
{
    uint64_t ours = search.random;
    search.random = search.drawn += 0x9E3779B97F4A7C15ULL;
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (char)search_random();
    }
    search.random = ours;
}

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t z = (a ^ (b + 0x9E3779B97F4A7C15ULL + (a << 6) + (a >> 2))) * 0xBF58476D1CE4E5B9ULL;
    return z ^ (z >> 29);
}

/* ---- what could happen next ---- */

/* At its point, with nothing else to do than to wait. */
static bool is_blocked(const Thread *thread)
{
    return thread->explored.blocks != NULL && !is_free_for(thread->explored.blocks) &&
           !search.aborting;
}

/* The earliest deadline that only comes when nothing else can happen. */
static int64_t horizon(void)
{
    int64_t earliest = INT64_MAX;
    for (uint32_t i = 0; i < gate.state->threads; i++) {
        const Thread *thread = &gate.slots[i];
        if (thread->status == WAITING && thread->timed && thread->explored.is_patient &&
            thread->deadline_ns < earliest) {
            earliest = thread->deadline_ns;
        }
    }
    return earliest;
}

/* Waits that may end by their deadlines now, though others could run. In the order of their
 * deadlines: whoever takes the first one lets time pass as it would. */
static size_t gather_timers(Thread **candidates, size_t count)
{
    if (gate.timed == 0 || !gate.is_virtual || search.is_settling) {
        return count;
    }
    int64_t limit = horizon();
    size_t first = count;
    for (uint32_t i = 0; i < gate.state->threads && count < MOST_CANDIDATES; i++) {
        Thread *thread = &gate.slots[i];
        if (thread->status == WAITING && thread->timed && !thread->explored.is_patient &&
            thread->deadline_ns < limit) {
            size_t at = count++;
            for (; at > first && candidates[at - 1]->deadline_ns > thread->deadline_ns; at--) {
                candidates[at] = candidates[at - 1];
            }
            candidates[at] = thread;
        }
    }
    return count;
}

Thread *search_earliest_timer(void)
{
    Thread *earliest = NULL;
    for (uint32_t i = 0; gate.timed > 0 && gate.is_virtual && i < gate.state->threads; i++) {
        Thread *thread = &gate.slots[i];
        if (thread->status == WAITING && thread->timed &&
            (earliest == NULL || thread->deadline_ns < earliest->deadline_ns)) {
            earliest = thread;
        }
    }
    return earliest;
}

/* In the order of their slots, the running thread first. */
static size_t gather(Thread *running, Thread **candidates)
{
    size_t count = 0;
    queue_sift();
    if (gate.watching > 0) {
        ready_look();
    }
    if (running != NULL && !is_blocked(running)) {
        candidates[count++] = running;
    }
    size_t first = count;
    for (Thread *thread = gate.run_first; thread != NULL && count < MOST_CANDIDATES;
         thread = thread->run_next) {
        if (is_blocked(thread)) {
            continue;
        }
        size_t at = count++;
        for (; at > first && candidates[at - 1]->index > thread->index; at--) {
            candidates[at] = candidates[at - 1];
        }
        candidates[at] = thread;
    }
    return count;
}

/* A thread that waits may go on, as if its deadline had come. */
void search_free(Thread *thread)
{
    if (thread->status == WAITING) {
        thread->expired = true;
        thread->status = READY;
        queue_push(thread);
    }
}

/* The thread that lets the others come to rest goes on. */
static Thread *end_settling(void)
{
    Thread *root = &gate.slots[search.root];
    search_free(root);
    search.is_settling = false;
    return root;
}

/* Nothing is enabled: somebody goes on to its wait, time passes, or nobody can do anything. */
static Thread *last_resort(Thread *running)
{
    if (running != NULL) {
        return running;
    }
    if (gate.run_first != NULL) {
        return gate.run_first;
    }
    if (search.is_settling) {
        return end_settling();
    }
    return gate.outside + gate.abroad > 0 ? NULL : search_earliest_timer();
}

/* ---- the strategies ---- */

static uint64_t priority_of(Thread *thread)
{
    if (!thread->explored.has_priority) {
        thread->explored.has_priority = true;
        thread->explored.priority =
            search.kind == SEARCH_POS
                ? search_random() | 1ULL << 63
                : mix(search.random ^ search.number, thread->explored.identity) | 1ULL << 63;
    }
    return thread->explored.priority;
}

static bool is_change(uint64_t choice)
{
    for (uint32_t i = 0; i < search.change_count; i++) {
        if (search.changes[i] == choice) {
            return true;
        }
    }
    return false;
}

/* Below all that were not lowered; whoever was lowered later is below. */
static void lower(Thread *thread)
{
    thread->explored.has_priority = true;
    thread->explored.priority = UINT32_MAX - search.lowered++;
}

static Thread *highest(Thread **candidates, size_t count)
{
    Thread *best = candidates[0];
    for (size_t i = 1; i < count; i++) {
        if (priority_of(candidates[i]) > priority_of(best)) {
            best = candidates[i];
        }
    }
    return best;
}

static Thread *by_priority(Thread *running, Thread **candidates, size_t count)
{
    if (search.kind == SEARCH_PCT && running != NULL && is_change(run->choices)) {
        lower(running);
    }
    Thread *best = highest(candidates, count);
    bool is_hogging = best == running && best->explored.consecutive > PATIENCE;
    bool yields = best->status == WAITING; /* its deadline passes: it polls, perhaps for ever */
    if (is_hogging || yields) {
        lower(best);
    }
    return is_hogging ? highest(candidates, count) : best;
}

/* Deadlines come last, the earliest first; a thread that has run for long lets another one run. */
static Thread *by_order(Thread *running, Thread **candidates, size_t count, bool skips)
{
    bool is_led = search.follows && (search.expects || search.switch_at < search.switch_count);
    bool stays = candidates[0] == running && (is_led || running->explored.consecutive <= PATIENCE);
    size_t first = 0;
    if (!stays && running != NULL) { /* round robin, so that nobody is left out for ever */
        for (size_t i = 0; i < count; i++) {
            if (candidates[i]->index > running->index && candidates[i]->status != WAITING) {
                first = i;
                break;
            }
        }
        if (candidates[first] == running && count > 1 && candidates[1]->status != WAITING) {
            first = 1;
        }
    }
    return candidates[skips ? (first + 1) % count : first];
}

static Thread *pick(Thread *running, Thread **candidates, size_t count)
{
    switch (search.kind) {
    case SEARCH_RANDOM: return candidates[search_random() % count];
    case SEARCH_PCT:
    case SEARCH_POS: return by_priority(running, candidates, count);
    case SEARCH_DELAY: return by_order(running, candidates, count, is_change(run->choices));
    default: return by_order(running, candidates, count, false);
    }
}

/* ---- sleep sets: what was tried from here already need not be tried first again ---- */

bool search_is_dependent(const Thread *thread, uint64_t key, bool writes)
{
    const Track *pending = thread->explored.pending;
    return pending != NULL && key != 0 && pending->run == search.number && pending->key == key &&
           (writes || thread->explored.pending_writes);
}

static void fall_asleep(void)
{
    for (uint32_t i = 0; search.asleep != 0 && i < gate.state->threads && i < 64; i++) {
        gate.slots[i].explored.asleep = (search.asleep >> i) & 1;
    }
    search.asleep = 0;
}

static size_t leave_out_sleepers(Thread **candidates, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (!candidates[i]->explored.asleep) {
            candidates[kept++] = candidates[i];
        }
    }
    return kept;
}

/* The plan is of no more use. What is left behind by a run that is given up in the middle, in a
 * process that makes other runs, can do harm: there it goes on to its end, as it comes. */
static void stray(enum RunReason reason)
{
    if (!search_finishes || log_is_on()) {
        search_abort(reason);
        return;
    }
    run->reason = reason;
    run->useful = run->steps;
    run->finished = true;
    search.prefix_size = 0;
    search.asleep = 0;
    for (uint32_t i = 0; i < gate.state->threads; i++) {
        gate.slots[i].explored.asleep = false;
    }
}

/* ---- choices that were given ---- */

/* A negative index is of a thread that was to be started yet: by its parent, as the how-manieth. */
static bool is_meant(int32_t index, const Thread *thread)
{
    uint32_t unborn = ~(uint32_t)index;
    return index >= 0 ? thread->index == index
                      : thread->parent == (int32_t)(unborn >> 16) &&
                            thread->ordinal == (int32_t)(unborn & 0xFFFF);
}

static Thread *find(int32_t index, Thread **candidates, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (is_meant(index, candidates[i])) {
            return candidates[i];
        }
    }
    return NULL;
}

/* The next switch of those given, if this is its place; those whose place is past are left out. */
static const Switch *next_switch(const Thread *before, enum SwitchKind kind)
{
    int32_t index = before == NULL ? -1 : before->index;
    uint32_t position = before == NULL ? 0 : before->explored.position;
    for (; search.switch_at < search.switch_count; search.switch_at++) {
        const Switch *next = &search.switches[search.switch_at];
        if (next->thread != index || next->position > position) {
            return NULL;
        }
        if (next->position == position) {
            return next->kind == (int32_t)kind ? next : NULL;
        }
    }
    return NULL;
}

static Thread *given(Thread *running, Thread *before, Thread **candidates, size_t count)
{
    if (run->steps + 1 == search.prefix_size) {
        fall_asleep(); /* but for those that depend on this last step */
    }
    if (run->steps < search.prefix_size) {
        Thread *thread = find(search.prefix[run->steps], candidates, count);
        if (thread == NULL) {
            stray(RUN_STALE);
        }
        return thread;
    }
    if (!search.follows) {
        return NULL;
    }
    bool could_stay = running != NULL && candidates[0] == running;
    const Switch *next = next_switch(before, could_stay ? SWITCH_PREEMPTS : SWITCH_FORCED);
    Thread *thread = next == NULL ? NULL : find(next->to, candidates, count);
    if (thread != NULL) {
        search.switch_at++;
        return thread;
    }
    return by_order(running, candidates, count, false);
}

/* ---- a step ---- */

static uint64_t mask_of(Thread **candidates, size_t count)
{
    uint64_t mask = 0;
    for (size_t i = 0; i < count; i++) {
        mask |= candidates[i]->index < 64 ? 1ULL << candidates[i]->index : 0;
    }
    return mask;
}

static uint64_t sleepers(void)
{
    uint64_t mask = 0;
    for (uint32_t i = 0; i < gate.state->threads && i < 64; i++) {
        mask |= (uint64_t)gate.slots[i].explored.asleep << i;
    }
    return mask;
}

static void note_step(Thread *thread, const Thread *before, bool could_stay, uint64_t enabled,
                      size_t count)
{
    const Track *pending = thread->explored.pending;
    if (run->steps < MOST_STEPS) {
        run->trace[run->steps] = (Step){.thread = thread->index,
                                        .op = thread->pending_op,
                                        .writes = thread->explored.pending_writes,
                                        .is_forced = !could_stay,
                                        .waits = thread->explored.pending_waits,
                                        .key = pending == NULL ? 0 : pending->key,
                                        .enabled = enabled,
                                        .site = thread->explored.site,
                                        .position = before == NULL ? 0 : before->explored.position,
                                        .previous = before == NULL ? -1 : before->index,
                                        .count = (int32_t)count,
                                        .asleep = sleepers(),
                                        .joined = thread->explored.joined,
                                        .parent = thread->parent};
        thread->explored.joined = 0;
    }
    run->steps++;
}

/* In a deadlock: what the threads would do next if they could, as steps that nobody chose. */
void search_note_blocked(void)
{
    for (uint32_t i = 0; i < gate.state->threads; i++) {
        Thread *thread = &gate.slots[i];
        if (thread->status == WAITING && thread->explored.pending != NULL) {
            note_step(thread, NULL, false, 0, 0);
        }
    }
}

static void after_step(Thread *thread, Thread *before, bool could_stay)
{
    const Track *pending = thread->explored.pending;
    uint64_t key = pending == NULL ? 0 : pending->key;
    bool writes = thread->explored.pending_writes;
    for (uint32_t i = 0; i < gate.state->threads; i++) {
        Thread *other = &gate.slots[i];
        if (other != thread && key != 0 && search_is_dependent(other, key, writes)) {
            other->explored.asleep = false;
            if (search.kind == SEARCH_POS) {
                other->explored.has_priority = false;
            }
        }
    }
    if (search.kind == SEARCH_POS && thread->explored.priority > UINT32_MAX) {
        thread->explored.has_priority = false;
    }
    if (before != NULL && before != thread) {
        before->explored.consecutive = 0;
        run->preemptions += could_stay;
    }
}

static void end_due_waits(void)
{
    for (uint32_t i = 0; i < gate.state->threads; i++) {
        Thread *thread = &gate.slots[i];
        if (thread->status == WAITING && thread->timed && thread->deadline_ns <= search.clock_ns) {
            thread->expired = true;
            thread->status = READY;
            queue_push(thread);
        }
    }
}

/* Time passes while somebody runs, but not as far as to a deadline that comes last. */
bool search_pass(int64_t ns)
{
    if (search.clock_ns + ns >= horizon()) {
        return false;
    }
    search.clock_ns += ns;
    end_due_waits();
    return true;
}

/* A wait is ended by its deadline, and with it every other one that was to end before. */
bool search_expire(Thread *thread)
{
    if (thread->status != WAITING || !thread->timed) {
        return false;
    }
    if (search.clock_ns < thread->deadline_ns) {
        search.clock_ns = thread->deadline_ns;
    }
    end_due_waits();
    return true;
}

static Thread *choose(Thread *running, Thread **candidates, size_t count, Thread *before)
{
    Thread *chosen = given(running, before, candidates, count);
    if (chosen != NULL || search.aborting) {
        return chosen;
    }
    size_t awake = leave_out_sleepers(candidates, count);
    if (awake == 0) { /* then they all stand where they stood */
        stray(RUN_REDUNDANT);
        if (search.aborting) {
            return NULL;
        }
        awake = count;
    }
    count = awake;
    if (count > 1) {
        chosen = pick(running, candidates, count);
        run->choices++;
    }
    return count > 1 ? chosen : candidates[0];
}

static Thread *any_ready(Thread *running)
{
    return running != NULL ? running : queue_first();
}

/* The thread that makes the next step; the running thread, if there is one, can be it. */
Thread *search_choose(Thread *running)
{
    Thread *candidates[MOST_CANDIDATES];
    Thread *before = running != NULL ? running : gate.holder;
    if (search.aborting) {
        return any_ready(running);
    }
    if (search.is_settling && run->steps >= search.settle_until) {
        end_settling();
    }
    size_t enabled = gather(running, candidates);
    size_t count = gather_timers(candidates, enabled);
    bool could_stay = enabled > 0 && candidates[0] == running;
    Thread *chosen;
    if (enabled == 0 && (count == 0 || running != NULL)) {
        chosen = last_resort(running);
    }
    else {
        uint64_t mask = mask_of(candidates, count);
        size_t all = count;
        chosen = choose(running, candidates, count, before);
        if (search.aborting) {
            return any_ready(running);
        }
        note_step(chosen, before, could_stay, mask, all);
        after_step(chosen, before, could_stay);
        if (all > 1) {
            chosen->explored.consecutive++;
        }
    }
    if (chosen != NULL) {
        search_expire(chosen);
    }
    if ((int64_t)run->steps > search.limit) {
        search_abort(RUN_OVER_LIMIT);
    }
    return chosen;
}

/* Is the garbage to be collected before the running thread's pending operation? Noted as a step. */
bool search_wants_collection(Thread *thread)
{
    bool wanted;
    if (search.follows) {
        wanted = next_switch(thread, SWITCH_COLLECTS) != NULL;
        search.switch_at += wanted;
    }
    else {
        uint64_t length = run->steps < 16 ? 16 : run->steps;
        wanted = search.kind != SEARCH_FIRST && run->steps >= search.prefix_size &&
                 search_random() % length == 0;
    }
    if (wanted && run->steps < MOST_STEPS) {
        run->trace[run->steps++] = (Step){.thread = thread->index,
                                          .op = OP_COLLECT,
                                          .previous = thread->index,
                                          .position = thread->explored.position,
                                          .count = 1};
    }
    return wanted;
}

/* Among things that are no threads: the tasks of an event loop, by their identities. */
size_t search_among(const uint64_t *identities, size_t count)
{
    size_t chosen = 0;
    uint64_t best = 0;
    bool is_forced = run->steps < search.prefix_size;
    bool changes = is_change(run->choices);
    if (is_forced) {
        chosen = (size_t)search.prefix[run->steps] < count ? (size_t)search.prefix[run->steps] : 0;
    }
    else if (search.follows) {
        const Switch *next = next_switch(me, SWITCH_AMONG);
        bool is_next = next != NULL && (size_t)next->to < count;
        chosen = is_next ? (size_t)next->to : 0;
        search.switch_at += is_next;
    }
    else if (search.kind == SEARCH_RANDOM || search.kind == SEARCH_POS) {
        chosen = search_random() % count;
    }
    else if (search.kind == SEARCH_DELAY) {
        chosen = changes ? 1 % count : 0;
    }
    for (size_t i = 0; search.kind == SEARCH_PCT && !is_forced && !search.follows && i < count;
         i++) {
        uint64_t phase = search.changes_done += changes && i == 0;
        uint64_t priority = mix(mix(search.random, phase), identities[i]);
        if (priority > best) {
            best = priority;
            chosen = i;
        }
    }
    if (run->steps < MOST_STEPS) {
        run->trace[run->steps] = (Step){.thread = (int32_t)chosen,
                                        .op = OP_CHOICE,
                                        .previous = me->index,
                                        .position = me->explored.position,
                                        .count = (int32_t)count};
    }
    run->steps++;
    run->choices++;
    run->preemptions += chosen != 0;
    me->explored.hash = mix(me->explored.hash, identities[chosen]);
    return chosen;
}

/* ---- what was done, as a fingerprint of the partial order ---- */

Track *track_of(Object *object)
{
    Track *track = &object->track;
    if (track->run != search.number) {
        *track = (Track){.run = search.number, .key = ++search.keys};
        clock_free(object->clock);
        object->clock = NULL;
    }
    return track;
}

void track_touch(Track *track, Thread *thread, bool writes, uint64_t what)
{
    uint64_t before = mix(thread->explored.hash, what);
    uint64_t after = mix(before, track->hash);
    if (writes) {
        after = mix(after, track->read_hash);
        track->hash = after;
        track->read_hash = 0;
    }
    else {
        track->read_hash += after;
    }
    thread->explored.hash = after;
}

void search_enroll(Thread *thread)
{
    const Thread *parent = &gate.slots[thread->parent < 0 ? 0 : thread->parent];
    thread->explored.identity = mix(parent->explored.identity, (uint64_t)thread->ordinal);
    thread->explored.hash = mix(parent->explored.hash, 1);
    thread->pending_op = OP_BEGIN;
}

void search_done(enum Operation kind, Object *object)
{
    bool reads = kind == OP_LOCKED || kind == OP_JOIN;
    if (object == NULL) {
        return;
    }
    int32_t ended = clocks_ended(kind, object);
    if (ended >= 0 && ended < 64 && ended != me->index) {
        me->explored.joined |= 1ULL << ended;
    }
    if (object->kind == OBJECT_THREAD || !search_is_machinery()) {
        track_touch(track_of(object), me, !reads, (uint64_t)kind);
    }
}
