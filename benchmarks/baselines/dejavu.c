/* DejaVu: one order of all events, under one lock.

   A clock counts all events. Events that a thread does in a row are an interval; of each the
   thread's stream has how far its start is from the end of the thread's last one, and its length.
   DejaVu itself did so for synchronisation on one processor; like the thesis on Ditto, this does it
   for accesses, too. */

#include "baselines.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    uint64_t last;
    Stream stream;
} Thread;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t clock_now, interval_start;
static int running;
static Thread threads[MOST_THREADS];

static int accesses_alone; /* for a replayer */

static void begin(const char *path)
{
    accesses_alone = getenv("BASELINE_ACCESSES") != NULL;
    trace_open(path, "dejavu");
    memset(threads, 0, sizeof threads);
    for (int i = 0; i < MOST_THREADS; i++) {
        threads[i].stream.about = OF_THREAD(i);
    }
    clock_now = interval_start = 0;
    running = -1;
}

static void close_interval(void)
{
    if (running < 0) {
        return;
    }
    Thread *thread = &threads[running];
    stream_put(&thread->stream, interval_start - thread->last);
    stream_put(&thread->stream, clock_now - interval_start);
    thread->last = clock_now;
}

static void event(int thread)
{
    hold(thread, &lock);
    if (running != thread) {
        close_interval();
        running = thread;
        interval_start = clock_now;
    }
    clock_now++;
}

static void on_access(int thread, uint64_t location, int is_write)
{
    (void)location, (void)is_write;
    event(thread);
}

static void on_sync(int thread, uint64_t object, int kind)
{
    (void)object, (void)kind;
    if (accesses_alone) {
        return;
    }
    event(thread);
    hold_nothing(thread);
}

static void end(void)
{
    close_interval();
    for (int i = 0; i < MOST_THREADS; i++) {
        stream_close(&threads[i].stream);
    }
    trace_close();
}

const Baseline dejavu_baseline = {"dejavu", begin, on_access, on_sync, hold_nothing, end};
