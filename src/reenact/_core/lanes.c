/* Lanes: what each thread of a parallel run did, in a list of its own.
 *
 * The parallel engine (parallel.c) lets threads run as they like, and so nothing may be written by
 * all of them to one place. A lane is a sequence of entries, each at a *position* of its thread:
 * how many points the thread has passed. What must come before an entry is said by others in front
 * of it, `after` and `gone`; whatever needs no such entry is left out, which is most (iReplayer has
 * a list for each thread and one for each object; here the second is in the first, as edges). The
 * bytes of all lanes lie in one stream, in chunks:
 *
 *     chunk := 4 bytes thread, 4 bytes size, 4 bytes used (all with this header), entries
 *
 * An entry is a varint, the position since the entry before shifted by three, with a tag (core.h:
 * LANE_TAGS); then varints by tag. Of the tag `other` the first is a kind (enum LaneOther), which
 * an argument follows. From LANE_FLOW on, the kinds are intervals of accesses (flow.c), which have
 *
 *     interval := location, whose, length, [write], [source], hint
 *     whose    := how far back from the position of the entry its last access was;
 *                 with FLOW_OF_OTHER the thread, and the position of its last access
 *     length   := from the first access to the last, in positions
 *     write    := with FLOW_WRITES: from the last write to the last access
 *     source   := with FLOW_HAS_SOURCE, the write that the first access saw: thread + 1, or 0 for
 *                 none; unless that is 0, its position since the last one in this lane that was a
 *                 source of the same thread's, -1 at first (zigzag)
 *     hint     := when it began, since the hint before it in this lane, 0 at first (zigzag)
 *
 * and LANE_HINT has a thread and a position of it, which seem to have come before, and the place
 * after that where the thread was (shifts.c): the number of its code and an offset, or 0.
 * LANE_SWEEP begins a collection that the program asked for. From LANE_DEATH on, the kinds are
 * deaths (deaths.c), which have the thread that made a weak reference, and how many before it.
 *
 * docs/format.md has the entries. Read back by recordings/lanes.py. */
#include "core.h"
#include <stdlib.h>
#include <string.h>

enum {
    FIRST_CHUNK = 512,
    LARGEST_CHUNK = 1 << 16,
    CHUNK_HEADER = 12,
    LONGEST_ENTRY = 48,
    LONGEST_FLOW = 96,
    TIME_SHIFT = 5 /* of the processor's counter: some ten nanoseconds */
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* of the stream of lanes */

/* The next chunk of a lane, with room for so many bytes; what is left of the one before is lost. */
int lane_grow(Stream *stream, size_t size)
{
    size_t wanted = stream->mapped == 0 ? FIRST_CHUNK : stream->mapped * 2;
    wanted = wanted > LARGEST_CHUNK ? LARGEST_CHUNK : wanted;
    stream->mapped = wanted;
    wanted = size + CHUNK_HEADER > wanted ? (size + CHUNK_HEADER + 7) & ~(size_t)7 : wanted;
    pthread_mutex_lock(&mutex);
    unsigned char *chunk = stream_reserve(&streams[STREAM_LANES], wanted);
    if (chunk != NULL) {
        uint32_t header[] = {(uint32_t)stream->fd, (uint32_t)wanted, CHUNK_HEADER};
        memcpy(chunk, header, sizeof header);
        stream_advance(&streams[STREAM_LANES], wanted);
    }
    pthread_mutex_unlock(&mutex);
    if (chunk == NULL) {
        return -1;
    }
    stream->base = chunk;
    stream->at = chunk + CHUNK_HEADER;
    stream->end = chunk + wanted;
    return 0;
}

void lane_open(Thread *thread)
{
    thread->lane = (Lane){.stream = {.fd = thread->index, .is_lane = true},
                          .recent = calloc(RECENT_SITES, sizeof(RecentSite)),
                          .locked = HAS_GIL ? NULL : calloc(MOST_LOCKED, sizeof(Turn *))};
}

static uint64_t head(Thread *thread, enum LaneTag tag)
{
    int64_t position = thread_position(thread), since = position - thread->lane.last;
    thread->lane.last = position;
    return (uint64_t)since << 3 | (uint64_t)tag;
}

/* Entries appear whole: a process may be killed at any instruction. */
static void put(Thread *thread, enum LaneTag tag, int fields, uint64_t first, uint64_t second)
{
    Stream *stream = &thread->lane.stream;
    unsigned char *start = stream_reserve(stream, LONGEST_ENTRY);
    if (start == NULL) {
        return;
    }
    unsigned char *at = put_varint(start, head(thread, tag));
    at = fields > 0 ? put_varint(at, first) : at;
    at = fields > 1 ? put_varint(at, second) : at;
    stream_advance(stream, (size_t)(at - start));
}

static uint64_t zigzag(int64_t value)
{
    return ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);
}

void lane_clock(Thread *thread, uint64_t clock, int64_t value)
{
    int64_t *last = &thread->lane.clocks[clock & 15], since = value - *last;
    *last = value;
    put(thread, LANE_CLOCK, 2, clock, zigzag(since));
}

/* What comes next was now. With a GIL hints say more (shifts.c), and so do accesses. */
static void tell_time(Thread *thread)
{
    bool is_sync = gate.settings.order == ORDER_SYNC || gate.settings.order == ORDER_COLD;
    if (!HAS_GIL && is_sync && gate.state->threads > 1) {
        lane_clock(thread, TIMES, (int64_t)(__builtin_ia32_rdtsc() >> TIME_SHIFT));
    }
}

/* Of threads the index, of other objects the number. */
static uint64_t name_of(const Object *object)
{
    return object == NULL ? 0 : (uint64_t)object->id << 1 | (object->kind == OBJECT_THREAD);
}

void lane_operation(Thread *thread, uint32_t site, const Object *object)
{
    thread->lane.operations++;
    thread->lane.waits = false;
    tell_time(thread);
    put(thread, LANE_OPERATION, 2, site, name_of(object));
}

/* The position that is kept of another thread, -1 at first. */
static int64_t *kept_of(int32_t other, int64_t **kept, uint32_t *kept_room)
{
    if ((uint32_t)other >= *kept_room) {
        uint32_t room = (uint32_t)other * 2 + 8;
        int64_t *larger = realloc(*kept, room * sizeof *larger);
        if (larger == NULL) {
            return NULL;
        }
        memset(larger + *kept_room, 0xff, (room - *kept_room) * sizeof *larger);
        *kept = larger;
        *kept_room = room;
    }
    return &(*kept)[other];
}

/* Up to where another thread is known to come before; NULL if there is no memory. */
int64_t *lane_known(Lane *lane, int32_t other)
{
    return kept_of(other, &lane->known, &lane->known_room);
}

/* What comes next comes after what another thread did at a position, unless that is known. */
void lane_after(Thread *thread, Deed moment)
{
    if (moment.thread < 0 || moment.thread == thread->index) {
        return;
    }
    int64_t *before = lane_known(&thread->lane, moment.thread);
    if (before == NULL || *before >= moment.position) {
        return;
    }
    put(thread, LANE_AFTER, 2, (uint64_t)moment.thread, (uint64_t)(moment.position - *before));
    *before = moment.position;
}

void lane_gone(Thread *thread, int32_t other)
{
    int64_t *before = lane_known(&thread->lane, other);
    if (before != NULL && *before < INT64_MAX) {
        put(thread, LANE_GONE, 1, (uint64_t)other, 0);
        *before = INT64_MAX;
    }
}

void lane_wait(Thread *thread, uint32_t site, const Object *object)
{
    if (!thread->lane.waits) {
        thread->lane.waits = true;
        put(thread, LANE_WAIT, 2, site, name_of(object));
    }
}

void lane_yield(Thread *thread)
{
    put(thread, LANE_YIELD, 0, 0, 0);
}

void lane_other(Thread *thread, enum LaneOther kind, uint64_t argument)
{
    put(thread, LANE_OTHER, 2, kind, argument);
}

/* Where another thread was when this one closed the gate. */
void lane_final(Thread *thread, const Thread *other)
{
    lane_other(thread, LANE_FINAL, (uint64_t)other->index);
    int64_t position = thread_position(other) - turns_is_halted(other);
    stream_varint(&thread->lane.stream, (uint64_t)(position < 0 ? 0 : position));
}

/* What another thread did at a position seems to have come before; unless that is known. */
void lane_hint(Thread *thread, Deed moment, Halt place)
{
    const int64_t *known = lane_known(&thread->lane, moment.thread);
    bool is_known = known != NULL && *known >= moment.position && place.code == 0;
    if (moment.position < 0 || is_known) {
        return;
    }
    unsigned char *start = stream_reserve(&thread->lane.stream, LONGEST_ENTRY);
    if (start == NULL) {
        return;
    }
    unsigned char *at = put_varint(start, head(thread, LANE_OTHER));
    at = put_varint(at, LANE_HINT);
    at = put_varint(at, (uint64_t)moment.thread);
    at = put_varint(at, (uint64_t)moment.position);
    at = put_varint(at, place.code);
    at = place.code != 0 ? put_varint(at, place.offset) : at;
    stream_advance(&thread->lane.stream, (size_t)(at - start));
}

void lane_death(Thread *thread, enum Death death, uint64_t number)
{
    unsigned char *start = stream_reserve(&thread->lane.stream, LONGEST_ENTRY);
    if (start == NULL) {
        return;
    }
    unsigned char *at = put_varint(start, head(thread, LANE_OTHER));
    at = put_varint(at, (uint64_t)LANE_DEATH + (uint64_t)death);
    at = put_varint(at, number & ((1 << REFERENCE_THREAD_BITS) - 1));
    at = put_varint(at, number >> REFERENCE_THREAD_BITS);
    stream_advance(&thread->lane.stream, (size_t)(at - start));
}

static unsigned char *put_source(unsigned char *at, Lane *lane, Deed source)
{
    at = put_varint(at, (uint64_t)(source.thread + 1));
    int64_t *last =
        source.thread < 0 ? NULL : kept_of(source.thread, &lane->named, &lane->named_room);
    if (last != NULL) {
        at = put_varint(at, zigzag(source.position - *last));
        *last = source.position;
    }
    return at;
}

/* An interval of this thread's accesses, or of one that cannot tell it itself. */
void lane_flow(Thread *thread, const Interval *interval)
{
    Lane *lane = &thread->lane;
    unsigned char *start = stream_reserve(&lane->stream, LONGEST_FLOW);
    if (start == NULL) {
        return;
    }
    bool is_own = interval->thread == thread->index, writes = interval->write >= 0;
    uint64_t bits = (interval->has_source ? FLOW_HAS_SOURCE : 0) | (writes ? FLOW_WRITES : 0) |
                    (is_own ? 0 : FLOW_OF_OTHER);
    unsigned char *at = put_varint(start, head(thread, LANE_OTHER));
    at = put_varint(at, LANE_FLOW + bits);
    at = put_varint(at, interval->location);
    if (is_own) {
        at = put_varint(at, (uint64_t)(thread_position(thread) - interval->last));
    }
    else {
        at = put_varint(at, (uint64_t)interval->thread);
        at = put_varint(at, (uint64_t)interval->last);
    }
    at = put_varint(at, (uint64_t)(interval->last - interval->first));
    at = writes ? put_varint(at, (uint64_t)(interval->last - interval->write)) : at;
    at = interval->has_source ? put_source(at, lane, interval->source) : at;
    at = put_varint(at, zigzag((int64_t)(interval->hint - lane->hint)));
    lane->hint = interval->hint;
    stream_advance(&lane->stream, (size_t)(at - start));
}

/* Where inputs go: with the parallel engine into the lane of who takes them. */
Stream *inputs_stream(void)
{
    return gate.is_parallel ? &me->lane.stream : &streams[STREAM_INPUTS];
}

/* Where they come from in a replay. */
Cursor *inputs_cursor(void)
{
    return gate.is_parallel ? obey_cursor(me) : &cursors[STREAM_INPUTS];
}

/* Calls to the outside come in an order, too: the numbers of descriptors depend on it. */
static Object outside = {.kind = OBJECT_NOTHING, .latest = {.thread = -1}};

/* In a forked process, where none of the threads of these lanes are. */
void lanes_forget(void)
{
    pthread_mutex_init(&mutex, NULL);
    outside.held = 0;
    outside.latest = (Deed){.thread = -1};
}

static void come_outside(Thread *thread)
{
    lane_after(thread, outside.latest);
    outside.latest = (Deed){thread->index, thread_position(thread)};
}

/* The thread is about to close a descriptor, whose number others may have next. */
void lane_closes(Thread *thread)
{
    if (gate.is_parallel && gate.settings.mode == MODE_RECORD) {
        object_hold(&outside);
        come_outside(thread);
        object_let_go(&outside);
    }
}

Stream *inputs_begin(void)
{
    if (gate.is_parallel) {
        object_hold(&outside);
        come_outside(me);
        tell_time(me);
        put(me, LANE_INPUT, 0, 0, 0);
        object_let_go(&outside);
    }
    return inputs_stream();
}
