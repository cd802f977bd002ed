/* What is known of locks: shared by lockorder.c, locksets.c and lockfound.c.
 *
 * All of it lies in memory of our own (take_memory), so that the program's objects are where they
 * would be without. Locks, stacks and sets of locks are known by numbers; 0 is none. */
#ifndef REENACT_LOCKORDER_H
#define REENACT_LOCKORDER_H

#include "kept.h"
#include "races.h"

enum { MOST_LOCKS = 1 << 20, MOST_TAKERS = 8, MOST_MOMENTS = 16 };

/* A lock of the program's. */
typedef struct {
    uint32_t id;    /* of its Object, which may be gone */
    uint32_t first; /* the stack where it was first taken */
    uint32_t next_free;
    int32_t holder; /* index of the thread that has it, -1 if none */
    uint8_t kind;
    bool is_kept;   /* a set of locks has it: it stays, even if the lock is gone */
    bool is_handed; /* somebody else than its holder has released it */
    uint8_t taker_count, latest_taker;
    bool has_more_takers;
    int32_t takers[MOST_TAKERS]; /* threads that have taken it */
} WatchedLock;

/* A lock that a thread has, and the stack where it took it. */
typedef struct {
    uint32_t lock, stack;
} Held;

/* The locks that a thread has, in the order in which it took them. */
struct HeldLocks {
    uint64_t hash; /* of all of them, whatever the order */
    uint32_t count, room;
    uint32_t set;    /* its number; 0 until it is asked for */
    uint32_t latest; /* the number that was last asked for */
    Held *held;
};

/* What a thread may wait for while it has locks. */
#define NESTED(X)                                                                                  \
    X(LOCK, "lock")                                                                                \
    X(CONDITION, "condition")                                                                      \
    X(JOIN, "join")                                                                                \
    X(QUEUE, "queue")                                                                              \
    X(LOOP, "event loop")                                                                          \
    X(SLEEP, "sleep")
#define AS_NESTED(name, text) NESTED_##name,
enum NestedKind { NESTED(AS_NESTED) NESTED_COUNT };

/* Who did so, when in the order of starts and joins, and who ended the wait (-1: not known). */
typedef struct {
    int32_t thread;
    uint32_t life;
    int32_t waker;
} Moment;

/* One place where a thread waits, or might, with the same locks taken at the same places. */
typedef struct {
    uint64_t hash;
    uint32_t set, stack;
    uint32_t lock; /* that is taken; 0 if it is no lock */
    uint8_t kind;
    bool is_timed;
    uint32_t moment_count;
    uint64_t count, left_out; /* left out: moments that there was no room for */
    Moment moments[MOST_MOMENTS];
} Nested;

/* A thread was started, or seen to have ended, by another. */
typedef struct {
    int32_t thread, other;
    bool is_join;
} Life;

/* lockorder.c */
extern WatchedLock *watched_locks;
extern Kept nested;
extern Life *lives;
extern uint32_t life_count;
extern bool locks_overflowed; /* there was more than could be kept */
void *locks_memory(size_t size);
bool locks_are_of_library(PyObject *file);

/* locksets.c */
typedef struct {
    uint64_t hash;
    uint32_t count;
    Held held[];
} LockSet;
void holding_add(HeldLocks *holding, Held held);
bool holding_remove(HeldLocks *holding, uint32_t lock);
const LockSet *lockset_at(uint32_t number);
void locksets_begin(void);

#endif
