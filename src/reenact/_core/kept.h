/* Things that are kept once, in memory of our own, and known by a number: see kept.c. */
#ifndef REENACT_KEPT_H
#define REENACT_KEPT_H

#include "core.h"

/* Things that are kept once, by hash, and have numbers from 1. Each begins with its hash. */
typedef struct {
    uint32_t *numbers;
    void **entries;
    uint32_t size, room, count;
} Kept;
typedef bool (*IsSame)(const void *entry, const void *wanted);

static inline void *kept_at(const Kept *kept, uint32_t number)
{
    return kept->entries[number - 1];
}

uint32_t kept_find(const Kept *kept, uint64_t hash, const void *wanted, IsSame is_same);
uint32_t kept_add(Kept *kept, void *entry);
void kept_clear(Kept *kept);

static inline uint64_t mixed(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9E3779B97F4A7C15ULL;
    return hash ^ (hash >> 29);
}

#endif
