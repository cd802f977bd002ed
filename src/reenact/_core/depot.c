/* The depot: stacks and accesses, each kept once, and known by a number.
 *
 * What is kept of an access must be small, and taking it quick: every first access after a
 * synchronisation comes by. Code objects in a kept stack stay alive. */
#include "kept.h"
#include "races.h"
#include <string.h>

enum { DEEPEST = 24 };

typedef struct {
    PyCodeObject *code;
    const _Py_CODEUNIT *instruction; /* of this code: it is kept */
} Place;

typedef struct {
    uint64_t hash;
    uint32_t count;
    Place places[DEEPEST];
} Stack;

static Kept stacks, accesses;

/* ---- stacks ---- */

static bool is_same_stack(const void *entry, const void *wanted)
{
    const Stack *one = entry, *other = wanted;
    return one->count == other->count &&
           memcmp(one->places, other->places, one->count * sizeof *one->places) == 0;
}

static uint32_t keep_stack(const Stack *stack)
{
    size_t size = offsetof(Stack, places) + stack->count * sizeof *stack->places;
    void *kept = take_memory(size);
    memcpy(kept, stack, size);
    for (uint32_t i = 0; i < stack->count; i++) {
        Py_INCREF(stack->places[i].code);
    }
    return kept_add(&stacks, kept);
}

/* The stacks met lately, by the innermost instruction: a program repeats itself. */
static uint32_t recent[256];

/* Is the stack that begins with this frame a kept one? */
static bool is_stack_of(const Stack *stack, Frame *frame)
{
    const Place *place = stack->places, *end = place + stack->count;
    for (; frame != NULL; frame = frame->previous) {
        if (!compat_has_code(frame)) {
            continue;
        }
        if (place == end) {
            return stack->count == DEEPEST;
        }
        if (place->instruction != compat_frame_instruction(frame)) {
            return false;
        }
        place++;
    }
    return place == end;
}

static uint32_t find_or_keep_stack(Frame *frame)
{
    Stack stack;
    stack.hash = 1;
    stack.count = 0;
    for (; frame != NULL && stack.count < DEEPEST; frame = frame->previous) {
        PyCodeObject *code = compat_frame_code(frame);
        if (code != NULL) {
            Place *place = &stack.places[stack.count++];
            place->code = code;
            place->instruction = compat_frame_instruction(frame);
            stack.hash = mixed(stack.hash, (uint64_t)(uintptr_t)place->instruction);
        }
    }
    uint32_t number = kept_find(&stacks, stack.hash, &stack, is_same_stack);
    return number != 0 ? number : keep_stack(&stack);
}

/* The number of the stack of this thread's Python code, innermost first. */
uint32_t depot_stack(void)
{
    return depot_stack_from(compat_top_frame(PyThreadState_Get()));
}

/* The same, from one of its frames on. */
uint32_t depot_stack_from(Frame *frame)
{
    if (frame == NULL) {
        return find_or_keep_stack(frame);
    }
    uint32_t *latest = &recent[(uintptr_t)compat_frame_instruction(frame) >> 1 & 255];
    if (*latest == 0 || !is_stack_of(kept_at(&stacks, *latest), frame)) {
        *latest = find_or_keep_stack(frame);
    }
    return *latest;
}

static int line_of(const Place *place)
{
    ptrdiff_t units = place->instruction - _PyCode_CODE(place->code);
    return PyCode_Addr2Line(place->code, (int)units * (int)sizeof(_Py_CODEUNIT));
}

/* ((file, line, function), ...), innermost first */
PyObject *depot_show_stack(uint32_t number)
{
    const Stack *stack = number == 0 ? NULL : kept_at(&stacks, number);
    uint32_t count = stack == NULL ? 0 : stack->count;
    PyObject *shown = PyTuple_New(count);
    for (uint32_t i = 0; shown != NULL && i < count; i++) {
        const Place *place = &stack->places[i];
        PyObject *each = Py_BuildValue("(OiO)", place->code->co_filename, line_of(place),
                                       place->code->co_qualname);
        if (each == NULL) {
            Py_CLEAR(shown);
            break;
        }
        PyTuple_SET_ITEM(shown, i, each);
    }
    return shown;
}

/* ---- accesses ---- */

static bool is_same_access(const void *entry, const void *wanted)
{
    const Access *one = entry, *other = wanted;
    return one->site == other->site && one->stack == other->stack && one->locks == other->locks &&
           one->thread == other->thread && one->mode == other->mode;
}

/* The number of the access, 0 if there are too many. */
static uint32_t find_or_keep_access(Access *access)
{
    access->hash =
        mixed(mixed((uint64_t)(uintptr_t)access->site, access->stack),
              (uint64_t)access->locks << 32 | (uint32_t)access->thread << 8 | access->mode);
    uint32_t number = kept_find(&accesses, access->hash, access, is_same_access);
    if (number != 0) {
        return number;
    }
    if (accesses.count >= MOST_ACCESSES) {
        return 0;
    }
    Access *kept = take_memory(sizeof *kept);
    *kept = *access;
    Py_XINCREF(access->site);
    return kept_add(&accesses, kept);
}

/* Is the access as the site has told it last? */
static inline bool is_told_again(const AccessSite *site, enum AccessMode mode, uint32_t locks,
                                 Frame *frame)
{
    return site->told.number != 0 && site->told.thread == me->index && site->told.locks == locks &&
           site->told.mode == mode && frame != NULL &&
           is_stack_of(kept_at(&stacks, site->told.stack), frame);
}

/* The number of an access that this thread is about to make. */
uint32_t depot_access(AccessSite *site, enum AccessMode mode, uint32_t locks)
{
    Frame *frame = compat_top_frame(me->tstate != NULL ? me->tstate : PyThreadState_Get());
    if (!is_told_again(site, mode, locks, frame)) {
        Access access = {.site = site,
                         .stack = depot_stack_from(frame),
                         .locks = locks,
                         .thread = me->index,
                         .mode = (uint8_t)mode};
        site->told.number = find_or_keep_access(&access);
        site->told.stack = access.stack;
        site->told.thread = access.thread;
        site->told.locks = locks;
        site->told.mode = (uint8_t)mode;
    }
    return site->told.number;
}

const Access *depot_get(uint32_t number)
{
    return number == 0 ? NULL : kept_at(&accesses, number);
}
