/* Stacks of Python code, each kept once and known by a number.
 *
 * Code objects in a kept stack stay alive: the address of an instruction must keep meaning the same
 * place. */
#include "lockorder.h"
#include <string.h>

enum { DEEPEST = 24 };

typedef struct {
    PyCodeObject *code;
    uint64_t offset;
} Place;

typedef struct {
    uint64_t hash;
    uint32_t count;
    Place places[DEEPEST];
} Stack;

static Kept stacks;

static bool is_same_stack(const void *entry, const void *wanted)
{
    const Stack *one = entry, *other = wanted;
    return one->count == other->count &&
           memcmp(one->places, other->places, one->count * sizeof *one->places) == 0;
}

static uint32_t keep(const Stack *stack)
{
    size_t size = offsetof(Stack, places) + stack->count * sizeof *stack->places;
    void *entry = take_memory(size);
    memcpy(entry, stack, size);
    for (uint32_t i = 0; i < stack->count; i++) {
        Py_INCREF(stack->places[i].code);
    }
    return kept_add(&stacks, entry);
}

/* The number of the stack of this thread's Python code, without so many of the innermost frames. */
uint32_t depot_stack(int skipped)
{
    Stack stack;
    stack.hash = 1;
    stack.count = 0;
    Frame *frame = compat_top_frame(compat_thread_state());
    for (; frame != NULL && stack.count < DEEPEST; frame = frame->previous) {
        PyCodeObject *code = compat_frame_code(frame);
        if (code != NULL && skipped-- <= 0) {
            Place *place = &stack.places[stack.count++];
            place->code = code;
            place->offset = (uint64_t)compat_frame_offset(frame, code);
            stack.hash = mixed(stack.hash, (uint64_t)(uintptr_t)code + place->offset);
        }
    }
    uint32_t number = kept_find(&stacks, stack.hash, &stack, is_same_stack);
    return number != 0 ? number : keep(&stack);
}

/* ((file, line, function), ...), innermost first */
PyObject *depot_show_stack(uint32_t number)
{
    const Stack *stack = number == 0 ? NULL : kept_at(&stacks, number);
    uint32_t count = stack == NULL ? 0 : stack->count;
    PyObject *shown = PyTuple_New(count);
    for (uint32_t i = 0; shown != NULL && i < count; i++) {
        PyCodeObject *code = stack->places[i].code;
        int line = PyCode_Addr2Line(code, (int)stack->places[i].offset);
        PyObject *each = Py_BuildValue("(OiO)", code->co_filename, line, code->co_qualname);
        if (each == NULL) {
            Py_CLEAR(shown);
            break;
        }
        PyTuple_SET_ITEM(shown, i, each);
    }
    return shown;
}
