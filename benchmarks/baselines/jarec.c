/* JaRec: Lamport clocks of threads and objects.

   An event takes the larger clock of its thread and its object, and one more is the clock of both.
   The thread's stream has the steps of its clock, but for those by one: how many of those there
   were before each other one. JaRec itself did so for synchronisation; like the thesis on Ditto,
   this does it for accesses, too, by object. */

#include "baselines.h"

#include <string.h>

typedef struct {
    uint64_t clock, by_one;
    Stream stream;
    char apart[64]; /* threads do not write into one another's lines of the cache */
} Thread;

static Thread threads[MOST_THREADS];

static void begin(const char *path)
{
    trace_open(path, "jarec");
    memset(threads, 0, sizeof threads);
    for (int i = 0; i < MOST_THREADS; i++) {
        threads[i].stream.about = OF_THREAD(i);
    }
}

static void event(int number, uint64_t key)
{
    Thread *thread = &threads[number];
    Entry *object = table_find(number, key);
    pthread_mutex_lock(&object->lock);
    uint64_t clock = object->clock > thread->clock ? object->clock : thread->clock;
    object->clock = clock + 1;
    pthread_mutex_unlock(&object->lock);
    if (clock == thread->clock) {
        thread->by_one++;
    }
    else {
        stream_put(&thread->stream, thread->by_one);
        stream_put(&thread->stream, clock + 1 - thread->clock);
        thread->by_one = 0;
    }
    thread->clock = clock + 1;
}

static void on_access(int thread, uint64_t location, int is_write)
{
    (void)is_write;
    event(thread, OBJECT_OF(location));
}

static void on_sync(int thread, uint64_t object, int kind)
{
    (void)kind;
    event(thread, OF_SYNC(object));
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

const Baseline jarec_baseline = {"jarec", begin, on_access, on_sync, end};
