/* What is known of memory: lives of addresses, and the eras in which objects were made.
 *
 * Lives tell an object from another one that came to lie where it was. For every 16 bytes of memory
 * there are 16 bits: how often a tracked object there has died, and whether one is tracked there
 * now. Objects die in the allocator's free; but lists and dicts may go to free lists of their own,
 * past it, so their types' tp_dealloc is watched too.
 *
 * Eras tell what only one thread can know. A thread's era ends when it releases something, starts
 * a thread, or writes to something that others may know. What it has allocated since then nobody
 * else can have, and what it does to that cannot race. If somebody has it all the same, by a way
 * that is not looked at, the era ends there.
 *
 * Both maps are as large as the address space and cost memory only where there are objects. */
#include "races.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { SHADOW_BITS = 44, ERA_BITS = 45 };

static PyMemAllocatorEx native;
static destructor native_list_dealloc, native_dict_dealloc;
static bool is_mapped, is_watching;
static uint32_t latest_era;

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

/* ---- free lists ----
 *
 * Who takes a list or dict out of Python's free lists is not seen. But what was put there last is
 * taken first, and what was taken has a reference count again: so before the baton is handed over,
 * and before an era ends, it can be told what its holder has taken. Without the GIL each thread has
 * free lists of its own. */

enum { LISTS, DICTS, KINDS, MOST_FREE = 100 };

struct FreeList {
    PyObject *kept[MOST_FREE];
    int count;
};

typedef struct FreeLists FreeLists;
struct FreeLists {
    struct FreeList of[KINDS];
    FreeLists *next;
    bool is_used;
};

static FreeLists first_lists = {.is_used = true}; /* those of all threads, if there is the GIL */
static __thread FreeLists *own_lists;
static Guard lists_guard; /* of the chain */

static FreeLists *take_lists(void)
{
    compat_guard(&lists_guard);
    FreeLists *lists = &first_lists;
    while (lists != NULL && lists->is_used) {
        lists = lists->next;
    }
    if (lists == NULL && (lists = calloc(1, sizeof *lists)) != NULL) {
        lists->next = first_lists.next;
        first_lists.next = lists;
    }
    lists = lists == NULL ? &first_lists : lists;
    lists->is_used = true;
    compat_unguard(&lists_guard);
    return lists;
}

static struct FreeList *lists_of(int kind)
{
    if (!FREE_LISTS_ARE_OF_THREADS) {
        return &first_lists.of[kind];
    }
    if (own_lists == NULL) {
        own_lists = take_lists();
    }
    return &own_lists->of[kind];
}

/* The calling thread ends, and has emptied its free lists. */
void shadow_leave(void)
{
    if (own_lists != NULL) {
        own_lists->of[LISTS].count = own_lists->of[DICTS].count = 0;
        own_lists->is_used = false;
        own_lists = NULL;
    }
}

static inline uint32_t *era_at(const void *address)
{
    return &ERAS[(uintptr_t)address >> 4];
}

static inline uint32_t era_of(const Thread *thread)
{
    return thread == NULL || thread->era == NO_ERA ? 0 : thread->era;
}

static void settle(struct FreeList *list)
{
    while (list->count > 0 && Py_REFCNT(list->kept[list->count - 1]) != 0) {
        *era_at(list->kept[--list->count]) = era_of(gate.holder);
    }
}

void shadow_settle(void)
{
    if (is_watching) {
        settle(lists_of(LISTS));
        settle(lists_of(DICTS));
    }
}

static void take_out_of(struct FreeList *list, const PyObject *object)
{
    int i = list->count - 1;
    while (i >= 0 && list->kept[i] != object) {
        i--;
    }
    while (i >= 0 && list->count > i) {
        PyObject *other = list->kept[--list->count];
        *era_at(other) = Py_REFCNT(other) != 0 ? era_of(gate.holder) : 0;
    }
}

/* The object is not there any more, nor what was put there after it. It may die in another thread
 * than the one that has taken it, and a collection empties the free lists of all threads. */
static void take_out(int kind, const PyObject *object)
{
    compat_guard(&lists_guard);
    for (FreeLists *lists = &first_lists; lists != NULL; lists = lists->next) {
        take_out_of(&lists->of[kind], object);
    }
    compat_unguard(&lists_guard);
    *era_at(object) = 0;
}

/* It dies: what is in it dies first, and may get there before it, if it gets there at all. */
static void begin_end(int kind, const PyObject *object)
{
    if (*era_at(object) == IN_FREE_LIST) {
        take_out(kind, object);
    }
    *era_at(object) = LEAVING;
}

static void end_end(int kind, PyObject *object)
{
    struct FreeList *list = lists_of(kind);
    if (*era_at(object) != LEAVING) {
        return; /* its memory was freed, and may be another one's */
    }
    settle(list);
    bool has_room = list->count < MOST_FREE;
    *era_at(object) = has_room ? IN_FREE_LIST : 0;
    if (has_room) {
        list->kept[list->count++] = object;
    }
}

static void __attribute__((noinline)) forget_free(const PyObject *object)
{
    take_out(LISTS, object);
    take_out(DICTS, object);
}

/* ---- eras ---- */

uint32_t new_era(void)
{
    shadow_settle();
    latest_era += latest_era < LEAVING - 1; /* then nothing is anybody's own any more */
    return latest_era < LEAVING - 1 ? latest_era : NO_ERA;
}

/* Where the object is, its type will say: behind a header of up to 32 bytes. */
static inline void begin_era(const void *block, size_t size)
{
    uint32_t *era = era_at(block), mine = era_of(me);
    era[0] = mine;
    if (size > 16) {
        era[1] = mine;
    }
    if (size > 32) {
        era[2] = mine;
    }
}

/* What has attributes or items has 16 bytes before it, for the garbage collector, and three words.
 */
enum { LARGEST_ATOM = 32 };

static void *watched_malloc(void *context, size_t size)
{
    (void)context;
    if (size <= LARGEST_ATOM || size % sizeof(void *) != 0) {
        return native.malloc(native.ctx, size); /* a number or a text: nobody asks whose it is */
    }
    void *block = native.malloc(native.ctx, size);
    begin_era(block, size);
    return block;
}

static void *watched_calloc(void *context, size_t count, size_t size)
{
    (void)context;
    void *block = native.calloc(native.ctx, count, size);
    begin_era(block, count * size);
    return block;
}

/* Others may know the object. If only the thread of its era could, that one's era ends. */
void shadow_make_public(PyObject *object)
{
    uint32_t era = *era_at(object);
    if (era == IN_FREE_LIST) {
        forget_free(object);
    }
    *era_at(object) = 0;
    for (uint32_t i = 0; i < gate.state->threads; i++) {
        if (gate.slots[i].era == era) {
            gate.slots[i].era = new_era();
        }
    }
}

/* Nobody but this thread has the object any more: it is as if it were new. */
void shadow_renew(PyObject *object)
{
    where_is(object);
    end_life(object);
    *era_at(object) = era_of(me);
}

/* ---- ends ---- */

static void watched_free(void *context, void *block)
{
    (void)context;
    end_block(block);
    const PyObject *object = (const PyObject *)((const char *)block + GC_HEADER);
    uint32_t *era = era_at(object);
    if (__builtin_expect(*era >= LEAVING, 0)) {
        if (*era == LEAVING) { /* not there any more, nor yet */
            *era = 0;
        }
        else {
            forget_free(object);
        }
    }
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
    bool is_exact = PyList_CheckExact(object);
    end_life(object);
    if (is_exact) {
        begin_end(LISTS, object);
    }
    native_list_dealloc(object);
    if (is_exact) {
        end_end(LISTS, object);
    }
}

static void dict_dealloc(PyObject *object)
{
    bool is_exact = PyDict_CheckExact(object);
    end_life(object);
    if (is_exact) {
        begin_end(DICTS, object);
    }
    native_dict_dealloc(object);
    if (is_exact) {
        end_end(DICTS, object);
    }
}

static void forget_free_lists(void)
{
    for (FreeLists *lists = &first_lists; lists != NULL; lists = lists->next) {
        lists->of[LISTS].count = lists->of[DICTS].count = 0;
    }
}

/* What is in the free lists by now is taken out and put back in the same order, so that it is
 * known. The first that does not come from there is given back as if it had never been. */
static bool has_allocated;

static void *noting_malloc(void *context, size_t size)
{
    (void)context;
    has_allocated = true;
    return native.malloc(native.ctx, size);
}

static void learn_free_list(PyObject *(*make)(void))
{
    PyObject *taken[MOST_FREE];
    int count = 0;
    has_allocated = false;
    while (count < MOST_FREE && (taken[count] = make()) != NULL && !has_allocated) {
        count++;
    }
    if (has_allocated && taken[count] != NULL) {
        PyObject_GC_UnTrack(taken[count]);
        PyObject_GC_Del(taken[count]);
    }
    while (count > 0) {
        Py_DECREF(taken[--count]);
    }
}

static PyObject *new_list(void)
{
    return PyList_New(0);
}

static int map_at(void *place, int bits)
{
    void *at = mmap(place, 1ULL << bits, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (at != place) {
        PyErr_SetString(PyExc_OSError, "no address space for race detection: it reserves 48 "
                                       "TB, of which it uses little (see ulimit -v)");
        return -1;
    }
    madvise(place, 1ULL << bits, MADV_NOHUGEPAGE);
    return 0;
}

bool shadow_is_open(void)
{
    return is_watching;
}

int shadow_open(void)
{
    if (!is_mapped && (map_at(SHADOW, SHADOW_BITS) < 0 || map_at(ERAS, ERA_BITS) < 0)) {
        return -1;
    }
    is_mapped = true;
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
    watched.malloc = noting_malloc;
    PyMem_SetAllocator(PYMEM_DOMAIN_OBJ, &watched);
    learn_free_list(new_list);
    learn_free_list(PyDict_New);
    watched.malloc = watched_malloc;
    watched.calloc = watched_calloc;
    watched.free = watched_free;
    watched.realloc = watched_realloc;
    PyMem_SetAllocator(PYMEM_DOMAIN_OBJ, &watched);
    return 0;
}

void shadow_close(void)
{
    if (is_watching) {
        forget_free_lists();
        is_watching = false;
        PyMem_SetAllocator(PYMEM_DOMAIN_OBJ, &native);
        PyList_Type.tp_dealloc = native_list_dealloc;
        PyDict_Type.tp_dealloc = native_dict_dealloc;
    }
}
