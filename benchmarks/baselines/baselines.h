/* The earlier recorders that ours are measured against. Not product code: nothing of this is
   installed.

   A hook calls `access` for each access to what threads share, right before it, and `sync` for each
   synchronisation, right after it, from the thread that does it; a baseline writes what its paper
   would have written. There is no call after an access: what must not be let go before the access
   is done, the lock of a recorder or the turn of a replayer, is kept until the thread's next event,
   or until `leave`, which the hook calls at the next point and before the thread waits. */

#ifndef REENACT_BASELINES_H
#define REENACT_BASELINES_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

typedef struct {
    const char *name;
    void (*begin)(const char *path);
    void (*access)(int thread, uint64_t location, int is_write);
    void (*sync)(int thread, uint64_t object, int kind);
    void (*leave)(int thread);
    void (*end)(void);
} Baseline;

extern const Baseline dejavu_baseline, jarec_baseline, leap_baseline, stride_baseline;
extern const Baseline dejavu_replayer, jarec_replayer, leap_replayer, stride_replayer;

/* Between two looks at what another thread is about to change; the engine's, if it has one. */
extern void (*baseline_pause)(int turn);

/* A location is an object and a field of it: `object << FIELD_BITS | field`. The field is that of
   the class (a number for its name, or one for all items of lists), the same for all its objects:
   LEAP and Stride know nothing finer, JaRec nothing finer than the object. */
#define FIELD_BITS 24
#define FIELD_OF(location) ((location) & ((UINT64_C(1) << FIELD_BITS) - 1))
#define OBJECT_OF(location) ((location) >> FIELD_BITS)

/* Threads are numbered from 0 in the order of their start. */
#define MOST_THREADS 4096

/* What a stream of the trace is about. */
#define OF_THREAD(thread) ((uint64_t)(thread))
#define OF_FIELD(field) (UINT64_C(1) << 62 | (field))
#define OF_SYNC(object) (UINT64_C(1) << 63 | (object))
#define OF_READS(thread, field) (UINT64_C(1) << 61 | (uint64_t)(thread) << FIELD_BITS | (field))

/* Numbers of one kind, in the order in which they were put; one thread at a time may put. */
typedef struct {
    uint64_t about;
    uint32_t used, room;
    uint8_t *bytes;
} Stream;

/* trace.c: a file that has pieces of the streams as they became full. */
void trace_open(const char *path, const char *name);
void trace_close(void);
const char *trace_trouble(void);
void stream_put(Stream *stream, uint64_t number);
void stream_close(Stream *stream);

/* What is known of a field, an object or a lock; what of it is used is the baseline's affair.
   `last_thread` did the last `count` events, which are not yet in the stream. */
typedef struct Entry {
    uint64_t key;
    struct Entry *next;
    pthread_mutex_t lock;
    _Atomic uint64_t clock;
    Stream stream;
    int last_thread;
    uint64_t count;
} Entry;

/* table.c: entries by key, which stay where they are until `table_clear`. Many threads at a time
   may look for them; `thread` has a cache of its own. */
void table_clear(void);
Entry *table_find(int thread, uint64_t key);
void table_each(void (*visit)(Entry *));

/* Takes a lock over an access, and gives back the one that the thread has; NULL: only that. */
void hold(int thread, pthread_mutex_t *lock);
void hold_nothing(int thread);

/* A thread's number with the events that it did in a row: the access vectors of LEAP, and the
   writes of Stride. The entry must be locked. */
void vector_add(Entry *entry, int thread);
void vector_close(Entry *entry);

#endif
