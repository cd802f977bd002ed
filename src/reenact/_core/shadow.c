/* Lives of addresses: tells an object from another one that came to lie where it was.
 *
 * For every 16 bytes of memory there are 16 bits: how often a tracked object there has died, and
 * whether one is tracked there now. The map is as large as the address space and costs memory only
 * where objects are tracked. Objects die in the allocator's free; but lists and dicts may go to
 * free lists of their own, past it, so their types' tp_dealloc is watched too. */
#include "races.h"
#include <string.h>
#include <sys/mman.h>

enum { SHADOW_BITS = 44 };

static PyMemAllocatorEx native;
static destructor native_list_dealloc, native_dict_dealloc;
static bool is_mapped, is_watching;

static inline void end_life(const void *object)
{
    uint16_t *shadow = shadow_at(object);
    if (__builtin_expect(*shadow & 1, 0)) {
        ++*shadow; /* the lowest bit is cleared, the count goes up */
    }
}

/* An object lies at the start of its block, or behind a header of 16 or 32 bytes. Whether it does
 * its type says, which is there until the memory is gone; else it is a neighbour. */
static void __attribute__((noinline)) end_lives(const char *block)
{
    for (size_t header = 0; header <= 32; header += 16) {
        PyObject *object = (PyObject *)(block + header);
        if ((*shadow_at(object) & 1) && compat_header_size(Py_TYPE(object)) == header) {
            end_life(object);
        }
    }
}

static inline void end_block(const void *block)
{
    uint64_t four;
    memcpy(&four, shadow_at(block), sizeof four);
    if (__builtin_expect((four & 0x0000000100010001ULL) != 0, 0)) {
        end_lives(block);
    }
}

static void watched_free(void *context, void *block)
{
    (void)context;
    end_block(block);
    native.free(native.ctx, block);
}

static void *watched_realloc(void *context, void *block, size_t size)
{
    (void)context;
    end_block(block); /* what is resized is no object that anybody has */
    return native.realloc(native.ctx, block, size);
}

static void list_dealloc(PyObject *object)
{
    end_life(object);
    native_list_dealloc(object);
}

static void dict_dealloc(PyObject *object)
{
    end_life(object);
    native_dict_dealloc(object);
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
