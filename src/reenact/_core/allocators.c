/* Who is given covered blocks, and what becomes of them when they are freed.
 *
 * Python's three allocators are stood in front of. Who asks is told by the return address: they
 * jump to us, so that it leads to whoever called them.
 * - An extension: all that it asks for is covered, at both ends.
 * - The interpreter: buffers (of lists, dicts, bytearrays, arrays) at both ends; objects at the
 *   far end, since what lies before their data is of their own. Objects of up to 32 bytes are not
 *   covered, unless they are instances made for a type: the others are numbers and the like, which
 *   have nothing that an extension could write to, and there are more of them than of all else.
 * - The interpreter in the raw domain: nothing, it is its own.
 * Where callers do not show, everything is covered, which costs more.
 *
 * A freed block stays for a while, full of canaries, and is really freed when many others
 * were freed after it, unless it was an inert object (inert.h). What was allocated before the
 * beginning is known by nobody, and passed on.
 */
#include "canaries.h"
#include "inert.h"
#include "races.h"
#include <link.h>
#include <string.h>

enum { MOST_OWN = 1 << 8, MOST_OWN_BYTES = 1 << 20 };          /* of the interpreter's, and */
enum { MOST_FOREIGN = 1 << 12, MOST_FOREIGN_BYTES = 1 << 23 }; /* of extensions: freed and kept */
enum { SMALL = 32, MOST_SITES = 16 };
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
static bool is_on, is_installed, keeps_freed, is_blind;
static size_t passed_size; /* what the interpreter asks for is passed on up to this size */

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

/* ---- who asks ---- */

static uintptr_t interpreter_start, interpreter_size; /* of its code */
static const void *sites[MOST_SITES]; /* where it asks for buffers and instances, however small */
static int site_count;
static uint64_t site_bits; /* a quick no */

static inline bool is_interpreter(const void *caller)
{
    return (uintptr_t)caller - interpreter_start < interpreter_size;
}

static inline uint64_t bit_of(const void *site)
{
    return 1ULL << ((uintptr_t)site >> 1 & 63);
}

static inline bool is_site(const void *caller)
{
    if (__builtin_expect((site_bits & bit_of(caller)) == 0, 1)) {
        return false;
    }
    for (int i = 0; i < site_count; i++) {
        if (sites[i] == caller) {
            return true;
        }
    }
    return false;
}

typedef struct {
    enum Class class;
    bool is_covered, has_front;
} Manner;

/* Most blocks are small, and of no interest. */
static inline bool is_number(const Domain *domain, size_t size, const void *caller)
{
    return domain == &obj_domain && size <= passed_size && is_interpreter(caller) &&
           !is_site(caller);
}

/* An interpreter that traces for us asks for tables of lines as well, which a run does not. */
static inline bool is_for_us(void)
{
    return quiet > 0 || (culprits_are_watched && compat_thread_state() != NULL &&
                         compat_thread_state()->tracing > 0);
}

static inline Manner manner_of(const Domain *domain, size_t size, const void *caller)
{
    bool is_own = is_interpreter(caller);
    if (is_number(domain, size, caller) || !is_on || (domain->is_raw && is_own)) {
        return (Manner){.is_covered = false};
    }
    enum Class class = domain->is_raw          ? OF_RAW
                       : is_for_us()           ? OF_OURS
                       : !is_own               ? OF_EXTENSION
                       : domain == &mem_domain ? OF_BUFFERS
                                               : OF_OBJECTS;
    bool has_front = domain != &obj_domain || !is_own || (size <= SMALL && is_site(caller));
    return (Manner){class, true, has_front};
}

/* ---- freed blocks ---- */

static inline char *native_of(const char *block, uint64_t info)
{
    return (char *)block - (info & HAS_FRONT ? FRONT : 0);
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

static inline bool is_worth_keeping(const char *block, enum Class class)
{
    return class != OF_BUFFERS && (class != OF_OBJECTS || !is_dead_inert(block));
}

static inline __attribute__((always_inline)) void end_block(Domain *domain, char *block,
                                                            uint64_t *info)
{
    if (__builtin_expect(*info & IS_FREED, 0)) {
        Damage damage = {DOUBLE_FREE, block, canaries_size(block, *info), 0, serial_of(*info)};
        canaries_note(&damage);
        return;
    }
    size_t size = canaries_size(block, *info);
    if (__builtin_expect(!canaries_are_whole(block, size, *info), 0)) {
        look_at(block, *info);
    }
    if (__builtin_expect(*info & IS_WATCHED, 0)) {
        culprits_freed(block, *info);
    }
    if (keeps_freed && size <= MOST_OWN_BYTES && is_worth_keeping(block, class_of(*info))) {
        keep(domain, block, size, info);
    }
    else {
        give_back(domain, block, info);
    }
}

/* ---- in place of the allocators ---- */

static inline __attribute__((always_inline)) void *covered(Domain *domain, size_t size,
                                                           Manner manner, bool is_zero)
{
    size_t room = canaries_room(size, manner.has_front);
    char *native = is_zero ? domain->native.calloc(domain->native.ctx, 1, room)
                           : domain->native.malloc(domain->native.ctx, room);
    if (native == NULL) {
        return NULL;
    }
    char *block = native + (manner.has_front ? FRONT : 0);
    if (__builtin_expect(!canaries_cover(block, size, manner.class, manner.has_front), 0)) {
        domain->native.free(domain->native.ctx, native);
        return is_zero ? domain->native.calloc(domain->native.ctx, 1, size)
                       : domain->native.malloc(domain->native.ctx, size);
    }
    return block;
}

static __attribute__((noinline)) void *allocate(Domain *domain, size_t size, const void *caller)
{
    Manner manner = manner_of(domain, size, caller);
    if (__builtin_expect(!manner.is_covered, 1)) {
        return domain->native.malloc(domain->native.ctx, size);
    }
    lock_if_raw(domain);
    void *block = covered(domain, size, manner, false);
    unlock_if_raw(domain);
    return block;
}

static inline void *allocate_zero(Domain *domain, size_t count, size_t size, const void *caller)
{
    Manner manner = manner_of(domain, count * size, caller);
    if (!manner.is_covered) {
        return domain->native.calloc(domain->native.ctx, count, size);
    }
    lock_if_raw(domain);
    void *block = covered(domain, count * size, manner, true);
    unlock_if_raw(domain);
    return block;
}

static inline uint64_t *info_of(const void *block)
{
    uint64_t *info = canaries_find(block);
    return info == NULL || *info == 0 ? NULL : info;
}

static __attribute__((noinline)) void release(Domain *domain, void *block, uint64_t *info)
{
    lock_if_raw(domain);
    end_block(domain, block, info);
    unlock_if_raw(domain);
}

/* What an extension resizes is moved, so that whoever still has the old block is found out; unless
 * it is large, and would be copied again and again. */
static void *move(Domain *domain, char *block, size_t size, Manner manner, uint64_t *info)
{
    size_t old_size = canaries_size(block, *info);
    void *moved = covered(domain, size, manner, false);
    if (moved != NULL) {
        memcpy(moved, block, old_size < size ? old_size : size);
        end_block(domain, block, info);
    }
    return moved;
}

static void *resize_in_place(Domain *domain, char *block, size_t size, Manner manner,
                             uint64_t *info)
{
    size_t front = manner.has_front ? FRONT : 0, old_size = canaries_size(block, *info);
    look_at(block, *info);
    char *native = domain->native.realloc(domain->native.ctx, block - front,
                                          canaries_room(size, manner.has_front));
    if (native == NULL) {
        return NULL;
    }
    if (*info & IS_WATCHED) {
        culprits_freed(block, *info);
        culprits_gone(block, *info);
    }
    canaries_forget(block, info);
    if (!is_on || !canaries_cover(native + front, size, manner.class, manner.has_front)) {
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
    Manner manner = {class_of(*info), true, *info & HAS_FRONT};
    bool is_foreign = manner.class == OF_EXTENSION || manner.class == OF_RAW;
    bool moves = is_foreign && keeps_freed && canaries_size(block, *info) <= MOST_MOVED;
    lock_if_raw(domain);
    void *resized = moves ? move(domain, block, size, manner, info)
                          : resize_in_place(domain, block, size, manner, info);
    unlock_if_raw(domain);
    return resized;
}

/* What was not covered stays so: nobody knows how large it is. */
static inline void *resize(Domain *domain, void *block, size_t size, const void *caller)
{
    if (block == NULL) {
        return allocate(domain, size, caller);
    }
    uint64_t *info = info_of(block);
    return info == NULL ? domain->native.realloc(domain->native.ctx, block, size)
                        : resize_covered(domain, block, size, info);
}

/* What is passed on must cost next to nothing: the rest is done elsewhere. */
#define CALLER __builtin_return_address(0)
#define IN_PLACE_OF(domain)                                                                        \
    static void *domain##_malloc(void *context, size_t size)                                       \
    {                                                                                              \
        if (is_number(&domain##_domain, size, CALLER)) {                                           \
            return domain##_domain.native.malloc(context, size);                                   \
        }                                                                                          \
        return allocate(&domain##_domain, size, CALLER);                                           \
    }                                                                                              \
    static void *domain##_calloc(void *context, size_t count, size_t size)                         \
    {                                                                                              \
        (void)context;                                                                             \
        return allocate_zero(&domain##_domain, count, size, CALLER);                               \
    }                                                                                              \
    static void *domain##_realloc(void *context, void *block, size_t size)                         \
    {                                                                                              \
        (void)context;                                                                             \
        return resize(&domain##_domain, block, size, CALLER);                                      \
    }                                                                                              \
    static void domain##_free(void *context, void *block)                                          \
    {                                                                                              \
        uint64_t *info = info_of(block);                                                           \
        if (info == NULL) {                                                                        \
            domain##_domain.native.free(context, block);                                           \
            return;                                                                                \
        }                                                                                          \
        release(&domain##_domain, block, info);                                                    \
    }

IN_PLACE_OF(obj)
IN_PLACE_OF(mem)
IN_PLACE_OF(raw)

/* ---- learning who is who ---- */

static struct {
    Domain *domain;
    const void *caller, *small_caller; /* the last, and the last that asked for little */
} probe;

static void note_caller(const void *caller, size_t size)
{
    probe.caller = caller;
    if (size <= SMALL) {
        probe.small_caller = caller;
    }
}

static void *probing_malloc(void *context, size_t size)
{
    note_caller(CALLER, size);
    return probe.domain->native.malloc(context, size);
}

static void *probing_calloc(void *context, size_t count, size_t size)
{
    note_caller(CALLER, count * size);
    return probe.domain->native.calloc(context, count, size);
}

static void *probing_realloc(void *context, void *block, size_t size)
{
    note_caller(CALLER, size);
    return probe.domain->native.realloc(context, block, size);
}

static void begin_probe(Domain *domain)
{
    PyMemAllocatorEx probing = domain->native;
    probe.domain = domain;
    probing.malloc = probing_malloc;
    probing.calloc = probing_calloc;
    probing.realloc = probing_realloc;
    PyMem_SetAllocator(domain->number, &probing);
}

static void end_probe(void)
{
    PyMem_SetAllocator(probe.domain->number, &probe.domain->native);
}

static int find_code(struct dl_phdr_info *object, size_t size, void *unused)
{
    (void)size, (void)unused;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        uintptr_t start = object->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X) &&
            (uintptr_t)probe.caller - start < segment->p_memsz) {
            interpreter_start = start;
            interpreter_size = segment->p_memsz;
            return 1;
        }
    }
    return 0;
}

/* Whoever has asked for little since the last time is asked for buffers or instances. */
static void learn_site(PyObject *made)
{
    Py_XDECREF(made);
    const void *site = probe.small_caller;
    if (site != NULL && is_interpreter(site) && !is_site(site) && site_count < MOST_SITES) {
        sites[site_count++] = site;
        site_bits |= bit_of(site);
    }
    probe.small_caller = NULL;
}

static PyObject *resized(PyObject *buffer, Py_ssize_t size)
{
    probe.small_caller = NULL;
    if (buffer != NULL) {
        PyByteArray_Resize(buffer, size);
    }
    return buffer;
}

/* Does an allocator show us who calls it? If not, all look alike. */
static bool shows_callers(Domain *domain)
{
    begin_probe(domain);
    Py_XDECREF(PyBytes_FromStringAndSize(NULL, 100));
    if (domain == &obj_domain) {
        dl_iterate_phdr(find_code, NULL);
    }
    void *own = domain->is_raw          ? PyMem_RawMalloc(1)
                : domain == &mem_domain ? PyMem_Malloc(1)
                                        : PyObject_Malloc(1);
    bool shows = interpreter_size != 0 && !is_interpreter(probe.caller);
    domain->native.free(domain->native.ctx, own);
    end_probe();
    return shows;
}

static void learn_sites(void)
{
    begin_probe(&obj_domain);
    probe.small_caller = NULL;
    learn_site(PyByteArray_FromStringAndSize(NULL, 8));
    PyObject *buffer = PyByteArray_FromStringAndSize(NULL, 0);
    learn_site(Py_XNewRef(resized(buffer, 8)));
    learn_site(Py_XNewRef(resized(buffer, 20)));
    learn_site(resized(buffer, 3));
    learn_site(PyType_GenericAlloc(&PyBaseObject_Type, 0));
    learn_site((PyObject *)PyObject_New(PyObject, &PyBaseObject_Type));
    void *number = PyObject_NewVar(PyVarObject, &PyLong_Type, 1);
    PyObject_Free(number);
    learn_site(NULL);
    end_probe();
}

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
    passed_size = everything ? 0 : SMALL;
    if (!is_installed) {
        Domain *domains[] = {&obj_domain, &mem_domain, &raw_domain};
        for (int i = 0; i < 3; i++) {
            PyMem_GetAllocator(domains[i]->number, &domains[i]->native);
            is_blind |= !shows_callers(domains[i]);
        }
        learn_sites();
        inert_learn();
        pthread_atfork(lock_raw, unlock_raw, unlock_raw);
        install(&obj_domain,
                (PyMemAllocatorEx){NULL, obj_malloc, obj_calloc, obj_realloc, obj_free});
        install(&mem_domain,
                (PyMemAllocatorEx){NULL, mem_malloc, mem_calloc, mem_realloc, mem_free});
        install(&raw_domain,
                (PyMemAllocatorEx){NULL, raw_malloc, raw_calloc, raw_realloc, raw_free});
        is_installed = true;
    }
    if (is_blind) {
        interpreter_size = 0;
    }
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
