/* What threads share without locks, and which accesses to it race: vector clocks and epochs.
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
#include <sys/mman.h>

typedef struct {
    Track track;
    const void *object, *name;
    int32_t writer;
    uint32_t write_clock;
    AccessSite *write_site;
    uint64_t readers; /* threads that read since the last write; where, and when */
    AccessSite *read_sites[MOST_CLOCKS];
    uint32_t read_clocks[MOST_CLOCKS];
} Variable;

static struct {
    uint64_t run; /* of another run: the slot is free */
    Variable *variable;
} *table;
static Variable **all; /* every one ever made; those of this run come first */
static size_t table_size, all_count, used;
static uint32_t clocks[MOST_CLOCKS][MOST_CLOCKS];

/* Memory of our own, away from the program's heap: a replay does not need it, and must find the
 * program's objects where they were. Nothing is given back; what grows doubles. */
#define TRACKS ((void *)0x2E0000000000ULL)
enum { TRACK_BITS = 34 };

static void *take(size_t size)
{
    static char *at, *end;
    if (at == NULL) {
        at = mmap(TRACKS, 1ULL << TRACK_BITS, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
        end = at == MAP_FAILED ? at : at + (1ULL << TRACK_BITS);
    }
    size = (size + 15) & ~(size_t)15;
    if (at == MAP_FAILED || (size_t)(end - at) < size) {
        Py_FatalError("reenact: no memory for what threads share");
    }
    at += size;
    return at - size;
}

/* ---- vector clocks ---- */

static uint32_t most_threads(void)
{
    return gate.state->threads < MOST_CLOCKS ? gate.state->threads : MOST_CLOCKS;
}

static void join(uint32_t *clock, const uint32_t *other)
{
    for (uint32_t i = 0; i < most_threads(); i++) {
        clock[i] = clock[i] < other[i] ? other[i] : clock[i];
    }
}

void clocks_begin(Thread *thread, const Thread *parent)
{
    if (thread->index >= MOST_CLOCKS || parent->index >= MOST_CLOCKS) {
        return;
    }
    if (parent != thread) {
        memcpy(clocks[thread->index], clocks[parent->index], sizeof *clocks);
        clocks[parent->index][parent->index]++;
    }
    else {
        memset(clocks[thread->index], 0, sizeof *clocks);
    }
    clocks[thread->index][thread->index]++;
}

void clocks_forget(Track *track)
{
    if (track->clock != NULL) {
        memset(track->clock, 0, sizeof *clocks);
    }
}

static uint32_t *free_clocks; /* the first word of each leads to the next */

static uint32_t *new_clock(void)
{
    uint32_t *clock = free_clocks;
    if (clock == NULL) {
        return take(sizeof *clocks);
    }
    memcpy(&free_clocks, clock, sizeof free_clocks);
    memset(clock, 0, sizeof *clocks);
    return clock;
}

/* The object that this was of is gone. */
void clocks_release(uint32_t *clock)
{
    if (clock != NULL) {
        memcpy(clock, &free_clocks, sizeof free_clocks);
        free_clocks = clock;
    }
}

void clocks_done(enum Operation kind, Object *object)
{
    int32_t index = me->index;
    Track *track = &object->track;
    if (index >= MOST_CLOCKS) {
        return;
    }
    switch (kind) {
    case OP_JOIN:
        if (object->id < MOST_CLOCKS) {
            join(clocks[index], clocks[object->id]);
            me->explored.joined |= 1ULL << object->id;
        }
        break;
    case OP_ACQUIRE:
    case OP_GET:
        if (track->clock != NULL) {
            join(clocks[index], track->clock);
        }
        break;
    case OP_RELEASE:
    case OP_PUT:
        if (track->clock == NULL) {
            track->clock = new_clock();
        }
        join(track->clock, clocks[index]);
        clocks[index][index]++;
        break;
    default: break;
    }
}

/* 3.11 and 3.12 join a thread by taking a lock that C code releases when it ends. */
void clocks_joined(const Object *object)
{
    for (uint32_t i = 0; i < most_threads() && me->index < MOST_CLOCKS; i++) {
        if (gate.slots[i].sentinel == object->key && gate.slots[i].status == ENDED) {
            join(clocks[me->index], clocks[i]);
            me->explored.joined |= 1ULL << i;
        }
    }
}

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
    table = take(table_size * sizeof *table);
    Variable **grown = take(table_size / 2 * sizeof *grown);
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
        all[all_count++] = take(sizeof(Variable));
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

static bool is_before(int32_t thread, uint32_t clock, int32_t index)
{
    return thread < 0 || thread == index || clock <= clocks[index][thread];
}

static bool races_with_reads(const Variable *variable, int32_t index)
{
    bool races = false;
    for (uint64_t readers = variable->readers; readers != 0; readers &= readers - 1) {
        int reader = __builtin_ctzll(readers);
        if (!is_before(reader, variable->read_clocks[reader], index)) {
            mark_racy(variable->read_sites[reader]);
            races = true;
        }
    }
    return races;
}

static void check(Variable *variable, AccessSite *site, int32_t index, bool writes)
{
    if (index >= MOST_CLOCKS) {
        mark_racy(site);
        return;
    }
    bool races = !is_before(variable->writer, variable->write_clock, index);
    if (races) {
        mark_racy(variable->write_site);
    }
    if ((writes && races_with_reads(variable, index)) || races) {
        mark_racy(site);
    }
    if (writes) {
        variable->writer = index;
        variable->write_clock = clocks[index][index];
        variable->write_site = site;
        variable->readers = 0;
    }
    else {
        variable->readers |= 1ULL << index;
        variable->read_clocks[index] = clocks[index][index];
        variable->read_sites[index] = site;
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
        check(variable, site, thread->index, writes);
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
