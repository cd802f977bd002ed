/* Stride: for each field the order of its writes, and for each read which write it may have seen.

   A write counts the field's version under its lock, and adds its thread to the field's vector. A
   read takes no lock: it looks at the version, and the write that it saw is that one or one just
   before, which the search at replay finds out. A thread's reads of a field are a stream: by how
   much the version rose, and how often it was seen. Fields are those of classes, as with LEAP, on
   which Stride was built; locks have vectors. */

#include "baselines.h"

static void begin(const char *path)
{
    trace_open(path, "stride");
}

static void read_field(int thread, uint64_t field)
{
    hold_nothing(thread);
    uint64_t version = atomic_load(&table_find(thread, OF_FIELD(field))->clock);
    Entry *reads = table_find(thread, OF_READS(thread, field));
    if (reads->count && reads->clock != version) {
        stream_put(&reads->stream, reads->count);
        reads->count = 0;
    }
    if (!reads->count) {
        stream_put(&reads->stream, version - reads->clock);
        reads->clock = version;
    }
    reads->count++;
}

static void write_vector(int thread, uint64_t key)
{
    Entry *entry = table_find(thread, key);
    hold(thread, &entry->lock);
    entry->clock++;
    vector_add(entry, thread);
}

static void on_access(int thread, uint64_t location, int is_write)
{
    if (is_write) {
        write_vector(thread, OF_FIELD(FIELD_OF(location)));
    }
    else {
        read_field(thread, FIELD_OF(location));
    }
}

static void on_sync(int thread, uint64_t object, int kind)
{
    (void)kind;
    write_vector(thread, OF_SYNC(object));
    hold_nothing(thread);
}

static void close_entry(Entry *entry)
{
    if (entry->key >> 61 == 1) { /* OF_READS */
        stream_put(&entry->stream, entry->count);
    }
    else {
        vector_close(entry);
    }
    stream_close(&entry->stream);
}

static void end(void)
{
    table_each(close_entry);
    table_clear();
    trace_close();
}

const Baseline stride_baseline = {"stride", begin, on_access, on_sync, hold_nothing, end};
