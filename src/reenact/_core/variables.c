/* What threads share without locks, and which accesses to it a search must order.
 *
 * A variable is an attribute of an object, the contents of a container, a global or a closure's
 * variable. Two accesses to it race if one of them writes and neither happens before the other
 * (FastTrack: Flanagan, Freund, PLDI 2009). Only the sites of such accesses need be points:
 * where all accesses are ordered by synchronisation, points at the synchronisation are enough.
 * So a search learns the racing sites from run to run; they are kept with the run, by place in the
 * source, so that forked processes share them.
 *
 * Variables are known by address. Another object may come to lie where one was: then a site is
 * held to race that does not, which costs points and nothing else. */
#include "core.h"
#include <string.h>

typedef struct {
    Track track;
    const void *object, *name;
    int32_t writer;
    uint32_t write_clock;
    AccessSite *write_site;
    uint64_t readers; /* slots of threads that read since the last write; where, and when */
    AccessSite *read_sites[MOST_READERS];
    uint32_t read_clocks[MOST_READERS];
} Variable;

static struct {
    uint64_t run; /* of another run: the slot is free */
    Variable *variable;
} *table;
static Variable **all; /* every one ever made; those of this run come first */
static size_t table_size, all_count, used;

/* ---- variables ---- */

static size_t slot_of(const void *object, const void *name)
{
    uint64_t mixed =
        ((uint64_t)(uintptr_t)object ^ ((uint64_t)(uintptr_t)name << 7)) * 0x9E3779B97F4A7C15ULL;
    return (size_t)(mixed >> 32) & (table_size - 1);
}

static void insert(Variable *variable)
{
    size_t slot = slot_of(variable->object, variable->name);
    while (table[slot].run == search.number) {
        slot = (slot + 1) & (table_size - 1);
    }
    table[slot].run = search.number;
    table[slot].variable = variable;
}

static void grow_table(void)
{
    table_size = table_size == 0 ? 1024 : table_size * 2;
    table = take_memory(table_size * sizeof *table);
    Variable **grown = take_memory(table_size / 2 * sizeof *grown);
    if (all_count > 0) {
        memcpy(grown, all, all_count * sizeof *grown);
    }
    all = grown;
    for (size_t i = 0; i < used; i++) {
        insert(all[i]);
    }
}

static Variable *add(const void *object, const void *name)
{
    if (used * 2 >= table_size) {
        grow_table();
    }
    if (used == all_count) {
        all[all_count++] = take_memory(sizeof(Variable));
    }
    Variable *variable = all[used++];
    variable->track = (Track){.run = search.number, .key = ++search.keys};
    variable->object = object;
    variable->name = name;
    variable->writer = -1;
    variable->readers = 0;
    insert(variable);
    return variable;
}

static Variable *variable_of(const void *object, const void *name)
{
    if (table_size > 0) {
        size_t slot = slot_of(object, name);
        for (; table[slot].run == search.number; slot = (slot + 1) & (table_size - 1)) {
            Variable *found = table[slot].variable;
            if (found->object == object && found->name == name) {
                return found;
            }
        }
    }
    return add(object, name);
}

void variables_begin(void)
{
    used = 0;
}

/* ---- sites that race ---- */

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ at[i]) * 1099511628211ULL;
    }
    return hash;
}

/* The same place in the source has the same key in every process. */
static uint64_t key_of(AccessSite *site)
{
    if (site->key == 0) {
        Frame *frame = compat_top_frame(PyThreadState_Get());
        PyCodeObject *code = frame == NULL ? NULL : compat_frame_code(frame);
        const char *file = code == NULL ? "" : PyUnicode_AsUTF8(code->co_filename);
        PyErr_Clear();
        uint64_t hash = hash_bytes(14695981039346656037ULL, file, strlen(file == NULL ? "" : file));
        uint32_t place[] = {site->line, site->column, site->writes, site->kind};
        site->key = hash_bytes(hash, place, sizeof place) | 1;
    }
    return site->key;
}

static uint32_t *racy_slot(uint64_t key)
{
    size_t slot = (size_t)(key >> 20) & (MOST_RACY - 1);
    while (run->racy[slot] != 0 && run->racy[slot] != key) {
        slot = (slot + 1) & (MOST_RACY - 1);
    }
    return &run->racy_order[slot];
}

/* The last one counted has this key. */
void variables_know_racy(uint64_t key)
{
    uint32_t *order = racy_slot(key);
    run->racy[order - run->racy_order] = key;
    *order = run->racy_count;
}

static void mark_racy(AccessSite *site)
{
    if (site == NULL || run->racy_count >= MOST_RACY / 2) {
        return;
    }
    uint32_t *order = racy_slot(key_of(site));
    if (*order == 0) {
        run->racy[order - run->racy_order] = site->key;
        *order = ++run->racy_count;
    }
}

/* Known to race since before this run began, so that it is the same all through the run. */
static bool is_racy(AccessSite *site)
{
    if (site->order == 0 && site->asked != run->racy_count) {
        site->asked = run->racy_count;
        site->order = *racy_slot(key_of(site));
    }
    return site->order != 0 && site->order <= search.racy_limit;
}

static bool is_before(int32_t slot, uint32_t clock, const Thread *thread)
{
    return slot < 0 || slot == thread->slot || clock <= clock_at(thread->clock, slot);
}

static bool races_with_reads(const Variable *variable, const Thread *thread)
{
    bool races = false;
    for (uint64_t readers = variable->readers; readers != 0; readers &= readers - 1) {
        int reader = __builtin_ctzll(readers);
        if (!is_before(reader, variable->read_clocks[reader], thread)) {
            mark_racy(variable->read_sites[reader]);
            races = true;
        }
    }
    return races;
}

static void check(Variable *variable, AccessSite *site, const Thread *thread, bool writes)
{
    int32_t slot = thread->slot;
    if (slot >= MOST_READERS) {
        mark_racy(site);
        return;
    }
    bool races = !is_before(variable->writer, variable->write_clock, thread);
    if (races) {
        mark_racy(variable->write_site);
    }
    if ((writes && races_with_reads(variable, thread)) || races) {
        mark_racy(site);
    }
    if (writes) {
        variable->writer = slot;
        variable->write_clock = clock_at(thread->clock, slot);
        variable->write_site = site;
        variable->readers = 0;
    }
    else {
        variable->readers |= 1ULL << slot;
        variable->read_clocks[slot] = clock_at(thread->clock, slot);
        variable->read_sites[slot] = site;
    }
}

static int explore_access(Thread *thread, AccessSite *site, PyObject *object, PyObject *name,
                          bool writes)
{
    Variable *variable = variable_of(object, name);
    bool races = is_racy(site);
    /* Once in a time slice it counts though it does not race: a loop could use up all its slices at
     * such accesses, and others would never run. */
    bool is_choice = races || search.follows || thread->budget <= 0;
    thread->explored.position++;
    if (is_choice) {
        thread->pending_op = writes ? OP_WRITE : OP_READ;
        thread->pending_object = 0;
        thread->pending = NULL;
        thread->explored.pending = &variable->track;
        thread->explored.pending_writes = writes;
        thread->explored.pending_waits = false;
        thread->explored.is_access = true;
        thread->explored.is_choice = is_choice;
        thread->explored.is_slice_end = !races && !search.follows;
        search_observe(thread, false, object, name);
        int failed = gate_slow(thread);
        thread->explored.is_access = false;
        if (failed < 0) {
            return -1;
        }
        search_observe(thread, true, object, name);
    }
    if (gate.exploring) {
        check(variable, site, thread, writes);
        if (races) {
            track_touch(&variable->track, thread, writes, 1 + writes);
        }
    }
    return 0;
}

/* A point before an access; name is NULL for the contents of a container. */
int access_point(Thread *thread, AccessSite *site, PyObject *object, PyObject *name, bool writes)
{
    --thread->budget;
    if (gate.exploring && search.at_accesses) {
        return explore_access(thread, site, object, name, writes);
    }
    if (thread->budget > 0) {
        return 0;
    }
    thread->pending_op = OP_NONE;
    thread->pending_object = 0;
    thread->pending = NULL;
    return gate_slow(thread);
}
