/* Flow dependences of a parallel run: which write each read saw, and nothing else.
 *
 * After Light (PLDI 2015, algorithm 1): a read notes the last write of its location, once for each
 * thread and write, and writes note no order at all. engine/solve.py finds one in which every read
 * sees its write again. For that it must know of every write, also of one that nobody read, for it
 * must not come between a write and its reads. So accesses are noted as *intervals*, each by one
 * thread to one location (Light's O1), in one of two shapes:
 *
 *     reads of one write, the `source`, from the first of them to the last;
 *     a run of accesses, reads first or not, up to its last write, that no other thread's access
 *     to the location came into; then reads of that write.
 *
 * Why that is enough. Let J and K be two intervals of one location that write, one after the other.
 * No access by another thread came between the first access of K and its last write, so all
 * accesses of J, and all reads of J's last write, come before the first access of K. Nobody but J's
 * thread saw a write of J other than the last, since a read by another ends the run. So any order
 * of the writing intervals, each as a whole, in which the reads of J come before whichever follows
 * J shows every read the write that it saw; and in which an interval that begins with a read
 * follows its source at once. The order of what happened is one. Two blind writes may change
 * places.
 *
 * That holds if a write replaces all that its location holds. A container is one location with all
 * its items, what is not there cannot be deleted, and one place of the table may come to stand for
 * two locations (`is_mixed`); such writes are noted as reads of the write before, too, so that they
 * keep their order. An object at
 * the address of one that is gone is no such case: nobody reads the old one again.
 *
 * Each interval has a hint: when it began, as a number of all threads that need not be exact. What
 * only one thread has accessed so far leaves nothing; who comes second notes the first one's
 * interval. Intervals that are under way are in tables of their threads, and noted when the thread
 * finds that others came in between, when their place is needed and at the end; a process that is
 * killed loses them, but for the dependences themselves, which are noted at once (lane_after).
 *
 * It departs from Light in that a lock's order does not save the accesses that it guards (O2).
 * With a GIL, nobody else runs between a site and the access behind it. */
#include "core.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#define TABLE ((void *)0x2B0000000000ULL)
enum { TABLE_BITS = 20, OPEN_INTERVALS = 1024 };

typedef struct {
    Turn turn;
    uint64_t key;
    Deed write;              /* the last one; of thread -1 before the first */
    Deed run;                /* the first access since the last one by another thread */
    int64_t last;            /* while it is one thread's: its latest access */
    uint64_t hint;           /* likewise: when it began */
    _Atomic uint32_t number; /* in the order in which they were found to be shared; 0 before */
    _Atomic bool is_mixed;
    bool reads_first; /* while it is one thread's */
} Flow;               /* of a location */

static Flow *locations;
static _Atomic uint32_t shared;
static _Atomic uint64_t began; /* intervals */

int flow_begin(void)
{
    locations = mmap(TABLE, sizeof(Flow) << TABLE_BITS, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    return locations == MAP_FAILED ? -1 : 0;
}

/* In a forked process, where none of the threads are whose accesses these were. */
void flow_forget(void)
{
    if (locations != NULL) {
        madvise(locations, sizeof(Flow) << TABLE_BITS, MADV_DONTNEED);
        atomic_store(&shared, 0);
    }
}

static inline uint64_t next_hint(void)
{
    return atomic_fetch_add_explicit(&began, 1, memory_order_relaxed);
}

static inline bool is_same(Deed one, Deed other)
{
    return one.thread == other.thread && one.position == other.position;
}

static void identify(Flow *location, uint64_t key)
{
    if (location->key == 0) {
        location->key = key | 1;
        location->write = location->run = (Deed){.thread = -1};
    }
    else if (location->key != (key | 1)) {
        atomic_store_explicit(&location->is_mixed, true, memory_order_relaxed);
    }
}

Turn *flow_turn(const PyObject *object, const PyObject *name)
{
    return &locations[location_key(object, name) >> (64 - TABLE_BITS)].turn;
}

/* ---- one thread's ---- */

static void own(Flow *location, Deed now, bool reads, bool writes)
{
    if (location->run.thread < 0) {
        location->run = now;
        location->reads_first = reads;
        location->hint = next_hint();
    }
    location->last = now.position;
    location->write = writes ? now : location->write;
}

/* A second thread has come to it. */
static void share(Thread *thread, Flow *location)
{
    location->number = ++shared;
    lane_flow(thread,
              &(Interval){.location = location->number,
                          .thread = location->run.thread,
                          .has_source = location->reads_first,
                          .source = {.thread = -1},
                          .first = location->run.position,
                          .last = location->last,
                          .write = location->write.thread < 0 ? -1 : location->write.position,
                          .hint = location->hint});
}

/* ---- several threads' ---- */

static void begin(Thread *thread, Interval *interval, Flow *location, bool reads)
{
    int64_t position = thread_position(thread);
    *interval = (Interval){.location = location->number,
                           .thread = thread->index,
                           .has_source = reads,
                           .source = location->write,
                           .seen = location->write,
                           .first = position,
                           .last = position,
                           .write = -1,
                           .hint = next_hint()};
    if (reads) {
        lane_after(thread, location->write);
    }
}

static void end(Thread *thread, Interval *interval)
{
    if (interval->location != 0) {
        lane_flow(thread, interval);
        interval->location = 0;
    }
}

static Interval *open_interval(Thread *thread, const Flow *location)
{
    if (thread->lane.open == NULL) {
        thread->lane.open = calloc(OPEN_INTERVALS, sizeof *thread->lane.open);
        if (thread->lane.open == NULL) {
            log_stop(ENOMEM);
            return NULL;
        }
    }
    return &thread->lane.open[location->number % OPEN_INTERVALS];
}

/* Unless it is alone, others may read the location at the same time. */
void flow_note(Thread *thread, const Wanted *wanted, bool is_alone)
{
    Flow *location = (Flow *)wanted->turn;
    identify(location, wanted->key);
    Deed now = {thread->index, thread_position(thread)};
    bool writes = wanted->writes, reads = !writes || wanted->is_update || location->is_mixed;
    if (location->number == 0) {
        if (location->run.thread < 0 || location->run.thread == thread->index) {
            own(location, now, reads, writes);
            return;
        }
        share(thread, location);
    }
    Interval *interval = open_interval(thread, location);
    if (interval == NULL) {
        return;
    }
    if (is_alone && (location->run.thread != thread->index || location->turn.was_shared)) {
        location->run = now;
        location->turn.was_shared = false;
    }
    bool goes_on = interval->location == location->number &&
                   is_same(interval->seen, location->write) &&
                   (!writes || location->run.position <= interval->first);
    if (!goes_on) {
        end(thread, interval);
        begin(thread, interval, location, reads);
    }
    interval->last = now.position;
    if (writes) {
        interval->write = now.position;
        interval->seen = location->write = now;
    }
}

/* The thread is past the point of the access, and about to make it. An update is a write that
 * leaves something of what was there, or fails for want of it. */
void flow_access(Thread *thread, const PyObject *object, const PyObject *name, bool writes,
                 bool is_update)
{
    uint64_t key = location_key(object, name);
    Flow *location = &locations[key >> (64 - TABLE_BITS)];
    bool is_one_threads = atomic_load_explicit(&location->number, memory_order_relaxed) == 0;
    Wanted wanted = {&location->turn,          key,         writes, is_update,
                     writes || is_one_threads, name == NULL};
    if (HAS_GIL) {
        flow_note(thread, &wanted, true);
    }
    else {
        turns_want(thread, wanted);
    }
}

/* The thread accesses nothing any more; told in its own lane, or that of whoever closes the run. */
void flow_end(Thread *thread, const Thread *of)
{
    for (uint32_t i = 0; of->lane.open != NULL && i < OPEN_INTERVALS; i++) {
        end(thread, &of->lane.open[i]);
    }
}
