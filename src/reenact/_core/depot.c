/* The depot: stacks and accesses, each kept once, and known by a number.
 *
 * What is kept of an access must be small, and taking it quick: every first access after a
 * synchronisation comes by. Code objects in a kept stack stay alive. */
#include "races.h"
#include <string.h>

enum { DEEPEST = 24 };

typedef struct {
    PyCodeObject *code;
    int32_t offset;
} Place;

typedef struct {
    uint64_t hash;
    uint32_t count;
    Place places[];
} Stack;

/* A table of numbers by hash; what they stand for lies in pages that never move. */
typedef struct {
    uint32_t *numbers;
    uint32_t size, count;
    void **entries;
    uint32_t room;
} Table;

static Table stacks, accesses;

static uint64_t mixed(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9E3779B97F4A7C15ULL;
    return hash ^ (hash >> 29);
}

static uint64_t hash_of_entry(const Table *table, uint32_t number)
{
    return *(const uint64_t *)table->entries[number - 1];
}

static void place_number(Table *table, uint64_t hash, uint32_t number)
{
    uint32_t slot = (uint32_t)(hash >> 32) & (table->size - 1);
    while (table->numbers[slot] != 0) {
        slot = (slot + 1) & (table->size - 1);
    }
    table->numbers[slot] = number;
}

static void grow(Table *table)
{
    table->size = table->size == 0 ? 1024 : table->size * 2;
    table->numbers = take_memory(table->size * sizeof *table->numbers);
    for (uint32_t number = 1; number <= table->count; number++) {
        place_number(table, hash_of_entry(table, number), number);
    }
}

static uint32_t add(Table *table, uint64_t hash, void *entry)
{
    if (table->count * 2 >= table->size) {
        grow(table);
    }
    if (table->count == table->room) {
        uint32_t room = table->room == 0 ? 512 : table->room * 2;
        void **entries = take_memory(room * sizeof *entries);
        if (table->count > 0) {
            memcpy(entries, table->entries, table->count * sizeof *entries);
        }
        table->entries = entries;
        table->room = room;
    }
    table->entries[table->count++] = entry;
    place_number(table, hash, table->count);
    return table->count;
}

/* ---- stacks ---- */

static bool is_stack(const Stack *stack, uint64_t hash, const Place *places, uint32_t count)
{
    return stack->hash == hash && stack->count == count &&
           memcmp(stack->places, places, count * sizeof *places) == 0;
}

static uint32_t keep_stack(uint64_t hash, const Place *places, uint32_t count)
{
    Stack *stack = take_memory(sizeof *stack + count * sizeof *places);
    stack->hash = hash;
    stack->count = count;
    memcpy(stack->places, places, count * sizeof *places);
    for (uint32_t i = 0; i < count; i++) {
        Py_INCREF(places[i].code);
    }
    return add(&stacks, hash, stack);
}

/* The number of the stack of this thread's Python code, innermost first; skips the first ones. */
uint32_t depot_stack(int skipped)
{
    Place places[DEEPEST];
    uint32_t count = 0;
    uint64_t hash = 1;
    Frame *frame = compat_top_frame(PyThreadState_Get());
    for (; frame != NULL && count < DEEPEST; frame = frame->previous) {
        PyCodeObject *code = compat_frame_code(frame);
        if (code == NULL || skipped-- > 0) {
            continue;
        }
        int32_t offset = compat_frame_offset(frame, code);
        memset(&places[count], 0, sizeof *places);
        places[count].code = code;
        places[count++].offset = offset;
        hash = mixed(hash, (uint64_t)(uintptr_t)code + (uint64_t)(uint32_t)offset);
    }
    if (stacks.size > 0) {
        uint32_t slot = (uint32_t)(hash >> 32) & (stacks.size - 1);
        for (; stacks.numbers[slot] != 0; slot = (slot + 1) & (stacks.size - 1)) {
            if (is_stack(stacks.entries[stacks.numbers[slot] - 1], hash, places, count)) {
                return stacks.numbers[slot];
            }
        }
    }
    return keep_stack(hash, places, count);
}

/* ((file, line, function), ...), innermost first */
PyObject *depot_show_stack(uint32_t number)
{
    const Stack *stack = number == 0 ? NULL : stacks.entries[number - 1];
    uint32_t count = stack == NULL ? 0 : stack->count;
    PyObject *shown = PyTuple_New(count);
    for (uint32_t i = 0; shown != NULL && i < count; i++) {
        const Place *place = &stack->places[i];
        PyObject *each =
            Py_BuildValue("(OiO)", place->code->co_filename,
                          PyCode_Addr2Line(place->code, place->offset), place->code->co_qualname);
        if (each == NULL) {
            Py_CLEAR(shown);
            break;
        }
        PyTuple_SET_ITEM(shown, i, each);
    }
    return shown;
}

/* ---- accesses ---- */

static bool is_access(const Access *one, const Access *other)
{
    return one->hash == other->hash && one->site == other->site && one->stack == other->stack &&
           one->locks == other->locks && one->thread == other->thread && one->mode == other->mode;
}

/* The number of an access by this thread, 0 if there are too many. */
uint32_t depot_access(AccessSite *site, enum AccessMode mode, uint32_t locks)
{
    Access access = {.site = site,
                     .stack = depot_stack(0),
                     .locks = locks,
                     .thread = me->index,
                     .mode = (uint8_t)mode};
    access.hash = mixed(mixed((uint64_t)(uintptr_t)site, access.stack),
                        (uint64_t)locks << 32 | (uint32_t)me->index << 8 | mode);
    if (accesses.size > 0) {
        uint32_t slot = (uint32_t)(access.hash >> 32) & (accesses.size - 1);
        for (; accesses.numbers[slot] != 0; slot = (slot + 1) & (accesses.size - 1)) {
            if (is_access(accesses.entries[accesses.numbers[slot] - 1], &access)) {
                return accesses.numbers[slot];
            }
        }
    }
    if (accesses.count >= MOST_ACCESSES) {
        return 0;
    }
    Access *kept = take_memory(sizeof *kept);
    *kept = access;
    Py_XINCREF(site);
    return add(&accesses, access.hash, kept);
}

const Access *depot_get(uint32_t number)
{
    return number == 0 ? NULL : accesses.entries[number - 1];
}
