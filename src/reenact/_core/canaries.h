/* Evidence of writes where nobody may write: see canaries.c. */
#ifndef REENACT_CANARIES_H
#define REENACT_CANARIES_H

#include "core.h"

/* What is known of a covered block, in a word of its own; 0: there is none.
 * From the lowest bit: 4 of state, 3 of class, 22 of size, 35 that count the blocks of that class
 * and size. All but the state is the block's serial, the same in a run and its re-execution. */
enum { HAS_FRONT = 1, IS_FREED = 2, IS_WATCHED = 4, IS_TOLD = 8, STATE_BITS = 4 };
enum { CLASS_BITS = 3, SIZE_BITS = 22, FRONT = 16, TAIL = 8 };
enum { LARGE = (1 << SIZE_BITS) - 1 }; /* of this size or more: it is in a table */

/* Who has asked for a block: what each counts does not move what the others count. */
enum Class { OF_EXTENSION, OF_BUFFERS, OF_OBJECTS, OF_RAW, OF_OURS, CLASS_COUNT };

enum DamageKind { NO_DAMAGE, OVERFLOW, UNDERFLOW, USE_AFTER_FREE, DOUBLE_FREE };

typedef struct {
    enum DamageKind kind;
    const char *block;
    size_t size;
    int64_t offset; /* of the first bad byte, from the block's beginning */
    uint64_t serial;
} Damage;

static inline uint64_t serial_of(uint64_t info)
{
    return info >> STATE_BITS;
}

/* canaries.c: what is known of blocks, and whether it is still true */
typedef void (*Visit)(const char *block, uint64_t *info);
extern bool looks_for_overflows, looks_for_freed;
int canaries_map(void);
uint64_t *canaries_find(const void *block);
bool canaries_cover(char *block, size_t size, enum Class class, bool has_front);
size_t canaries_size(const void *block, uint64_t info);
size_t canaries_room(size_t size, bool has_front);
void canaries_fill(char *block, size_t size);
void canaries_forget(const void *block, uint64_t *info);
Damage canaries_judge(const char *block, uint64_t info);
void canaries_note(const Damage *damage);
void canaries_visit(Visit visit);
extern const char *const DAMAGES[];

/* allocators.c: who is given covered blocks, and what becomes of freed ones */
const char *allocators_begin(bool everything);
void allocators_end(void);
void allocators_visit(Visit visit);

/* culprits.c: in a re-execution, which line does it */
uint64_t culprits_allocated(const char *block, uint64_t info);
void culprits_freed(const char *block, uint64_t info);
void culprits_gone(const char *block, uint64_t info);
void culprits_found(const Damage *damage);

#endif
