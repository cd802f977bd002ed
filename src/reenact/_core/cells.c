/* Cells: what is kept of each variable, found by object and name.
 *
 * An object is known by its address and its life there; what was kept of an earlier life is
 * forgotten when the address is next asked for. Variables lie in one hash table. Items of lists,
 * which may be many, lie in an array for each list instead, in the order of the items. */
#include "races.h"
#include <string.h>
#include <sys/mman.h>

typedef struct {
    uint64_t where; /* 0: free */
    uint64_t what;
    Cell cell;
} Variable;

enum { SMALLEST = 1 << 12 }; /* of the table */
enum { MOST_MARKED = 1 << 12 };
uint32_t cells_generation;

static struct {
    Variable *table;
    size_t size, used;
} variables;

/* ---- variables ---- */

static uint64_t hash_of(uint64_t where, uint64_t what)
{
    uint64_t hash = ((where >> 16) * 0x9E3779B97F4A7C15ULL) ^ (what * 0xC2B2AE3D27D4EB4FULL);
    return hash ^ (hash >> 32);
}

/* Does chance take the variables of this object? The same with the same seed. */
bool cells_sample(uint64_t where, uint64_t seed, uint64_t threshold)
{
    return hash_of(where ^ seed, 0) <= threshold;
}

static void *map_memory(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        Py_FatalError("reenact: no memory for what threads share");
    }
    return memory;
}

static Variable *free_place(uint64_t where, uint64_t what)
{
    size_t slot = (size_t)hash_of(where, what) & (variables.size - 1);
    while (variables.table[slot].where != 0) {
        slot = (slot + 1) & (variables.size - 1);
    }
    return &variables.table[slot];
}

static void grow(void)
{
    Variable *old = variables.table;
    size_t old_size = variables.size;
    variables.size = old_size == 0 ? SMALLEST : old_size * 2;
    variables.table = map_memory(variables.size * sizeof(Variable));
    cells_generation++;
    for (size_t i = 0; i < old_size; i++) {
        if (old[i].where != 0) {
            *free_place(old[i].where, old[i].what) = old[i];
        }
    }
    if (old != NULL) {
        munmap(old, old_size * sizeof *old);
    }
}

Cell *cell_of(uint64_t where, uint64_t what)
{
    size_t slot = (size_t)hash_of(where, what) & (variables.size - 1);
    for (; variables.table[slot].where != 0; slot = (slot + 1) & (variables.size - 1)) {
        Variable *variable = &variables.table[slot];
        if (variable->what == what && variable->where >> 16 == where >> 16) {
            if (variable->where != where) {
                *variable = (Variable){.where = where, .what = what};
            }
            return &variable->cell;
        }
    }
    if (variables.used * 5 >= variables.size * 3) {
        grow();
        return cell_of(where, what);
    }
    variables.used++;
    variables.table[slot] = (Variable){.where = where, .what = what};
    return &variables.table[slot].cell;
}

/* NULL if there is none. */
const Cell *cell_if_known(uint64_t where, uint64_t what)
{
    size_t slot = (size_t)hash_of(where, what) & (variables.size - 1);
    for (; variables.table[slot].where != 0; slot = (slot + 1) & (variables.size - 1)) {
        if (variables.table[slot].where == where && variables.table[slot].what == what) {
            return &variables.table[slot].cell;
        }
    }
    return NULL;
}

/* ---- items of lists ---- */

Items *items_recent[RECENT_ITEMS];
static struct {
    Items **table; /* by address; 0 is free */
    size_t size, used;
} lists;

static size_t slot_of(Items *const *table, size_t size, uint64_t where)
{
    size_t slot = (size_t)hash_of(where, 0) & (size - 1);
    while (table[slot] != NULL && table[slot]->where >> 16 != where >> 16) {
        slot = (slot + 1) & (size - 1);
    }
    return slot;
}

static void grow_lists(void)
{
    size_t size = lists.size == 0 ? SMALLEST : lists.size * 2;
    Items **table = map_memory(size * sizeof *table);
    for (size_t i = 0; i < lists.size; i++) {
        if (lists.table[i] != NULL) {
            table[slot_of(table, size, lists.table[i]->where)] = lists.table[i];
        }
    }
    if (lists.size != 0) {
        munmap(lists.table, lists.size * sizeof *table);
    }
    lists.table = table;
    lists.size = size;
}

static void begin_life(Items *items, uint64_t where)
{
    if (items->used != 0) {
        memset(items->cells, 0, items->used * sizeof *items->cells);
    }
    *items =
        (Items){.where = where, .room = items->room, .cells = items->cells, .marks = items->marks};
}

Items *items_of(uint64_t where)
{
    Items **latest = &items_recent[where >> 16 & (RECENT_ITEMS - 1)];
    if (*latest != NULL && (*latest)->where == where) {
        return *latest;
    }
    if (lists.used * 5 >= lists.size * 3) {
        grow_lists();
    }
    Items **items = &lists.table[slot_of(lists.table, lists.size, where)];
    if (*items == NULL) {
        *items = take_memory(sizeof **items);
        (*items)->where = where;
        lists.used++;
    }
    else if ((*items)->where != where) {
        begin_life(*items, where);
    }
    return *latest = *items;
}

Cell *items_cell(Items *items, uint32_t index)
{
    if (index >= items->room) {
        uint32_t room = items->room == 0 ? 8 : items->room;
        while (room <= index) {
            room *= 2;
        }
        Cell *cells = take_memory(room * sizeof *cells);
        if (items->used != 0) {
            memcpy(cells, items->cells, items->used * sizeof *cells);
        }
        items->cells = cells;
        items->room = room;
        items->marks = take_memory(MARKING * mark_words(room) * sizeof *items->marks);
        memset(items->marked, 0, sizeof items->marked);
    }
    items->used = index >= items->used ? index + 1 : items->used;
    return &items->cells[index];
}

/* Marks of many items are not worth being wiped: those have their cells. How many there are. */
uint32_t items_mark(Items *items, size_t index, uint64_t epoch)
{
    if (items->room > MOST_MARKED) {
        return 0;
    }
    size_t which = marks_of(epoch), words = mark_words(items->room);
    uint64_t *marks = items->marks + which * words;
    if (items->marked[which] != epoch) {
        memset(marks, 0, words * sizeof *marks);
        items->marked[which] = epoch;
        items->marks_set[which] = 0;
    }
    uint64_t bit = 1ULL << (index & 63);
    items->marks_set[which] += (marks[index >> 6] & bit) == 0;
    marks[index >> 6] |= bit;
    return items->marks_set[which];
}

/* ---- for a new run ---- */

void cells_visit(VisitCell visit)
{
    for (size_t i = 0; i < variables.size; i++) {
        if (variables.table[i].where != 0) {
            visit(variables.table[i].where, variables.table[i].what, &variables.table[i].cell);
        }
    }
    for (size_t i = 0; i < lists.size; i++) {
        for (uint32_t k = 0; lists.table[i] != NULL && k < lists.table[i]->used; k++) {
            visit(lists.table[i]->where, 1, &lists.table[i]->cells[k]);
        }
    }
}

/* All is forgotten. */
void cells_begin(void)
{
    for (size_t i = 0; i < lists.size; i++) {
        if (lists.table[i] != NULL) {
            begin_life(lists.table[i], lists.table[i]->where);
        }
    }
    if (variables.size > SMALLEST) {
        munmap(variables.table, variables.size * sizeof *variables.table);
        variables.table = NULL;
        variables.size = 0;
    }
    else if (variables.used > 0) {
        memset(variables.table, 0, variables.size * sizeof *variables.table);
    }
    variables.used = 0;
    cells_generation++;
    if (variables.table == NULL) {
        grow();
    }
    if (lists.table == NULL) {
        grow_lists();
    }
}
