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
uint32_t depot_access(AccessSite *site, enum AccessMode mode, uint32_t locks);
const Access *depot_get(uint32_t number);
PyObject *depot_show_stack(uint32_t number);

/* shadow.c */
#define SHADOW ((uint16_t *)0x100000000000ULL)

static inline uint16_t *shadow_at(const void *address)
{
    return SHADOW + ((uintptr_t)address >> 4);
}

int shadow_open(void);
void shadow_make_public(PyObject *object);
void shadow_close(void);

/* found.c */
void found_race(const Access *first, const Access *second, PyObject *object, uintptr_t what,
                PyObject *key, const Access *created);
void found_begin(void);

#endif
