/* JaRec: Lamport clocks of threads and objects.

   An event takes the larger clock of its thread and its object, and one more is the clock of both.
   The thread's stream has the steps of its clock, but for those by one: how many of those there
   were before each other one. JaRec itself did so for synchronisation; like the thesis on Ditto,
   this does it for accesses, too, by object. */

#include "baselines.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    uint64_t clock, by_one;
    uint64_t written; /* the clock of its latest event in the stream */
    Stream stream;
    char apart[64]; /* threads do not write into one another's lines of the cache */
} Thread;

static Thread threads[MOST_THREADS];

static int accesses_alone; /* for a replayer */

static void begin(const char *path)
{
    accesses_alone = getenv("BASELINE_ACCESSES") != NULL;
    trace_open(path, "jarec");
    memset(threads, 0, sizeof threads);
    for (int i = 0; i < MOST_THREADS; i++) {
        threads[i].stream.about = OF_THREAD(i);
    }
}

static void advance(int number, uint64_t key)
{
    Thread *thread = &threads[number];
    Entry *object = table_find(number, key);
    hold(number, &object->lock);
    uint64_t clock = object->clock > thread->clock ? object->clock : thread->clock;
    object->clock = clock + 1;
    thread->clock = clock + 1;
}

static void write_clock(Thread *thread)
{
    if (thread->clock == thread->written + 1) {
        thread->by_one++;
    }
    else {
        stream_put(&thread->stream, thread->by_one);
        stream_put(&thread->stream, thread->clock - thread->written);
        thread->by_one = 0;
    }
    thread->written = thread->clock;
}

static void on_access(int thread, uint64_t location, int is_write)
{
    (void)is_write;
    advance(thread, OBJECT_OF(location));
    write_clock(&threads[thread]);
}

static void on_sync(int thread, uint64_t object, int kind)
{
    (void)kind;
    advance(thread, OF_SYNC(object));
    hold_nothing(thread);
    if (!accesses_alone) {
        write_clock(&threads[thread]);
    }
}

static void end(void)
{
    for (int i = 0; i < MOST_THREADS; i++) {
        if (threads[i].by_one) {
            stream_put(&threads[i].stream, threads[i].by_one);
        }
        stream_close(&threads[i].stream);
    }
    table_clear();
    trace_close();
}

const Baseline jarec_baseline = {"jarec", begin, on_access, on_sync, hold_nothing, end};
