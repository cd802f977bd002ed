/* Evidence of writes where nobody may write: what canaries.c, allocators.c and culprits.c share.
 *
 * What happens at every allocation and every free is here, to be compiled into the allocators. */
#ifndef REENACT_CANARIES_H
#define REENACT_CANARIES_H

#include "core.h"
#include <emmintrin.h>

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

typedef void (*Visit)(const char *block, uint64_t *info);
typedef uint64_t __attribute__((may_alias)) Aliased;

/* canaries.c: what is known of blocks, and whether it is still true */
enum { SPACE_BITS = 47, REGION_BITS = 20, REGION_WORDS = 1 << (REGION_BITS - 4) };
enum { COUNTED_SIZES = 1 << 16, FILLED_ENDS = 1 << 15 };
#define CANARY_MEMORY 0x2D0000000000ULL
#define REGIONS ((uint64_t **)CANARY_MEMORY) /* by address; NULL: nothing was ever covered */
#define COUNTS ((uint64_t (*)[COUNTED_SIZES])(CANARY_MEMORY + (1ULL << 32)))
extern bool looks_for_overflows;
extern const char *const DAMAGES[];
int canaries_map(void);
uint64_t *canaries_new_region(uintptr_t number);
bool canaries_keep_large(const void *block, size_t size);
size_t canaries_large_size(const void *block);
void canaries_forget_large(const void *block);
void canaries_fill_large(char *block, size_t room);
Damage canaries_judge(const char *block, uint64_t info);
void canaries_note(const Damage *damage);
void canaries_visit(Visit visit);

/* allocators.c: who is given covered blocks, and what becomes of freed ones */
const char *allocators_begin(bool freed, bool everything);
void allocators_end(void);
void allocators_visit(Visit visit);

/* culprits.c: in a re-execution, which line does it */
uint64_t culprits_allocated(const char *block, uint64_t info);
void culprits_freed(const char *block, uint64_t info);
void culprits_gone(const char *block, uint64_t info);
void culprits_found(const Damage *damage);

/* ---- what is known of a block ---- */

static inline uint64_t serial_of(uint64_t info)
{
    return info >> STATE_BITS;
}

static inline enum Class class_of(uint64_t info)
{
    return (enum Class)(info >> STATE_BITS & ((1 << CLASS_BITS) - 1));
}

static inline size_t word_in_region(const void *block)
{
    return (uintptr_t)block >> 4 & (REGION_WORDS - 1);
}

/* NULL if no block near there was ever covered */
static inline uint64_t *canaries_find(const void *block)
{
    uint64_t *region = REGIONS[(uintptr_t)block >> REGION_BITS];
    return region == NULL ? NULL : &region[word_in_region(block)];
}

static inline size_t canaries_size(const void *block, uint64_t info)
{
    size_t size = info >> (STATE_BITS + CLASS_BITS) & LARGE;
    return __builtin_expect(size < LARGE, 1) ? size : canaries_large_size(block);
}

/* A word that says all of a new block. */
static inline uint64_t new_info(size_t size, enum Class class, bool has_front, bool is_plain)
{
    bool is_counted = is_plain || size < COUNTED_SIZES, is_large = !is_plain && size >= LARGE;
    uint64_t number = ++COUNTS[class][is_counted ? size : COUNTED_SIZES - 1];
    return number << (STATE_BITS + CLASS_BITS + SIZE_BITS) |
           (uint64_t)(is_large ? LARGE : size) << (STATE_BITS + CLASS_BITS) |
           (uint64_t)class << STATE_BITS | (has_front ? HAS_FRONT : 0);
}

/* The block is given back. */
static inline void canaries_forget(const void *block, uint64_t *info)
{
    if (__builtin_expect((*info >> (STATE_BITS + CLASS_BITS) & LARGE) == LARGE, 0)) {
        canaries_forget_large(block);
    }
    *info = 0;
}

/* ---- the bytes ----
 *
 * They differ from block to block, so that a block that is copied with too many bytes does not
 * bring the right ones along. None is 0, 1, 255 or a character of ASCII that is seen. */

static inline uint64_t word_of(const void *block)
{
    uint64_t mixed = (uintptr_t)block * 0x9E3779B97F4A7C15ULL;
    mixed ^= mixed >> 29;
    return (mixed & 0x3F3F3F3F3F3F3F3FULL) | 0x8080808080808080ULL;
}

/* As a count of references it must not be that of an object that never dies, which nobody counts:
 * so the sign of the lower half is not set. */
static inline uint64_t freed_word_of(const void *block)
{
    return (word_of(block) & 0xFFFFFFFF0FFFFFFFULL) | 0x0000000010000000ULL;
}

/* Block and canaries together; a multiple of 16. */
static inline size_t canaries_room(size_t size, bool has_front)
{
    return (has_front ? FRONT : 0) + ((size + TAIL + 15) & ~(size_t)15);
}

/* The canary behind a block ends with a whole word, has one to three of them, and may begin in the
 * middle of the first. All three are gone through, even if they are the same: sizes differ too
 * much for a processor to guess how many there are. */
static inline Aliased *first_word(const char *block, size_t size)
{
    return (Aliased *)(block + (size & ~(size_t)7));
}

static inline Aliased *last_word(const char *block, size_t size)
{
    return (Aliased *)(block + canaries_room(size, false)) - 1;
}

static inline Aliased *middle_word(Aliased *first, Aliased *last)
{
    return first < last ? first + 1 : last;
}

/* What is fresh has no contents yet. */
static inline void put_tail(char *block, size_t size, uint64_t word, bool is_fresh)
{
    Aliased *first = first_word(block, size), *last = last_word(block, size);
    uint64_t kept = is_fresh ? 0 : (1ULL << (size & 7) * 8) - 1;
    *first = is_fresh ? word : (*first & kept) | (word & ~kept);
    *middle_word(first, last) = word;
    *last = word;
}

static inline uint64_t tail_damage(const char *block, size_t size, uint64_t word)
{
    Aliased *first = first_word(block, size), *last = last_word(block, size);
    return (*first ^ word) >> (size & 7) * 8 | (*middle_word(first, last) ^ word) | (*last ^ word);
}

/* How a block is covered. */
typedef struct {
    enum Class class;
    bool has_front, is_fresh;
    bool is_plain; /* it is smaller than COUNTED_SIZES, and nothing is watched */
} Cover;

/* Puts the evidence around a block; false if it cannot be covered. */
static inline __attribute__((always_inline)) bool canaries_cover(char *block, size_t size,
                                                                 Cover cover)
{
    uintptr_t number = (uintptr_t)block >> REGION_BITS;
    if (__builtin_expect(REGIONS[number] == NULL, 0) && canaries_new_region(number) == NULL) {
        return false;
    }
    if (!cover.is_plain && size >= LARGE && !canaries_keep_large(block, size)) {
        return false;
    }
    uint64_t word = word_of(block);
    if (cover.has_front) {
        ((Aliased *)block)[-1] = ((Aliased *)block)[-2] = word;
    }
    put_tail(block, size, word, cover.is_fresh);
    uint64_t info = new_info(size, cover.class, cover.has_front, cover.is_plain);
    if (!cover.is_plain && culprits_are_watched) {
        info |= culprits_allocated(block, info);
    }
    REGIONS[number][word_in_region(block)] = info;
    return true;
}

/* Is a block that is used as it should be around? */
static inline bool canaries_are_whole(const char *block, size_t size, uint64_t info)
{
    uint64_t word = word_of(block);
    uint64_t bad = tail_damage(block, size, word);
    if (info & HAS_FRONT) {
        bad |= (((const Aliased *)block)[-1] ^ word) | (((const Aliased *)block)[-2] ^ word);
    }
    return bad == 0;
}

/* A freed block is evidence up to the end of what was its canary. It is filled and looked at by 64
 * bytes, which overlap at the end, and in smaller blocks among themselves: no size takes a way of
 * its own. */
static inline void fill_four(char *at, size_t last, __m128i word)
{
    size_t second = last < 16 ? last : 16, third = last < 32 ? last : 32;
    _mm_storeu_si128((__m128i *)at, word);
    _mm_storeu_si128((__m128i *)(at + second), word);
    _mm_storeu_si128((__m128i *)(at + third), word);
    _mm_storeu_si128((__m128i *)(at + last), word);
}

static inline __m128i same_at(const char *at, __m128i word)
{
    return _mm_cmpeq_epi8(word, _mm_loadu_si128((const __m128i *)at));
}

static inline __m128i same_four(const char *at, size_t last, __m128i word)
{
    size_t second = last < 16 ? last : 16, third = last < 32 ? last : 32;
    return _mm_and_si128(_mm_and_si128(same_at(at, word), same_at(at + second, word)),
                         _mm_and_si128(same_at(at + third, word), same_at(at + last, word)));
}

static inline void canaries_fill(char *block, size_t size)
{
    __m128i word = _mm_set1_epi64x((long long)freed_word_of(block));
    size_t room = canaries_room(size, false);
    if (__builtin_expect(room > 2 * FILLED_ENDS, 0)) {
        canaries_fill_large(block, room);
        return;
    }
    if (room <= 64) {
        fill_four(block, room - 16, word);
        return;
    }
    char *end = block + room - 64;
    for (; block < end; block += 64) {
        fill_four(block, 48, word);
    }
    fill_four(end, 48, word);
}

/* Is a freed block still full of it? */
static inline bool canaries_are_full(const char *block, size_t size, uint64_t info)
{
    __m128i word = _mm_set1_epi64x((long long)freed_word_of(block));
    __m128i same = _mm_cmpeq_epi8(word, word);
    size_t room = canaries_room(size, false);
    if (__builtin_expect(room > 2 * FILLED_ENDS, 0)) {
        return false; /* it must be looked at more closely */
    }
    if (info & HAS_FRONT) {
        same = same_at(block - FRONT, _mm_set1_epi64x((long long)word_of(block)));
    }
    if (room <= 64) {
        same = _mm_and_si128(same, same_four(block, room - 16, word));
        return _mm_movemask_epi8(same) == 0xFFFF;
    }
    const char *end = block + room - 64;
    for (; block < end; block += 64) {
        same = _mm_and_si128(same, same_four(block, 48, word));
    }
    same = _mm_and_si128(same, same_four(end, 48, word));
    return _mm_movemask_epi8(same) == 0xFFFF;
}

#endif
