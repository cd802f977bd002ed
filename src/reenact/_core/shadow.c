/* Lives of addresses: tells an object from another one that came to lie where it was.
 *
 * For every 16 bytes of memory there are 16 bits: how often a tracked object there has died, and
 * whether one is tracked there now. The map is as large as the address space and costs memory only
 * where objects are tracked. Objects die in the allocator's free; but lists and dicts may go to
 * free lists of their own, past it, so their types' tp_dealloc is watched too. */
#include "core.h"
#include <string.h>
#include <sys/mman.h>

#define SHADOW ((uint16_t *)0x100000000000ULL)
enum { SHADOW_BITS = 44, ADDRESS_BITS = 47 };

static PyMemAllocatorEx native;
static destructor native_list_dealloc, native_dict_dealloc;
static bool is_mapped, is_watching;

static inline uint16_t *shadow_at(const void *address)
{
    return SHADOW + ((uintptr_t)address >> 4);
}

/* Where the block of memory begins that the object is in. */
static inline const char *block_of(PyObject *object)
{
    return (const char *)object - compat_header_size(Py_TYPE(object));
}

static inline void end_life(const void *block)
{
    uint16_t *shadow = shadow_at(block);
    if (__builtin_expect(*shadow & 1, 0)) {
        ++*shadow; /* the lowest bit is cleared, the count goes up */
    }
}

static void watched_free(void *context, void *block)
{
    (void)context;
    end_life(block);
    native.free(native.ctx, block);
}

static void *watched_realloc(void *context, void *block, size_t size)
{
    (void)context;
    void *moved = native.realloc(native.ctx, block, size);
    if (moved != block && moved != NULL) {
        end_life(block);
    }
    return moved;
}

static void list_dealloc(PyObject *object)
{
    end_life(block_of(object));
    native_list_dealloc(object);
}

static void dict_dealloc(PyObject *object)
{
    end_life(block_of(object));
    native_dict_dealloc(object);
}

/* The life that the object is in; from now on its end is seen. */
uint16_t shadow_track(PyObject *object)
{
    uint16_t *shadow = shadow_at(block_of(object));
    *shadow |= 1;
    return *shadow;
}

int shadow_open(void)
{
    if (!is_mapped) {
        void *at = mmap(SHADOW, 1ULL << SHADOW_BITS, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
        if (at != SHADOW) {
            PyErr_SetString(PyExc_OSError, "no address space for race detection: it reserves 16 "
                                           "TB, of which it uses little (see ulimit -v)");
            return -1;
        }
        madvise(SHADOW, 1ULL << SHADOW_BITS, MADV_NOHUGEPAGE);
        is_mapped = true;
    }
    if (is_watching) {
        return 0;
    }
    PyMem_GetAllocator(PYMEM_DOMAIN_OBJ, &native);
    PyMemAllocatorEx watched = native;
    native_list_dealloc = PyList_Type.tp_dealloc;
    native_dict_dealloc = PyDict_Type.tp_dealloc;
    PyList_Type.tp_dealloc = list_dealloc;
    PyDict_Type.tp_dealloc = dict_dealloc;
    is_watching = true;
    /* malloc and calloc stay the native ones: their context is what they get */
    watched.free = watched_free;
    watched.realloc = watched_realloc;
    PyMem_SetAllocator(PYMEM_DOMAIN_OBJ, &watched);
    return 0;
}

void shadow_close(void)
{
    if (is_watching) {
        is_watching = false;
        PyMem_SetAllocator(PYMEM_DOMAIN_OBJ, &native);
        PyList_Type.tp_dealloc = native_list_dealloc;
        PyDict_Type.tp_dealloc = native_dict_dealloc;
    }
}
