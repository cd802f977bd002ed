/* Who is given covered blocks, and what becomes of them when they are freed.
 *
 * Python's three allocators are stood in front of. Who asks is told by the return address
 * (callers.h).
 * - An extension: all that it asks for is covered, at both ends.
 * - The interpreter: buffers (of lists, dicts, bytearrays, arrays) at both ends; objects at the
 *   far end, since what lies before their data is of their own. Objects of up to 32 bytes are not
 *   covered, unless they are instances made for a type: the others are numbers and the like. Nor
 *   are iterators, ranges, slices and other inert objects. Both have nothing that an extension
 *   could write to, and there are more of them than of all else.
 * - The interpreter in the raw domain: nothing, it is its own.
 * Where callers do not show, everything is covered, which costs more.
 *
 * A freed block stays for a while, full of canaries, and is really freed when many others
 * were freed after it. What was allocated before the beginning is known by nobody, and passed on.
 *
 * Each allocation has a short way, for what the interpreter does most, and a general one. */
#include "callers.h"
#include "canaries.h"
#include "races.h"
#include <string.h>

enum { MOST_OWN = 1 << 8, MOST_OWN_BYTES = 1 << 20 };          /* of the interpreter's, and */
enum { MOST_FOREIGN = 1 << 12, MOST_FOREIGN_BYTES = 1 << 23 }; /* of extensions: freed and kept */
enum { MOST_MOVED = 1 << 16 };

/* Freed blocks, in order. */
typedef struct {
    uint32_t first, count;
    size_t bytes;
    char *blocks[MOST_FOREIGN];
} Ring;

typedef struct {
    PyMemAllocatorEx native;
    PyMemAllocatorDomain number;
    bool is_raw;
    Ring own, foreign;
} Domain;

static Domain raw_domain = {.number = PYMEM_DOMAIN_RAW, .is_raw = true};
static Domain mem_domain = {.number = PYMEM_DOMAIN_MEM};
static Domain obj_domain = {.number = PYMEM_DOMAIN_OBJ};
static bool is_on, is_installed, keeps_freed, covers_everything;

/* The raw domain is used without the GIL as well. */
static atomic_flag raw_is_locked = ATOMIC_FLAG_INIT;

static void lock_raw(void)
{
    while (atomic_flag_test_and_set_explicit(&raw_is_locked, memory_order_acquire)) {
        __builtin_ia32_pause();
    }
}

static void unlock_raw(void)
{
    atomic_flag_clear_explicit(&raw_is_locked, memory_order_release);
}

static inline void lock_if_raw(const Domain *domain)
{
    if (domain->is_raw) {
        lock_raw();
    }
}

static inline void unlock_if_raw(const Domain *domain)
{
    if (domain->is_raw) {
        unlock_raw();
    }
}

/* All covered blocks, none of which is given back meanwhile. */
void allocators_visit(Visit visit)
{
    lock_raw();
    canaries_visit(visit);
    unlock_raw();
}

/* ---- what is covered, and how ---- */

/* Numbers and the like are of no interest. */
static inline bool is_number(const Domain *domain, size_t size, const void *caller)
{
    return domain == &obj_domain && size <= SMALL && !covers_everything && is_interpreter(caller) &&
           !is_instance_site(caller);
}

/* An interpreter that traces for us asks for tables of lines as well, which a run does not. */
static inline bool is_for_us(void)
{
    return quiet > 0 || (culprits_are_watched && compat_thread_state() != NULL &&
                         compat_thread_state()->tracing > 0);
}

/* Nothing is special: not a re-execution, and not our own code. */
static inline bool is_plain(void)
{
    return is_on && quiet == 0 && !culprits_are_watched;
}

static inline bool is_passed_on(const Domain *domain, size_t size, const void *caller)
{
    return !is_on || is_number(domain, size, caller) || (domain->is_raw && is_interpreter(caller));
}

static inline Cover cover_of(const Domain *domain, size_t size, const void *caller)
{
    bool is_own = is_interpreter(caller);
    enum Class class = domain->is_raw          ? OF_RAW
                       : is_for_us()           ? OF_OURS
                       : !is_own               ? OF_EXTENSION
                       : domain == &mem_domain ? OF_BUFFERS
                                               : OF_OBJECTS;
    bool has_front =
        domain != &obj_domain || !is_own || (size <= SMALL && is_instance_site(caller));
    return (Cover){.class = class, .has_front = has_front};
}

/* ---- freed blocks ---- */

static inline char *native_of(const char *block, uint64_t info)
{
    return (char *)block - (info & HAS_FRONT) * FRONT;
}

static inline void give_back(Domain *domain, char *block, uint64_t *info)
{
    char *native = native_of(block, *info);
    if (__builtin_expect(*info & IS_WATCHED, 0)) {
        culprits_gone(block, *info);
    }
    canaries_forget(block, info);
    domain->native.free(domain->native.ctx, native);
}

static void __attribute__((noinline)) look_at(const char *block, uint64_t info)
{
    Damage damage = canaries_judge(block, info);
    if (damage.kind != NO_DAMAGE && !(info & IS_TOLD)) {
        canaries_note(&damage);
    }
}

static inline void let_go_of_oldest(Domain *domain, Ring *ring, uint32_t most)
{
    char *block = ring->blocks[ring->first];
    uint64_t *info = canaries_find(block);
    size_t size = canaries_size(block, *info);
    ring->first = (ring->first + 1) % most;
    ring->count--;
    ring->bytes -= size;
    if (__builtin_expect(!canaries_are_full(block, size, *info), 0)) {
        look_at(block, *info);
    }
    give_back(domain, block, info);
}

static inline void keep_in(Domain *domain, Ring *ring, char *block, size_t size, uint32_t most,
                           size_t most_bytes)
{
    while (ring->count == most || (ring->count > 0 && ring->bytes + size > most_bytes)) {
        let_go_of_oldest(domain, ring, most);
    }
    ring->blocks[(ring->first + ring->count++) % most] = block;
    ring->bytes += size;
}

static inline void keep(Domain *domain, char *block, size_t size, uint64_t *info)
{
    enum Class class = class_of(*info);
    canaries_fill(block, size);
    *info = (*info | IS_FREED) & ~(uint64_t)IS_TOLD;
    if (class == OF_EXTENSION || class == OF_RAW) {
        keep_in(domain, &domain->foreign, block, size, MOST_FOREIGN, MOST_FOREIGN_BYTES);
    }
    else {
        keep_in(domain, &domain->own, block, size, MOST_OWN, MOST_OWN_BYTES);
    }
}

/* Buffers of the interpreter's are not kept. */
static inline bool is_kept(uint64_t info, size_t size)
{
    return keeps_freed && size <= MOST_OWN_BYTES && class_of(info) != OF_BUFFERS;
}

static void end_block(Domain *domain, char *block, uint64_t *info)
{
    if (*info & IS_FREED) {
        Damage damage = {DOUBLE_FREE, block, canaries_size(block, *info), 0, serial_of(*info)};
        canaries_note(&damage);
        return;
    }
    size_t size = canaries_size(block, *info);
    look_at(block, *info);
    if (*info & IS_WATCHED) {
        culprits_freed(block, *info);
    }
    if (is_kept(*info, size)) {
        keep(domain, block, size, info);
    }
    else {
        give_back(domain, block, info);
    }
}

static __attribute__((noinline)) void release(Domain *domain, char *block, uint64_t *info)
{
    lock_if_raw(domain);
    end_block(domain, block, info);
    unlock_if_raw(domain);
}

/* A block that is whole, not large, and of which nothing is to be told. */
static inline __attribute__((always_inline)) void release_plain(Domain *domain, void *context,
                                                                char *block, uint64_t *info)
{
    uint64_t known = *info;
    size_t size = known >> (STATE_BITS + CLASS_BITS) & LARGE;
    if (__builtin_expect((known & (IS_FREED | IS_WATCHED)) != 0 || size >= COUNTED_SIZES ||
                             !canaries_are_whole(block, size, known),
                         0)) {
        release(domain, block, info);
    }
    else if (is_kept(known, size)) {
        keep(domain, block, size, info);
    }
    else {
        *info = 0;
        domain->native.free(context, native_of(block, known));
    }
}

/* ---- in place of the allocators ---- */

static inline __attribute__((always_inline)) void *covered(Domain *domain, void *context,
                                                           size_t size, Cover cover)
{
    size_t room = canaries_room(size, cover.has_front);
    char *native = cover.is_fresh ? domain->native.malloc(context, room)
                                  : domain->native.calloc(context, 1, room);
    if (__builtin_expect(native == NULL, 0)) {
        return NULL;
    }
    char *block = native + (cover.has_front ? FRONT : 0);
    if (__builtin_expect(!canaries_cover(block, size, cover), 0)) {
        domain->native.free(domain->native.ctx, native);
        return cover.is_fresh ? domain->native.malloc(domain->native.ctx, size)
                              : domain->native.calloc(domain->native.ctx, 1, size);
    }
    return block;
}

static void *covered_in_turn(Domain *domain, size_t size, Cover cover)
{
    lock_if_raw(domain);
    void *block = covered(domain, domain->native.ctx, size, cover);
    unlock_if_raw(domain);
    return block;
}

static __attribute__((noinline)) void *allocate(Domain *domain, size_t size, const void *caller)
{
    if (is_passed_on(domain, size, caller)) {
        if (is_number(domain, size, caller)) {
            note_number_caller(caller);
        }
        return domain->native.malloc(domain->native.ctx, size);
    }
    Cover cover = cover_of(domain, size, caller);
    cover.is_fresh = true;
    return covered_in_turn(domain, size, cover);
}

static __attribute__((noinline)) void *allocate_zero(Domain *domain, size_t count, size_t size,
                                                     const void *caller)
{
    return is_passed_on(domain, count * size, caller)
               ? domain->native.calloc(domain->native.ctx, count, size)
               : covered_in_turn(domain, count * size, cover_of(domain, count * size, caller));
}

static inline uint64_t *info_of(const void *block)
{
    uint64_t *info = canaries_find(block);
    return info == NULL || *info == 0 ? NULL : info;
}

/* What an extension resizes is moved, so that whoever still has the old block is found out; unless
 * it is large, and would be copied again and again. */
static void *move(Domain *domain, char *block, size_t size, Cover cover, uint64_t *info)
{
    size_t old_size = canaries_size(block, *info);
    cover.is_fresh = true;
    void *moved = covered(domain, domain->native.ctx, size, cover);
    if (moved != NULL) {
        memcpy(moved, block, old_size < size ? old_size : size);
        end_block(domain, block, info);
    }
    return moved;
}

static void *resize_in_place(Domain *domain, char *block, size_t size, Cover cover, uint64_t *info)
{
    size_t front = cover.has_front ? FRONT : 0, old_size = canaries_size(block, *info);
    if (__builtin_expect(!canaries_are_whole(block, old_size, *info), 0)) {
        look_at(block, *info);
    }
    char *native = domain->native.realloc(domain->native.ctx, block - front,
                                          canaries_room(size, cover.has_front));
    if (native == NULL) {
        return NULL;
    }
    if (*info & IS_WATCHED) {
        culprits_freed(block, *info);
        culprits_gone(block, *info);
    }
    canaries_forget(block, info);
    if (!is_on || !canaries_cover(native + front, size, cover)) {
        return memmove(native, native + front, old_size < size ? old_size : size);
    }
    return native + front;
}

static void *resize_covered(Domain *domain, char *block, size_t size, uint64_t *info)
{
    if (*info & IS_FREED) {
        end_block(domain, block, info); /* which tells of it */
        return NULL;
    }
    Cover cover = {.class = class_of(*info), .has_front = *info & HAS_FRONT};
    bool is_foreign = cover.class == OF_EXTENSION || cover.class == OF_RAW;
    bool moves = is_foreign && keeps_freed && canaries_size(block, *info) <= MOST_MOVED;
    lock_if_raw(domain);
    void *resized = moves ? move(domain, block, size, cover, info)
                          : resize_in_place(domain, block, size, cover, info);
    unlock_if_raw(domain);
    return resized;
}

#define CALLER __builtin_return_address(0)
#define STACK ((const void *const *)__builtin_dwarf_cfa() - 1) /* where that address lies */

static inline bool is_plain_for(size_t size, const void *caller)
{
    return __builtin_expect(size < COUNTED_SIZES && is_interpreter(caller) && is_plain(), 1);
}

static void *raw_malloc(void *context, size_t size)
{
    (void)context;
    return allocate(&raw_domain, size, CALLER);
}

static inline __attribute__((always_inline)) void *allocate_buffer(void *context, size_t size,
                                                                   const void *caller)
{
    if (is_plain_for(size, caller)) {
        Cover cover = {OF_BUFFERS, .has_front = true, .is_fresh = true, .is_plain = true};
        return covered(&mem_domain, context, size, cover);
    }
    return allocate(&mem_domain, size, caller);
}

static void *mem_malloc(void *context, size_t size)
{
    return allocate_buffer(context, size, CALLER);
}

static __attribute__((noinline)) void *allocate_object(void *context, size_t size,
                                                       const void *caller)
{
    if (size > SMALL && is_plain_for(size, caller)) {
        Cover cover = {OF_OBJECTS, .has_front = false, .is_fresh = true, .is_plain = true};
        return covered(&obj_domain, context, size, cover);
    }
    return allocate(&obj_domain, size, caller);
}

/* What is passed on must cost next to nothing: the rest is done elsewhere, by functions that are
 * given the same things in the same places. */
static void *obj_malloc(void *context, size_t size)
{
    if ((size <= SMALL && is_number_caller(CALLER)) || is_for_inert(CALLER, STACK)) {
        return obj_domain.native.malloc(context, size);
    }
    return allocate_object(context, size, CALLER);
}

static void *mem_calloc(void *context, size_t count, size_t size)
{
    if (count < COUNTED_SIZES && size <= 8 && is_plain_for(count * size, CALLER)) {
        Cover cover = {OF_BUFFERS, .has_front = true, .is_plain = true};
        return covered(&mem_domain, context, count * size, cover);
    }
    return allocate_zero(&mem_domain, count, size, CALLER);
}

static void *obj_calloc(void *context, size_t count, size_t size)
{
    (void)context;
    return allocate_zero(&obj_domain, count, size, CALLER);
}

static void *raw_calloc(void *context, size_t count, size_t size)
{
    (void)context;
    return allocate_zero(&raw_domain, count, size, CALLER);
}

static __attribute__((noinline)) void release_object(void *context, char *block, uint64_t *info)
{
    release_plain(&obj_domain, context, block, info);
}

static __attribute__((noinline)) void release_buffer(void *context, char *block, uint64_t *info)
{
    release_plain(&mem_domain, context, block, info);
}

static void release_raw(void *context, char *block, uint64_t *info)
{
    (void)context;
    release(&raw_domain, block, info);
}

/* What was not covered stays so: nobody knows how large it is. */
static inline void *resize(Domain *domain, void *block, size_t size)
{
    uint64_t *info = info_of(block);
    return info == NULL ? domain->native.realloc(domain->native.ctx, block, size)
                        : resize_covered(domain, block, size, info);
}

static void *raw_realloc(void *context, void *block, size_t size)
{
    (void)context;
    return block == NULL ? allocate(&raw_domain, size, CALLER) : resize(&raw_domain, block, size);
}

static void *mem_realloc(void *context, void *block, size_t size)
{
    return block == NULL ? allocate_buffer(context, size, CALLER)
                         : resize(&mem_domain, block, size);
}

static void *obj_realloc(void *context, void *block, size_t size)
{
    (void)context;
    return block == NULL ? allocate(&obj_domain, size, CALLER) : resize(&obj_domain, block, size);
}

#define FREE_IN(domain, release_covered)                                                           \
    static void domain##_free(void *context, void *block)                                          \
    {                                                                                              \
        uint64_t *info = info_of(block);                                                           \
        if (info == NULL) {                                                                        \
            domain##_domain.native.free(context, block);                                           \
            return;                                                                                \
        }                                                                                          \
        release_covered(context, block, info);                                                     \
    }

FREE_IN(obj, release_object)
FREE_IN(mem, release_buffer)
FREE_IN(raw, release_raw)

/* ---- beginning and end ---- */

static void install(Domain *domain, PyMemAllocatorEx ours)
{
    ours.ctx = domain->native.ctx;
    PyMem_SetAllocator(domain->number, &ours);
}

/* tracemalloc puts back what it found when it stops: us if it began after us, else what is below.
 */
static bool is_traced(void)
{
    PyObject *tracer = PyImport_ImportModule("_tracemalloc");
    PyObject *answer = tracer == NULL ? NULL : PyObject_CallMethod(tracer, "is_tracing", NULL);
    bool is_so = answer == Py_True;
    Py_XDECREF(answer);
    Py_XDECREF(tracer);
    PyErr_Clear();
    return is_so;
}

/* Why it cannot begin, or NULL. */
const char *allocators_begin(bool freed, bool everything)
{
    if (COLLECTOR_VISITS_BLOCKS) {
        return "canaries are not for free-threaded interpreters, whose collector would visit them";
    }
    if (shadow_is_open()) {
        return "canaries must begin before races are looked for";
    }
    if (!is_installed && is_traced()) {
        return "canaries must begin before tracemalloc does";
    }
    if (!is_installed) {
        Domain *domains[] = {&obj_domain, &mem_domain, &raw_domain};
        for (int i = 0; i < 3; i++) {
            PyMem_GetAllocator(domains[i]->number, &domains[i]->native);
        }
        callers_learn();
        pthread_atfork(lock_raw, unlock_raw, unlock_raw);
        install(&obj_domain,
                (PyMemAllocatorEx){NULL, obj_malloc, obj_calloc, obj_realloc, obj_free});
        install(&mem_domain,
                (PyMemAllocatorEx){NULL, mem_malloc, mem_calloc, mem_realloc, mem_free});
        install(&raw_domain,
                (PyMemAllocatorEx){NULL, raw_malloc, raw_calloc, raw_realloc, raw_free});
        is_installed = true;
    }
    covers_everything = everything;
    callers_cover(everything);
    keeps_freed = freed;
    is_on = true;
    return NULL;
}

static void let_go_of_all(Domain *domain)
{
    while (domain->own.count > 0) {
        let_go_of_oldest(domain, &domain->own, MOST_OWN);
    }
    while (domain->foreign.count > 0) {
        let_go_of_oldest(domain, &domain->foreign, MOST_FOREIGN);
    }
}

/* Blocks that are covered must still be freed here. */
void allocators_end(void)
{
    if (is_on) {
        is_on = keeps_freed = false;
        let_go_of_all(&obj_domain);
        let_go_of_all(&mem_domain);
        lock_raw();
        let_go_of_all(&raw_domain);
        unlock_raw();
    }
}
