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
#include <stdio.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

enum { MEMORY_BITS = 38, MOST_LARGE = 1 << 16, MOST_FOUND = 1024 };

bool looks_for_overflows;
const char *const DAMAGES[] = {"", "overflow", "underflow", "use after free", "double free"};

static char *next_memory;
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

/* Threads without the GIL come here as well, with blocks of the raw domain. */
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

/* NULL if there is no more */
static void *take(size_t size)
{
    size = (size + 4095) & ~(size_t)4095;
    if (next_memory + size > (char *)CANARY_MEMORY + (1ULL << MEMORY_BITS)) {
        return NULL;
    }
    next_memory += size;
    return next_memory - size;
}

/* -1 with an exception set */
int canaries_map(void)
{
    if (next_memory != NULL) {
        return 0;
    }
    void *at = mmap((void *)CANARY_MEMORY, 1ULL << MEMORY_BITS, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (at != (void *)CANARY_MEMORY || pthread_atfork(lock, unlock, unlock) != 0) {
        PyErr_SetString(PyExc_OSError, "no address space for canaries: they reserve 256 GB, of "
                                       "which they use little (see ulimit -v)");
        return -1;
    }
    madvise(at, 1ULL << MEMORY_BITS, MADV_NOHUGEPAGE);
    next_memory = (char *)&COUNTS[CLASS_COUNT];
    used_regions = take(sizeof *used_regions << (SPACE_BITS - REGION_BITS));
    larges = take(sizeof *larges * MOST_LARGE);
    return 0;
}

uint64_t *canaries_new_region(uintptr_t number)
{
    lock();
    if (REGIONS[number] == NULL) {
        REGIONS[number] = take(sizeof(uint64_t) * REGION_WORDS);
        if (REGIONS[number] != NULL) {
            used_regions[used_count++] = (uint32_t)number;
        }
    }
    unlock();
    return REGIONS[number];
}

/* ---- large blocks ---- */

bool canaries_keep_large(const void *block, size_t size)
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
    for (uint32_t i = large_count; i-- > 0;) {
        if (larges[i].block == block) {
            return &larges[i];
        }
    }
    return NULL;
}

size_t canaries_large_size(const void *block)
{
    lock();
    const struct Large *large = find_large(block);
    size_t size = large == NULL ? 0 : large->size;
    unlock();
    return size;
}

void canaries_forget_large(const void *block)
{
    lock();
    struct Large *large = find_large(block);
    if (large != NULL) {
        *large = larges[--large_count];
    }
    unlock();
}

static void fill(char *from, const char *end, uint64_t word)
{
    for (Aliased *at = (Aliased *)from; at < (const Aliased *)end; at++) {
        *at = word;
    }
}

/* Of a freed block that is large, both ends are evidence. */
void canaries_fill_large(char *block, size_t room)
{
    uint64_t word = freed_word_of(block);
    fill(block, block + FILLED_ENDS, word);
    fill(block + room - FILLED_ENDS, block + room, word);
}

/* ---- where the damage is ---- */

/* The first byte that is not what was put there, or NULL; up to an end that is a whole word's. */
static const char *first_bad(const char *from, const char *end, uint64_t word)
{
    const Aliased *at = (const Aliased *)((uintptr_t)from & ~(uintptr_t)7);
    uint64_t ignored = (1ULL << ((uintptr_t)from & 7) * 8) - 1;
    for (; at < (const Aliased *)end; at++, ignored = 0) {
        uint64_t bad = (*at ^ word) & ~ignored;
        if (bad != 0) {
            return (const char *)at + (__builtin_ctzll(bad) >> 3);
        }
    }
    return NULL;
}

static const char *first_bad_freed(const char *block, size_t size)
{
    uint64_t word = freed_word_of(block);
    size_t room = canaries_room(size, false);
    if (room <= 2 * FILLED_ENDS) {
        return first_bad(block, block + room, word);
    }
    const char *bad = first_bad(block, block + FILLED_ENDS, word);
    return bad != NULL ? bad : first_bad(block + room - FILLED_ENDS, block + room, word);
}

static Damage damage_at(const char *bad, enum DamageKind kind, const char *block, uint64_t info)
{
    return (Damage){kind, block, canaries_size(block, info), bad - block, serial_of(info)};
}

/* Has somebody written there? */
Damage canaries_judge(const char *block, uint64_t info)
{
    size_t size = canaries_size(block, info);
    bool is_freed = info & IS_FREED;
    const char *bad = NULL;
    if (!is_freed && !looks_for_overflows) {
        return (Damage){.kind = NO_DAMAGE};
    }
    if (is_freed ? canaries_are_full(block, size, info) : canaries_are_whole(block, size, info)) {
        return (Damage){.kind = NO_DAMAGE};
    }
    if ((info & HAS_FRONT) && (bad = first_bad(block - FRONT, block, word_of(block))) != NULL) {
        return damage_at(bad, is_freed ? USE_AFTER_FREE : UNDERFLOW, block, info);
    }
    if (is_freed && (bad = first_bad_freed(block, size)) != NULL) {
        return damage_at(bad, USE_AFTER_FREE, block, info);
    }
    const char *end = block + canaries_room(size, false);
    if (!is_freed && (bad = first_bad(block + size, end, word_of(block))) != NULL) {
        return damage_at(bad, OVERFLOW, block, info);
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
        uint64_t *region = REGIONS[used_regions[i]];
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

/* How many blocks are damaged that were not told yet; what they are goes into a text, as much as
 * fits: kind, size, offset and serial. */
uint32_t canaries_tell(char *text, size_t size)
{
    if (next_memory == NULL) {
        return 0;
    }
    allocators_visit(check_one);
    uint32_t count = found_count;
    size_t used = 0;
    for (uint32_t i = 0; i < count && used < size; i++) {
        int written = snprintf(text + used, size - used, "%s %zu %lld %llu\n",
                               DAMAGES[found[i].kind], (size_t)found[i].size,
                               (long long)found[i].offset, (unsigned long long)found[i].serial);
        used += written > 0 ? (size_t)written : 0;
    }
    found_count = 0;
    return count;
}

/* Blocks are covered from now on; why they cannot be, or NULL. */
const char *canaries_start(bool overflow, bool freed)
{
    if (canaries_map() < 0) {
        PyErr_Clear();
        return "there is no memory for them";
    }
    looks_for_overflows = overflow;
    return allocators_begin(freed, false);
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
    const char *refusal = allocators_begin(freed, everything);
    if (refusal != NULL) {
        PyErr_SetString(PyExc_RuntimeError, refusal);
        return NULL;
    }
    looks_for_overflows = overflow;
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
