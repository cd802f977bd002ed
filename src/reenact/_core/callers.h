/* Who asks an allocator for memory, told by return addresses: see callers.c.
 *
 * What is asked at every allocation is here, to be compiled into the allocators. */
#ifndef REENACT_CALLERS_H
#define REENACT_CALLERS_H

#include "core.h"

enum { SMALL = 32 }; /* numbers are no larger */
enum { CALLER_PLACES = 4096, MOST_SITES = 16, MAKER_COUNT = 2 };

/* A function that makes objects of any type; who called it lies so many words above the address
 * that its allocation returns to. */
typedef struct {
    const void *site;
    size_t depth;
} Maker;

extern uintptr_t interpreter_start, interpreter_size; /* of its code; 0: callers do not show */
extern const void *instance_sites[MOST_SITES]; /* ask for buffers and instances, however small */
extern int instance_site_count;
extern Maker makers[MAKER_COUNT]; /* without sites if everything is to be covered */
/* By a hash; where two would be at the same place, one is left out. */
extern const void *number_callers[CALLER_PLACES]; /* ask for small objects that are not covered */
extern const void *inert_callers[CALLER_PLACES];  /* ask a maker for inert objects */

void callers_learn(void);
void callers_cover(bool everything);

static inline size_t caller_place(const void *caller)
{
    return (uintptr_t)caller & (CALLER_PLACES - 1);
}

static inline bool is_interpreter(const void *caller)
{
    return (uintptr_t)caller - interpreter_start < interpreter_size;
}

static inline bool is_instance_site(const void *caller)
{
    for (int i = 0; i < instance_site_count; i++) {
        if (instance_sites[i] == caller) {
            return true;
        }
    }
    return false;
}

/* Does whoever asks here for little want a number? If it was not seen before, it may still. */
static inline bool is_number_caller(const void *caller)
{
    return number_callers[caller_place(caller)] == caller;
}

static inline void note_number_caller(const void *caller)
{
    number_callers[caller_place(caller)] = caller;
}

/* Is the object that is asked for one that nobody but the interpreter writes to? *stack* is where
 * the return address lies. */
static inline bool is_for_inert(const void *caller, const void *const *stack)
{
    for (int i = 0; i < MAKER_COUNT; i++) {
        if (caller == makers[i].site) {
            const void *above = stack[makers[i].depth];
            return inert_callers[caller_place(above)] == above;
        }
    }
    return false;
}

#endif
