/* What a new thread is handed at its start, in memory of ours.
 *
 * Python's start of a thread takes a few bytes with malloc, which the new thread frees before it
 * waits for anything. At its first free glibc makes it a cache, in the heap that all threads share:
 * where that lies, and what the thread that started it gets next, would depend on which of the two
 * is faster. So these bytes do not come from malloc, and a thread's first malloc is one that it
 * makes with the baton. */
#include "core.h"
#include <string.h>

enum { SLOTS = 256, SLOT_SIZE = 64 };

static char memory[SLOTS][SLOT_SIZE] __attribute__((aligned(16)));
static atomic_bool is_taken[SLOTS];
static __thread bool is_starting;
static PyMemAllocatorEx native;

static bool is_ours(const void *block)
{
    return (const char *)block >= memory[0] && (const char *)block < memory[SLOTS];
}

static void *take(void *unused, size_t size)
{
    (void)unused;
    for (int i = 0; __builtin_expect(is_starting, 0) && size <= SLOT_SIZE && i < SLOTS; i++) {
        bool nobody = false;
        if (atomic_compare_exchange_strong(&is_taken[i], &nobody, true)) {
            return memory[i];
        }
    }
    return native.malloc(native.ctx, size);
}

static void *take_cleared(void *unused, size_t count, size_t size)
{
    (void)unused;
    return native.calloc(native.ctx, count, size);
}

static void give_back(void *unused, void *block)
{
    (void)unused;
    if (__builtin_expect(is_ours(block), 0)) {
        atomic_store(&is_taken[((char *)block - memory[0]) / SLOT_SIZE], false);
        return;
    }
    native.free(native.ctx, block);
}

static void *resize(void *unused, void *block, size_t size)
{
    if (__builtin_expect(!is_ours(block), 1)) {
        return native.realloc(native.ctx, block, size);
    }
    void *larger = native.malloc(native.ctx, size);
    if (larger != NULL) {
        memcpy(larger, block, size < SLOT_SIZE ? size : SLOT_SIZE);
        give_back(unused, block);
    }
    return larger;
}

/* Around the native start of a thread. */
void boots_begin(void)
{
    is_starting = true;
}

void boots_end(void)
{
    is_starting = false;
}

void boots_install(void)
{
    PyMemAllocatorEx ours = {NULL, take, take_cleared, resize, give_back};
    PyMem_GetAllocator(PYMEM_DOMAIN_RAW, &native);
    PyMem_SetAllocator(PYMEM_DOMAIN_RAW, &ours);
}
