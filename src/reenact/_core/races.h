/* The race detector's own vocabulary: shared by races.c, depot.c and found.c. */
#ifndef REENACT_RACES_H
#define REENACT_RACES_H

#include "core.h"

/* An access, as far as a report needs it. */
typedef struct {
    uint64_t hash;
    AccessSite *site;
    uint32_t stack, locks;
    int32_t thread;
    uint8_t mode;
} Access;

/* Two accesses that race, told once for each pair of sites. */
typedef struct {
    const Access *first, *second;
    uint64_t count;
    PyObject *object; /* its address: it may be gone */
    PyTypeObject *type;
    PyObject *key; /* of the item, or of a module its name; NULL if unknown */
    const Access *created;
    uintptr_t what;
} Race;

extern const char *const MODES[];
enum { MOST_ACCESSES = (1 << 24) - 1 };

/* depot.c */
uint32_t depot_stack(void);
uint32_t depot_stack_from(Frame *frame);
uint32_t depot_access(AccessSite *site, enum AccessMode mode, uint32_t locks);
const Access *depot_get(uint32_t number);
PyObject *depot_show_stack(uint32_t number);

/* cells.c */
/* An epoch, and which access it was: 32 bits clock, 8 slot, 24 access. 0 is none. */
typedef uint64_t Word;

typedef struct {
    Word write; /* or one side of a balance */
    Word read;  /* or the other side */
} Cell;

enum { MARKING = 4 };

/* The items of a list. */
typedef struct {
    uint64_t where; /* the list's address and its life there */
    /* in which epochs what reads, and writes, of items mean to the whole was last told */
    uint64_t read[MARKING], written[MARKING];
    uint64_t marked[MARKING]; /* the epochs of the marks */
    uint32_t marks_set[MARKING];
    uint32_t room, used;
    Cell *cells;
    uint64_t *marks; /* a bit for each item, for some threads each: that it was read was told */
} Items;

static inline size_t mark_words(uint32_t room)
{
    return ((size_t)room + 63) / 64;
}

/* Whose marks these are; threads that have the same ones wipe each other's. */
static inline size_t marks_of(uint64_t epoch)
{
    return epoch >> 32 & (MARKING - 1);
}

static inline bool items_is_marked(const Items *items, size_t index, uint64_t epoch)
{
    size_t which = marks_of(epoch);
    if (items->marked[which] != epoch || index >= items->used) {
        return false;
    }
    const uint64_t *marks = items->marks + which * mark_words(items->room);
    return (marks[index >> 6] >> (index & 63) & 1) != 0;
}

/* The same for all of the first ones. */
static inline bool items_are_marked(const Items *items, size_t count, uint64_t epoch)
{
    const uint64_t *marks = items->marks + marks_of(epoch) * mark_words(items->room);
    size_t whole = count >> 6;
    for (size_t i = 0; i < whole; i++) {
        if (marks[i] != UINT64_MAX) {
            return false;
        }
    }
    uint64_t rest = (1ULL << (count & 63)) - 1;
    return rest == 0 || (marks[whole] & rest) == rest;
}

enum { MOST_ITEMS = 1 << 26 };    /* what comes after them are variables like others */
extern uint32_t cells_generation; /* changes when cells come to lie elsewhere */
Cell *cell_of(uint64_t where, uint64_t what);
const Cell *cell_if_known(uint64_t where, uint64_t what);
Items *items_of(uint64_t where);
enum { RECENT_ITEMS = 1 << 12 };
extern Items *items_recent[RECENT_ITEMS]; /* by address; they may be of others */
Cell *items_cell(Items *items, uint32_t index);
uint32_t items_mark(Items *items, size_t index, uint64_t epoch);
bool cells_sample(uint64_t where, uint64_t seed, uint64_t threshold);
typedef void (*VisitCell)(uint64_t where, uint64_t what, Cell *cell);
void cells_visit(VisitCell visit);
void cells_begin(void);

/* shadow.c */
#define SHADOW ((uint16_t *)0x100000000000ULL)

static inline uint16_t *shadow_at(const void *address)
{
    return SHADOW + ((uintptr_t)address >> 4);
}

/* An object in the life that it is in; from now on its end is seen. */
static inline uint64_t where_is(PyObject *object)
{
    uint16_t *shadow = shadow_at(object);
    if ((*shadow & 1) == 0) {
        *shadow |= 1;
    }
    return (uint64_t)((uintptr_t)object >> 4) << 16 | *shadow;
}

bool shadow_is_open(void);
int shadow_open(void);
void shadow_make_public(PyObject *object);
void shadow_renew(PyObject *object);
void shadow_close(void);

/* races.c */
/* What sites of attributes have told: what an operand means need not be found out again. What sites
 * next to each other in the source tell of an object lies side by side. */
typedef struct {
    uint64_t key;    /* the operand's address, and the site's number */
    uint64_t moment; /* the epoch, and the operand's life */
} Memo;
enum { MEMO_BITS = 17, MOST_MEMOS = 1 << MEMO_BITS };
extern Memo memos[MOST_MEMOS];

static inline uint64_t memo_key(const AccessSite *site, const PyObject *operand)
{
    return (uint64_t)((uintptr_t)operand >> 4) << SITE_BITS | site->number;
}

/* Each thread has its own, in the slot that the epoch has. */
static inline size_t memo_place(const AccessSite *site, const PyObject *operand, uint64_t epoch)
{
    uint64_t hash = ((uintptr_t)operand >> 4) * 0x9E3779B97F4A7C15ULL;
    return ((hash >> (64 - MEMO_BITS)) + site->number + (epoch >> 32) * 40503) & (MOST_MEMOS - 1);
}

/* Was all that the site and the operand tell told in this epoch? */
static inline bool memo_is_of(const AccessSite *site, const PyObject *operand, uint64_t epoch)
{
    const Memo *memo = &memos[memo_place(site, operand, epoch)];
    return memo->key == memo_key(site, operand) &&
           memo->moment == (epoch << 16 | *shadow_at(operand));
}

/* found.c */
void found_race(const Access *first, const Access *second, PyObject *object, uintptr_t what,
                PyObject *key, const Access *created);
void found_begin(void);

#endif
