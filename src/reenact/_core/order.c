/* The order of accesses in a parallel run: which ones of other threads each must come after.
 *
 * After Ditto (a thesis of 2012): loads come after the store that they see, stores after the store
 * and the loads before them, and whatever the order of a thread's own doings or an earlier
 * constraint says already is left out. It departs from Ditto in what is written down. There every
 * access notes how often its location was stored to and loaded from, and a replay counts again, for
 * which it must know locations: in Python by address, which differs from run to run. Here what is
 * noted are the constraints themselves, each as a thread and a position of it, so that a location
 * needs no name beyond this run. Accesses without a constraint leave nothing, however many come one
 * after the other (Ditto's free runs).
 *
 * A location is an object and a name, or a container with all its items, found by a hash of both:
 * two that share a place in the table are taken for one, and so is an object with what lies at its
 * address later. That adds constraints, and every one of them holds.
 *
 * With a GIL, nobody else runs between a site and the access behind it. Without, locations are
 * owned, by one thread or by all that read (after Octet; Bond and others, OOPSLA 2013): turns.c. */
#include "core.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#define TABLE ((void *)0x2C0000000000ULL)
enum { TABLE_BITS = 20 };
#define SHARED (1ULL << 63)

/* An access: thread + 1, and position; 0 is none. Of reads by several, where those are kept. */
typedef uint64_t Packed;
enum { POSITION_BITS = 44 };

typedef struct {
    Turn turn;
    Packed write, read;
} Location;

typedef struct Readers {
    struct Readers *next_free;
    uint32_t count, room;
    Packed *reads; /* the last one of each thread since the write */
} Readers;

static Location *locations;
static Readers *free_readers;

int order_begin(void)
{
    locations = mmap(TABLE, sizeof(Location) << TABLE_BITS, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    return locations == MAP_FAILED ? -1 : 0;
}

/* In a forked process, where none of the threads are whose accesses these were. */
void order_forget(void)
{
    if (locations != NULL) {
        madvise(locations, sizeof(Location) << TABLE_BITS, MADV_DONTNEED);
    }
}

static inline Packed pack(const Thread *thread)
{
    return (uint64_t)(thread->index + 1) << POSITION_BITS | (uint64_t)thread_position(thread);
}

static inline bool is_by(Packed access, const Thread *thread)
{
    return access >> POSITION_BITS == (uint64_t)(thread->index + 1);
}

static inline void order_after(Thread *thread, Packed access)
{
    if (access == 0 || is_by(access, thread)) {
        return;
    }
    Deed deed = {(int32_t)(access >> POSITION_BITS) - 1,
                 (int64_t)(access & ((1ULL << POSITION_BITS) - 1))};
    const Lane *lane = &thread->lane;
    bool is_known =
        (uint32_t)deed.thread < lane->known_room && lane->known[deed.thread] >= deed.position;
    if (__builtin_expect(!is_known, 0)) {
        lane_after(thread, deed);
    }
}

static inline Location *location_of(const PyObject *object, const PyObject *name)
{
    return &locations[location_key(object, name) >> (64 - TABLE_BITS)];
}

Turn *order_turn(const PyObject *object, const PyObject *name)
{
    return &location_of(object, name)->turn;
}

/* ---- several readers ---- */

static Readers *readers_of(Packed read)
{
    return (Readers *)(uintptr_t)(read & ~SHARED);
}

static void add_reader(Readers *readers, Packed read)
{
    for (uint32_t i = 0; i < readers->count; i++) {
        if (readers->reads[i] >> POSITION_BITS == read >> POSITION_BITS) {
            readers->reads[i] = read;
            return;
        }
    }
    if (readers->count == readers->room) {
        uint32_t room = readers->room == 0 ? 4 : readers->room * 2;
        Packed *larger = realloc(readers->reads, room * sizeof *larger);
        if (larger == NULL) {
            log_stop(ENOMEM);
            return;
        }
        readers->reads = larger;
        readers->room = room;
    }
    readers->reads[readers->count++] = read;
}

static Packed share(Packed first, Packed second)
{
    Readers *readers = free_readers;
    if (readers != NULL) {
        free_readers = readers->next_free;
    }
    else if ((readers = calloc(1, sizeof *readers)) == NULL) {
        log_stop(ENOMEM);
        return second;
    }
    readers->count = 0;
    add_reader(readers, first);
    add_reader(readers, second);
    return (uintptr_t)readers | SHARED;
}

static void come_after_readers(Thread *thread, Packed read)
{
    Readers *readers = readers_of(read);
    for (uint32_t i = 0; i < readers->count; i++) {
        order_after(thread, readers->reads[i]);
    }
    readers->next_free = free_readers;
    free_readers = readers;
}

/* ---- accesses ---- */

static inline void note_read(Thread *thread, Location *location)
{
    Packed read = location->read;
    order_after(thread, location->write);
    if (read == 0 || is_by(read, thread)) {
        location->read = pack(thread);
    }
    else if (read & SHARED) {
        add_reader(readers_of(read), pack(thread));
    }
    else {
        location->read = share(read, pack(thread));
    }
}

static inline void note_write(Thread *thread, Location *location)
{
    Packed read = location->read;
    order_after(thread, location->write);
    if (read & SHARED) {
        come_after_readers(thread, read);
    }
    else {
        order_after(thread, read);
    }
    location->write = pack(thread);
    location->read = 0;
}

/* Reads that others may make, too, leave nothing: who writes next comes after all threads. And one
 * that only its owner may make comes after the owner before. */
void order_note(Thread *thread, const Wanted *wanted, bool is_alone)
{
    Location *location = (Location *)wanted->turn;
    order_after(thread, location->write);
    if (is_alone) {
        order_after(thread, location->read);
        location->read = wanted->writes ? 0 : pack(thread);
        location->write = wanted->writes ? pack(thread) : location->write;
    }
}

/* The thread is past the point of the access, and about to make it. */
void order_access(Thread *thread, const PyObject *object, const PyObject *name, bool writes)
{
    Location *location = location_of(object, name);
    if (!HAS_GIL) {
        turns_want(thread, (Wanted){&location->turn, 0, writes, false, writes, name == NULL});
    }
    else if (writes) {
        note_write(thread, location);
    }
    else {
        note_read(thread, location);
    }
}
