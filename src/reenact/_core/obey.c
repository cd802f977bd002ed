/* A parallel replay: threads run as they like, but wait where their lanes say that something of
 * another thread comes first. The mirror of what parallel.c and lanes.c do while recording.
 *
 * The next entry of a thread's lane is always known, and its budget ends there: between two entries
 * a point costs what it costs in a recording. Nobody has to say how far it is: a position is one
 * word, which others read, and what was done at a position is done when its thread has come to
 * another point. So who waits is woken by nobody, and waits for one thread alone.
 *
 * Lanes are found by the place of their thread in the tree of starts. What comes to pass is
 * compared with the entries; the first difference ends the process (outcome.c). */
#include "core.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SPINS = 2000, NAP_NS = 20000, PATIENCE_NS = 1000000000, PATIENT_TIMES = 20 };

/* A lane as it was recorded: the launcher puts each into one piece, with the recorded number of its
 * thread's parent, and which child of that it is, before it. */
typedef struct {
    Cursor cursor;
    uint64_t parent, ordinal;
    Thread *thread; /* whose it is now; NULL: nobody's yet */
} Part;

static Part *parts;
static uint32_t part_count;
static uint32_t *same_site; /* by recorded number: the site that it was found to be */

/* ---- lanes ---- */

static bool add_part(uint32_t number, const unsigned char *at, const unsigned char *end)
{
    if (number >= part_count) {
        Part *larger = realloc(parts, (number + 1) * sizeof *parts);
        if (larger == NULL) {
            return false;
        }
        memset(larger + part_count, 0, (number + 1 - part_count) * sizeof *parts);
        parts = larger;
        part_count = number + 1;
    }
    Part *part = &parts[number];
    part->cursor = (Cursor){.at = at, .end = end};
    part->parent = cursor_varint(&part->cursor);
    part->ordinal = cursor_varint(&part->cursor);
    return !part->cursor.broken;
}

int obey_begin(void)
{
    const Cursor *all = &cursors[STREAM_LANES];
    for (const unsigned char *at = all->at; at + 12 <= all->end;) {
        uint32_t header[3];
        memcpy(header, at, sizeof header);
        bool fits = header[1] >= 12 && header[1] <= (size_t)(all->end - at) && header[2] >= 12 &&
                    header[2] <= header[1] && header[0] < 1 << 20;
        if (!fits || !add_part(header[0], at + 12, at + header[2])) {
            return -1;
        }
        at += header[1];
    }
    same_site = calloc(site_recorded_count() + 1, sizeof *same_site);
    return part_count > 0 && same_site != NULL ? 0 : -1;
}

static void load(Lane *lane, Cursor *cursor)
{
    lane->next = (LaneEntry){.exists = cursor->at < cursor->end};
    if (!lane->next.exists) {
        return;
    }
    uint64_t head = cursor_varint(cursor);
    lane->last += (int64_t)(head >> 3);
    lane->next.position = lane->last;
    lane->next.tag = (enum LaneTag)(head & 7);
    switch (lane->next.tag) {
    case LANE_YIELD:
    case LANE_INPUT: break;
    case LANE_GONE: lane->next.first = cursor_varint(cursor); break;
    default: lane->next.first = cursor_varint(cursor); lane->next.second = cursor_varint(cursor);
    }
    if (lane->next.tag == LANE_OTHER &&
        (lane->next.first == LANE_FINAL || lane->next.first >= LANE_DEATH)) {
        cursor_varint(cursor);
    }
    if (lane->next.tag == LANE_OTHER && lane->next.first == LANE_HINT) {
        cursor_varint(cursor);
        bool has_place = cursor_varint(cursor) != 0;
        has_place ? cursor_varint(cursor) : 0;
    }
    lane->next.exists = !cursor->broken;
}

static bool is_hint(const LaneEntry *entry)
{
    return (entry->tag == LANE_OTHER && entry->first == LANE_HINT) ||
           (entry->tag == LANE_CLOCK && entry->first == TIMES);
}

/* Hints are passed over. */
static void load_next(Thread *thread)
{
    Lane *lane = &thread->lane;
    lane->is_known = true;
    do {
        load(lane, &parts[lane->number].cursor);
    } while (lane->next.exists && is_hint(&lane->next));
}

static LaneEntry *next_of(Thread *thread)
{
    if (!thread->lane.is_known) {
        load_next(thread);
    }
    return &thread->lane.next;
}

/* What is next is not known until it is asked for: an input has no end but that of its value. */
static void pass_over(Thread *thread)
{
    thread->lane.is_known = false;
    parallel_look_within(thread, 1);
}

void obey_adopt(Thread *thread)
{
    uint32_t parent = thread->parent < 0 ? 0 : gate.slots[thread->parent].lane.number;
    thread->lane.number = UINT32_MAX;
    for (uint32_t i = 0; i < part_count; i++) {
        bool is_first = thread->parent < 0 && i == 0;
        if (is_first ||
            (i > 0 && parts[i].parent == parent && parts[i].ordinal == (uint64_t)thread->ordinal)) {
            thread->lane.number = i;
            parts[i].thread = thread;
            break;
        }
    }
    thread->limit = thread->budget = 1;
}

/* ---- what differs ---- */

static void __attribute__((noreturn)) differ(Thread *thread, const char *what)
{
    static const char *const NAMES[] = {
#define AS_TEXT(name, text) text,
        LANE_TAGS(AS_TEXT)};
    const LaneEntry *next = &thread->lane.next;
    char expected[160], actual[160];
    int64_t position = thread_position(thread);
    if (next->exists && next->tag == LANE_OPERATION) {
        snprintf(expected, sizeof expected, "operation\t%llu\t%d\t%llu\t%lld",
                 (unsigned long long)next->first, (int)thread->lane.number,
                 (unsigned long long)next->second >> 1, (long long)next->position);
    }
    else {
        snprintf(expected, sizeof expected, "input\t%s at point %lld of the thread",
                 next->exists ? NAMES[next->tag] : "nothing more", (long long)next->position);
    }
    snprintf(actual, sizeof actual, "input\t%s at point %lld", what, (long long)position);
    report_divergence("operation", position, expected, actual);
}

/* ---- waiting for others ---- */

static bool is_past(const Part *part, int64_t position)
{
    const Thread *other = *(Thread *const volatile *)&part->thread;
    return other != NULL && (atomic_load(&((Thread *)other)->status) == ENDED ||
                             *(volatile int64_t *)&((Thread *)other)->limit -
                                     *(volatile int64_t *)&((Thread *)other)->budget >
                                 position);
}

static void nap(void)
{
    struct timespec time = {0, NAP_NS};
    nanosleep(&time, NULL);
}

static int64_t progress(void)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < gate.state->threads; i++) {
        sum += thread_position(&gate.slots[i]);
    }
    return sum;
}

/* Without the GIL. False if nobody has moved for so long that nobody will. */
static bool wait_for(const Part *part, int64_t position)
{
    for (int turn = 0; turn < SPINS; turn++) {
        if (is_past(part, position)) {
            return true;
        }
        __builtin_ia32_pause();
    }
    int64_t seen = progress(), since_ns = real_ns();
    for (int times = 0; !is_past(part, position); nap()) {
        if (real_ns() - since_ns > PATIENCE_NS) {
            times = progress() == seen ? times + 1 : 0;
            seen = progress();
            since_ns = real_ns();
        }
        if (times >= PATIENT_TIMES) {
            return false;
        }
    }
    return true;
}

/* Until another thread has done what it did at a position, or has ended. */
static void await(Thread *thread, uint64_t other, int64_t position)
{
    if (other >= part_count) {
        differ(thread, "a thread that is not there is waited for");
    }
    if (is_past(&parts[other], position)) {
        return;
    }
    bool has_gil = compat_thread_state() != NULL;
    PyThreadState *tstate = has_gil ? PyEval_SaveThread() : NULL;
    bool came = wait_for(&parts[other], position);
    if (has_gil) {
        PyEval_RestoreThread(tstate);
    }
    if (!came) {
        differ(thread, "another thread does not come to where it was");
    }
}

/* Entries that say what comes first. */
static bool is_edge(Thread *thread, const LaneEntry *next)
{
    int64_t *known =
        next->tag == LANE_AFTER ? lane_known(&thread->lane, (int32_t)next->first) : NULL;
    if (next->tag == LANE_GONE) {
        await(thread, next->first, INT64_MAX - 1);
    }
    else if (known != NULL) {
        *known += (int64_t)next->second;
        await(thread, next->first, *known);
    }
    else {
        return false;
    }
    return true;
}

/* ---- points ---- */

static void obey(Thread *thread, const LaneEntry *entry)
{
    uint64_t argument = entry->second;
    if (entry->first == LANE_COLLECT) {
        collect_now(argument);
        thread->budget -= !HAS_GIL; /* it had the point for itself */
    }
    else if (entry->first == LANE_SIGNAL) {
        thread->signals |= 1ULL << (argument & 63);
    }
}

static bool is_obeyed(const LaneEntry *next)
{
    return next->tag == LANE_OTHER && next->first != LANE_CLOSE;
}

/* The thread has come to a point: all that must come first, up to what it will do itself. */
int obey_point(Thread *thread)
{
    int64_t position = thread_position(thread);
    LaneEntry *next = next_of(thread);
    while (next->exists && next->position <= position) {
        LaneEntry entry = *next;
        if (entry.position < position && entry.tag != LANE_WAIT && entry.tag != LANE_AFTER &&
            entry.tag != LANE_GONE && !is_obeyed(&entry)) {
            differ(thread, "a point");
        }
        if (!is_edge(thread, &entry) && !is_obeyed(&entry) && entry.tag != LANE_WAIT) {
            break;
        }
        load_next(thread);
        if (entry.tag == LANE_OTHER) {
            obey(thread, &entry);
            position = thread_position(thread);
        }
    }
    int64_t until = !next->exists               ? position + (1LL << 40)
                    : next->position > position ? next->position
                                                : position + 1;
    thread->budget = until - position; /* in this order: it never looks further than it is */
    atomic_signal_fence(memory_order_seq_cst);
    thread->limit = until;
    return signals_run(thread);
}

/* Beyond the end of its lane: when the run ended, this thread was still going. */
static void rest(void)
{
    PyThreadState *tstate = PyEval_SaveThread();
    while (gate.active) {
        nap();
    }
    PyEval_RestoreThread(tstate);
}

/* The entry that the thread's own doing must be, with what comes before it. */
static LaneEntry take(Thread *thread, enum LaneTag tag, const char *what)
{
    LaneEntry *next = next_of(thread);
    while (next->exists && (next->tag == LANE_WAIT || is_edge(thread, next)) && tag != LANE_WAIT) {
        load_next(thread);
    }
    if (!next->exists && thread->index != 0) {
        rest();
    }
    else if (!next->exists || next->tag != tag) {
        differ(thread, what);
    }
    LaneEntry entry = *next;
    pass_over(thread);
    return entry;
}

void obey_operation(Thread *thread, uint32_t site)
{
    LaneEntry entry = take(thread, LANE_OPERATION, "an operation");
    thread->lane.operations++;
    uint64_t recorded = entry.first;
    if (recorded == 0 || recorded > site_recorded_count()) {
        return;
    }
    if (same_site[recorded] == 0 && site_is(site, (uint32_t)recorded)) {
        same_site[recorded] = site;
    }
    if (same_site[recorded] != site && !site_is(site, (uint32_t)recorded)) {
        thread->lane.next = entry;
        differ(thread, "another operation");
    }
}

void obey_yield(Thread *thread)
{
    take(thread, LANE_YIELD, "a wait outside");
}

Cursor *obey_input(Thread *thread)
{
    take(thread, LANE_INPUT, "an input");
    return obey_cursor(thread);
}

Cursor *obey_cursor(Thread *thread)
{
    return &parts[thread->lane.number].cursor;
}

int64_t obey_clock(Thread *thread, uint64_t clock)
{
    LaneEntry entry = take(thread, LANE_CLOCK, "a clock");
    if (entry.first != clock) {
        thread->lane.next = entry;
        differ(thread, "another clock");
    }
    int64_t since = (int64_t)(entry.second >> 1) ^ -(int64_t)(entry.second & 1);
    return thread->lane.clocks[clock & 15] += since;
}

/* Whether a wait ends without what it waits for, as it did. What comes before was waited for at the
 * point: here the object is held. */
bool obey_wait(Thread *thread)
{
    LaneEntry *next = next_of(thread);
    while (next->exists && next->tag == LANE_WAIT) {
        load_next(thread);
    }
    uint32_t kind = next->exists && next->tag == LANE_OPERATION
                        ? site_recorded_kind((uint32_t)next->first)
                        : OP_NONE;
    return kind == OP_SLEEP || kind == OP_ACQUIRE_TIMEOUT || kind == OP_GET_TIMEOUT ||
           kind == OP_JOIN_TIMEOUT;
}

/* The thread is about to be gone: whoever finds that it is not goes first. */
void obey_gone(Thread *thread)
{
    LaneEntry *next = next_of(thread);
    while (next->exists && is_edge(thread, next)) {
        load_next(thread);
    }
}
