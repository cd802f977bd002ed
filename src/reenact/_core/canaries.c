/* Canaries: evidence of writes behind, before and after the life of a block of memory.
 *
 * Behind a covered block, and before it if there is room, lie bytes that nobody may change; a freed
 * block is full of them as long as it is kept (allocators.c). This file knows which blocks there
 * are and finds those whose bytes have changed. It takes no stacks: these come from a re-execution
 * (culprits.c), in which the block has the same serial.
 *
 * What is known of a block lies far away from it, where no overflow gets to: for every 16 bytes of
 * a region of the address space, one word. All memory is mapped at an address of our own, so that
 * the program's objects lie where they lie in a re-execution. */
#include "canaries.h"
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#define PLACE ((char *)0x2D0000000000ULL)
enum { PLACE_BITS = 38, SPACE_BITS = 47, REGION_BITS = 20, MOST_LARGE = 1 << 16 };
enum { COUNTED_SIZES = 1 << 16, MOST_FOUND = 1024, FILLED_ENDS = 1 << 15 };
enum { REGION_WORDS = 1 << (REGION_BITS - 4) };

typedef uint64_t __attribute__((may_alias)) Aliased;

bool looks_for_overflows, looks_for_freed;
const char *const DAMAGES[] = {"", "overflow", "underflow", "use after free", "double free"};

static char *next_memory;
static uint64_t **regions; /* by address; NULL if nothing in it was ever covered */
static uint64_t (*counts)[COUNTED_SIZES];
static uint32_t *used_regions; /* in order of their first use */
static uint32_t used_count;
static struct Large {
    const void *block;
    size_t size;
} *larges;
static uint32_t large_count;
static Damage found[MOST_FOUND];
static uint32_t found_count;

/* ---- memory of our own ---- */

/* Threads without the GIL come here as well: for blocks of the raw domain, and for new regions. */
static atomic_flag is_locked = ATOMIC_FLAG_INIT;

static void lock(void)
{
    while (atomic_flag_test_and_set_explicit(&is_locked, memory_order_acquire)) {
        __builtin_ia32_pause();
    }
}

static void unlock(void)
{
    atomic_flag_clear_explicit(&is_locked, memory_order_release);
}

static void *take(size_t size)
{
    void *memory = next_memory;
    next_memory += (size + 4095) & ~(size_t)4095;
    return next_memory > PLACE + (1ULL << PLACE_BITS) ? NULL : memory;
}

/* -1 with an exception set */
int canaries_map(void)
{
    if (next_memory != NULL) {
        return 0;
    }
    void *at = mmap(PLACE, 1ULL << PLACE_BITS, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (at != PLACE || pthread_atfork(lock, unlock, unlock) != 0) {
        PyErr_SetString(PyExc_OSError, "no address space for canaries: they reserve 256 GB, of "
                                       "which they use little (see ulimit -v)");
        return -1;
    }
    madvise(at, 1ULL << PLACE_BITS, MADV_NOHUGEPAGE);
    next_memory = PLACE;
    regions = take(sizeof *regions << (SPACE_BITS - REGION_BITS));
    counts = take(sizeof *counts * CLASS_COUNT);
    used_regions = take(sizeof *used_regions << (SPACE_BITS - REGION_BITS));
    larges = take(sizeof *larges * MOST_LARGE);
    return 0;
}

static uint64_t *__attribute__((noinline)) new_region(uintptr_t number)
{
    lock();
    if (regions[number] == NULL) {
        regions[number] = take(sizeof(uint64_t) * REGION_WORDS);
        if (regions[number] != NULL) {
            used_regions[used_count++] = (uint32_t)number;
        }
    }
    unlock();
    return regions[number];
}

/* ---- what is known of a block ---- */

static inline size_t word_in_region(uintptr_t address)
{
    return address >> 4 & (REGION_WORDS - 1);
}

/* NULL if no block there was ever covered */
uint64_t *canaries_find(const void *block)
{
    uintptr_t address = (uintptr_t)block;
    if (__builtin_expect(address >> SPACE_BITS != 0, 0)) {
        return NULL;
    }
    uint64_t *region = regions[address >> REGION_BITS];
    return region == NULL ? NULL : &region[word_in_region(address)];
}

static uint64_t *find_or_make(const void *block)
{
    uintptr_t address = (uintptr_t)block;
    uint64_t *region = regions[address >> REGION_BITS];
    if (__builtin_expect(region == NULL, 0)) {
        region = new_region(address >> REGION_BITS);
    }
    return region == NULL ? NULL : &region[word_in_region(address)];
}

static bool keep_large(const void *block, size_t size)
{
    lock();
    bool has_room = large_count < MOST_LARGE;
    if (has_room) {
        larges[large_count++] = (struct Large){block, size};
    }
    unlock();
    return has_room;
}

static struct Large *find_large(const void *block)
{
    for (uint32_t i = 0; i < large_count; i++) {
        if (larges[i].block == block) {
            return &larges[i];
        }
    }
    return NULL;
}

size_t canaries_size(const void *block, uint64_t info)
{
    size_t size = info >> (STATE_BITS + CLASS_BITS) & LARGE;
    if (__builtin_expect(size < LARGE, 1)) {
        return size;
    }
    lock();
    const struct Large *large = find_large(block);
    size = large == NULL ? 0 : large->size;
    unlock();
    return size;
}

/* The block is given back. */
void canaries_forget(const void *block, uint64_t *info)
{
    if ((*info >> (STATE_BITS + CLASS_BITS) & LARGE) == LARGE) {
        lock();
        struct Large *large = find_large(block);
        if (large != NULL) {
            *large = larges[--large_count];
        }
        unlock();
    }
    *info = 0;
}

/* ---- the bytes ----
 *
 * They differ from block to block, so that a block that is copied with too many bytes does not
 * bring the right ones along. None is 0, 255 or a letter. */

static inline uint64_t word_of(const void *block)
{
    uint64_t mixed = (uintptr_t)block * 0x9E3779B97F4A7C15ULL;
    mixed ^= mixed >> 29;
    return (mixed & 0x3F3F3F3F3F3F3F3FULL) | 0x8080808080808080ULL;
}

/* As a count of references it is no object's that never dies, which nobody would count. */
static inline uint64_t freed_word_of(const void *block)
{
    return word_of(block) ^ 0x00000000C0000000ULL;
}

size_t canaries_room(size_t size, bool has_front)
{
    return (has_front ? FRONT : 0) + ((size + TAIL + 15) & ~(size_t)15);
}

static inline const char *end_of(const char *block, size_t size)
{
    return block + canaries_room(size, false);
}

static inline void put(char *from, const char *end, uint64_t word)
{
    Aliased *at = (Aliased *)((uintptr_t)from & ~(uintptr_t)7);
    uint64_t kept = (1ULL << ((uintptr_t)from & 7) * 8) - 1;
    *at = (*at & kept) | (word & ~kept);
    while (++at < (const Aliased *)end) {
        *at = word;
    }
}

/* The first byte that is not what was put there, or NULL; up to an end that is a whole word's. */
static inline const char *first_bad(const char *from, const char *end, uint64_t word)
{
    const Aliased *at = (const Aliased *)((uintptr_t)from & ~(uintptr_t)7);
    uint64_t ignored = (1ULL << ((uintptr_t)from & 7) * 8) - 1;
    for (; at < (const Aliased *)end; at++, ignored = 0) {
        uint64_t bad = (*at ^ word) & ~ignored;
        if (__builtin_expect(bad != 0, 0)) {
            return (const char *)at + (__builtin_ctzll(bad) >> 3);
        }
    }
    return NULL;
}

/* A word that says all of a new block; 0 if there is no room for that. */
static inline uint64_t new_info(size_t size, enum Class class, bool has_front)
{
    uint64_t number = ++counts[class][size < COUNTED_SIZES ? size : COUNTED_SIZES - 1];
    return number << (STATE_BITS + CLASS_BITS + SIZE_BITS) |
           (uint64_t)(size < LARGE ? size : LARGE) << (STATE_BITS + CLASS_BITS) |
           (uint64_t)class << STATE_BITS | (has_front ? HAS_FRONT : 0);
}

/* Puts the evidence around a block; false if it cannot be covered. */
bool canaries_cover(char *block, size_t size, enum Class class, bool has_front)
{
    uint64_t *info = find_or_make(block), word = word_of(block);
    if (info == NULL || (size >= LARGE && !keep_large(block, size))) {
        return false;
    }
    *info = new_info(size, class, has_front);
    if (has_front) {
        ((Aliased *)block)[-1] = ((Aliased *)block)[-2] = word;
    }
    put(block + size, end_of(block, size), word);
    if (__builtin_expect(culprits_are_watched, 0)) {
        *info |= culprits_allocated(block, *info);
    }
    return true;
}

/* Of a freed block that is very large, only both ends are evidence. The last word may be in part
 * canary: it becomes evidence of the freed block, as all that follows. */
void canaries_fill(char *block, size_t size)
{
    uint64_t word = freed_word_of(block);
    const char *end = end_of(block, size);
    if (end - block <= 2 * FILLED_ENDS) {
        put(block, end, word);
        return;
    }
    put(block, block + FILLED_ENDS, word);
    put((char *)end - FILLED_ENDS, end, word);
}

static const char *first_bad_freed(const char *block, size_t size)
{
    uint64_t word = freed_word_of(block);
    const char *end = end_of(block, size);
    if (end - block <= 2 * FILLED_ENDS) {
        return first_bad(block, end, word);
    }
    const char *bad = first_bad(block, block + FILLED_ENDS, word);
    return bad != NULL ? bad : first_bad(end - FILLED_ENDS, end, word);
}

static Damage damage(enum DamageKind kind, const char *block, uint64_t info, const char *bad)
{
    return (Damage){kind, block, canaries_size(block, info), bad - block, serial_of(info)};
}

/* Has somebody written there? */
Damage canaries_judge(const char *block, uint64_t info)
{
    size_t size = canaries_size(block, info);
    uint64_t word = word_of(block);
    bool is_freed = info & IS_FREED;
    const char *bad = NULL;
    if (!is_freed && !looks_for_overflows) {
        return (Damage){.kind = NO_DAMAGE};
    }
    if ((info & HAS_FRONT) && (bad = first_bad(block - FRONT, block, word)) != NULL) {
        return damage(is_freed ? USE_AFTER_FREE : UNDERFLOW, block, info, bad);
    }
    if (is_freed && (bad = first_bad_freed(block, size)) != NULL) {
        return damage(USE_AFTER_FREE, block, info, bad);
    }
    if (!is_freed && (bad = first_bad(block + size, end_of(block, size), word)) != NULL) {
        return damage(OVERFLOW, block, info, bad);
    }
    return (Damage){.kind = NO_DAMAGE};
}

/* ---- what was found ---- */

/* Kept until the next check; of more than a thousand the rest is not news any more. */
void canaries_note(const Damage *damage)
{
    lock();
    if (found_count < MOST_FOUND) {
        found[found_count++] = *damage;
    }
    unlock();
    if (culprits_are_watched) {
        culprits_found(damage);
    }
}

void canaries_visit(Visit visit)
{
    for (uint32_t i = 0; i < used_count; i++) {
        uint64_t *region = regions[used_regions[i]];
        uintptr_t start = (uintptr_t)used_regions[i] << REGION_BITS;
        for (size_t word = 0; word < REGION_WORDS; word++) {
            if (__builtin_expect(region[word] != 0, 0)) {
                visit((const char *)(start + (word << 4)), &region[word]);
            }
        }
    }
}

static void check_one(const char *block, uint64_t *info)
{
    Damage damage = canaries_judge(block, *info);
    if (damage.kind != NO_DAMAGE && !(*info & IS_TOLD)) {
        *info |= IS_TOLD;
        canaries_note(&damage);
    }
}

static PyObject *show_found(void)
{
    PyObject *list = PyList_New(0);
    for (uint32_t i = 0; list != NULL && i < found_count; i++) {
        const Damage *each = &found[i];
        PyObject *shown = Py_BuildValue(
            "sKnLK", DAMAGES[each->kind], (unsigned long long)(uintptr_t)each->block,
            (Py_ssize_t)each->size, (long long)each->offset, (unsigned long long)each->serial);
        if (shown == NULL || PyList_Append(list, shown) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(shown);
    }
    return list;
}

/* canaries_check(): what was found since the last one, each once: kind, address, size, offset of
 * the first bad byte, serial */
static PyObject *check(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    if (next_memory == NULL) {
        return PyList_New(0);
    }
    allocators_visit(check_one);
    quiet++;
    PyObject *list = show_found();
    quiet--;
    found_count = 0;
    return list;
}

/* canaries_begin(overflow, freed, everything=False): blocks are covered from now on */
static PyObject *begin(PyObject *module, PyObject *args)
{
    (void)module;
    int overflow, freed, everything = 0;
    if (!PyArg_ParseTuple(args, "pp|p", &overflow, &freed, &everything) || canaries_map() < 0) {
        return NULL;
    }
    const char *refusal = allocators_begin(everything);
    if (refusal != NULL) {
        PyErr_SetString(PyExc_RuntimeError, refusal);
        return NULL;
    }
    looks_for_overflows = overflow;
    looks_for_freed = freed;
    Py_RETURN_NONE;
}

/* canaries_end(): no further blocks are covered, and freed ones are not kept any more */
static PyObject *end(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    allocators_end();
    Py_RETURN_NONE;
}

PyMethodDef canary_functions[] = {{"canaries_begin", begin, METH_VARARGS, NULL},
                                  {"canaries_end", end, METH_NOARGS, NULL},
                                  {"canaries_check", check, METH_NOARGS, NULL},
                                  {NULL, NULL, 0, NULL}};
