/* LEAP: for each field the threads that accessed it, in their order, under the field's lock.

   A field is that of a class, whichever object it was of. Accesses of one thread in a row are one
   entry of the vector, with their number. Locks have vectors of their own. */

#include "baselines.h"

static void begin(const char *path)
{
    trace_open(path, "leap");
}

static void event(int thread, uint64_t key)
{
    Entry *entry = table_find(thread, key);
    hold(thread, &entry->lock);
    vector_add(entry, thread);
}

static void on_access(int thread, uint64_t location, int is_write)
{
    (void)is_write;
    event(thread, OF_FIELD(FIELD_OF(location)));
}

static void on_sync(int thread, uint64_t object, int kind)
{
    (void)kind;
    event(thread, OF_SYNC(object));
    hold_nothing(thread);
}

static void close_entry(Entry *entry)
{
    vector_close(entry);
    stream_close(&entry->stream);
}

static void end(void)
{
    table_each(close_entry);
    table_clear();
    trace_close();
}

const Baseline leap_baseline = {"leap", begin, on_access, on_sync, hold_nothing, end};
