/* Objects that nobody writes to but the interpreter itself: iterators, slices, bound methods and
 * the like. They are told by their type, which a dead object still has. */
#ifndef REENACT_INERT_H
#define REENACT_INERT_H

#include "core.h"

enum { INERT_PLACES = 64 };

/* Their types; where two would be at the same place, one is left out. */
extern const void *inert_types[INERT_PLACES];

void inert_learn(void);

static inline size_t inert_place(const void *type)
{
    return ((uintptr_t)type >> 5 ^ (uintptr_t)type >> 11) & (INERT_PLACES - 1);
}

static inline bool is_inert_type(const void *type)
{
    return type != NULL && inert_types[inert_place(type)] == type;
}

/* The type lies right at the start of a block, or behind a header. In other blocks the same words
 * may be anything: at worst one of them is taken for such an object. */
static inline bool is_dead_inert(const void *block)
{
    const void *const *words = block;
    return is_inert_type(words[3]) || is_inert_type(words[1]);
}

#endif
