/* Which Python objects threads wait for: a table from address to Object.
 *
 * Addresses are reused, so the types' deallocators (locks.c, queues.c) forget an object here
 * before its memory is freed; the id of an object is never given twice. */
#include "core.h"
#include <stdlib.h>

static Object **table;
static size_t table_size, table_used; /* used counts tombstones too */
static Object *free_objects;
static Object tombstone;
static uint64_t serial;
static __thread Object *met[64]; /* most operations are on what the thread has met lately */
static Guard guard;              /* a thread that is at its end looks here without baton or GIL */

static size_t slot_of(PyObject *key)
{
    uint64_t mixed = (uint64_t)(uintptr_t)key * 0x9E3779B97F4A7C15ULL;
    return (size_t)(mixed >> 32) & (table_size - 1);
}

static void insert(Object *object)
{
    size_t slot = slot_of(object->key);
    while (table[slot] != NULL) {
        slot = (slot + 1) & (table_size - 1);
    }
    table[slot] = object;
    table_used++;
}

static void rebuild(void)
{
    Object **old = table;
    size_t old_size = table_size, live = 0;
    for (size_t i = 0; i < old_size; i++) {
        live += old[i] != NULL && old[i] != &tombstone;
    }
    table_size = 1024;
    while (table_size < live * 4) {
        table_size *= 2;
    }
    table = calloc(table_size, sizeof *table);
    table_used = 0;
    for (size_t i = 0; i < old_size; i++) {
        if (old[i] != NULL && old[i] != &tombstone) {
            insert(old[i]);
        }
    }
    free(old);
}

static Object **find(PyObject *key)
{
    if (table == NULL) {
        return NULL;
    }
    for (size_t slot = slot_of(key); table[slot] != NULL; slot = (slot + 1) & (table_size - 1)) {
        if (table[slot]->key == key) {
            return &table[slot];
        }
    }
    return NULL;
}

Object *object_find(PyObject *key)
{
    guard_take(&guard);
    Object **found = find(key), *object = found == NULL ? NULL : *found;
    guard_give(&guard);
    return object;
}

/* Locks hash by these, and sets of them are walked. Threads of a parallel run meet objects at the
 * same time: there each has numbers of its own. */
static uint64_t next_serial(void)
{
    if (!gate.has_lanes || me == NULL) {
        return ++serial;
    }
    return me->identity + (uint64_t)++me->met * 0xD6E8FEB86659FD93ULL;
}

static Object *add(PyObject *key, enum ObjectKind kind)
{
    if (table_used * 2 >= table_size) {
        rebuild();
    }
    Object *object = free_objects;
    if (object != NULL) {
        free_objects = object->next_free;
    }
    else {
        object = aligned_alloc(CACHE_LINE, sizeof *object);
    }
    *object = (Object){.key = key,
                       .kind = (uint8_t)kind,
                       .owner = -1,
                       .ends = -1,
                       .serial = next_serial(),
                       .latest = {.thread = -1}};
    insert(object);
    return object;
}

/* Objects are used again, but never freed: what is met has the key that it has. */
static inline Object **met_lately(PyObject *key)
{
    uint64_t mixed = (uint64_t)(uintptr_t)key * 0x9E3779B97F4A7C15ULL;
    return &met[mixed >> 58];
}

Object *object_of(PyObject *key, enum ObjectKind kind)
{
    Object **lately = met_lately(key), *object = *lately;
    if (__builtin_expect(object != NULL && object->key == key, 1)) {
        return object;
    }
    guard_take(&guard);
    Object **found = find(key);
    *lately = object = found != NULL ? *found : add(key, kind);
    guard_give(&guard);
    return object;
}

void object_forget(PyObject *key)
{
    guard_take(&guard);
    Object **found = find(key);
    if (found != NULL) {
        (*found)->key = NULL;
        locks_forget(*found);
        clock_free((*found)->clock);
        (*found)->next_free = free_objects;
        free_objects = *found;
        *found = &tombstone;
    }
    guard_give(&guard);
}

/* No lock is watched yet, or any more. */
void objects_unwatch(void)
{
    for (size_t i = 0; i < table_size; i++) {
        if (table[i] != NULL) {
            table[i]->watched = 0;
        }
    }
}

/* Numbers count from the start of the run, whatever was met before it. */
void objects_begin(void)
{
    serial = 0;
}

/* Nobody is in the midst of a change of the table while the process forks. */
void objects_prepare(void)
{
    guard_take(&guard);
}

void objects_forked(void)
{
    guard_give(&guard);
}

/* In a forked child: no thread but the one that forked, and nothing is defined yet. */
void objects_forget(int32_t survivor)
{
    for (size_t i = 0; i < table_size; i++) {
        Object *object = table[i];
        if (object != NULL && object != &tombstone) {
            object->id = 0;
            object->first_waiter = object->last_waiter = NULL;
            object->all_woken = false;
            object->held = object->parked = object->woken = 0;
            object->latest = (Deed){.thread = -1};
            object->owner = object->owner == survivor ? 0 : object->owner < 0 ? -1 : INT32_MAX;
        }
    }
}
