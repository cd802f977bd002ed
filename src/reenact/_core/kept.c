/* Things that are kept once and known by a number: a table by hash, in memory of our own.
 *
 * A table grows by doubling, and what it had is not given back: all of that together is no more
 * than it has at last. */
#include "kept.h"
#include <string.h>

static uint32_t slot_of(const Kept *kept, uint64_t hash)
{
    return (uint32_t)(hash >> 32) & (kept->size - 1);
}

/* The number of an entry that is the same as what is wanted, 0 if there is none. */
uint32_t kept_find(const Kept *kept, uint64_t hash, const void *wanted, IsSame is_same)
{
    if (kept->size == 0) {
        return 0;
    }
    uint32_t slot = slot_of(kept, hash), number;
    for (; (number = kept->numbers[slot]) != 0; slot = (slot + 1) & (kept->size - 1)) {
        const void *entry = kept_at(kept, number);
        if (*(const uint64_t *)entry == hash && is_same(entry, wanted)) {
            return number;
        }
    }
    return 0;
}

static void place(Kept *kept, uint32_t number)
{
    uint32_t slot = slot_of(kept, *(const uint64_t *)kept_at(kept, number));
    while (kept->numbers[slot] != 0) {
        slot = (slot + 1) & (kept->size - 1);
    }
    kept->numbers[slot] = number;
}

static void grow(Kept *kept)
{
    uint32_t size = kept->size == 0 ? 256 : kept->size * 2;
    void **entries = take_memory(size / 2 * sizeof *entries);
    if (kept->count > 0) {
        memcpy(entries, kept->entries, kept->count * sizeof *entries);
    }
    kept->entries = entries;
    kept->size = size;
    kept->room = size / 2;
    kept->numbers = take_memory(size * sizeof *kept->numbers);
    for (uint32_t number = 1; number <= kept->count; number++) {
        place(kept, number);
    }
}

/* The entry's number. */
uint32_t kept_add(Kept *kept, void *entry)
{
    if (kept->count == kept->room) {
        grow(kept);
    }
    kept->entries[kept->count++] = entry;
    place(kept, kept->count);
    return kept->count;
}

void kept_clear(Kept *kept)
{
    kept->count = 0;
    if (kept->size > 0) {
        memset(kept->numbers, 0, kept->size * sizeof *kept->numbers);
    }
}
