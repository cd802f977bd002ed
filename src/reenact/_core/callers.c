/* Who asks an allocator for memory.
 *
 * Python's allocators jump to the ones that are set, so that the address to return to is in
 * whoever called them: in the interpreter, or in an extension. Where in the interpreter says what
 * is wanted, which is learned by having things made, once, with allocators that take note:
 * - instance sites ask for buffers of bytearrays, and for instances of any type;
 * - makers do so for a type that they are given. Their frames are as large every time, so that who
 *   called them is found as well, a fixed number of words further up. Some who call them make inert
 *   objects: iterators, ranges, slices, bound methods and cells, which nobody writes to but the
 *   interpreter itself, and which are never anything else, since those types have no subclasses.
 * - Everybody else in the interpreter who asks for 32 bytes or less wants a number or the like.
 * An object counts as inert only if it lies in the very block that the maker was seen to take. */
#include "callers.h"
#include <link.h>
#include <string.h>

enum { MOST_DEPTH = 16, SHORT_FUNCTION = 256 };

uintptr_t interpreter_start, interpreter_size;
const void *instance_sites[MOST_SITES];
int instance_site_count;
Maker makers[MAKER_COUNT];
static Maker known_makers[MAKER_COUNT];
const void *number_callers[CALLER_PLACES];
const void *inert_callers[CALLER_PLACES];

static struct {
    PyMemAllocatorEx native;
    PyMemAllocatorDomain domain;
    const void *caller, *small_caller; /* the last, and the last that asked for little */
    const void *above;                 /* who called the last maker */
    const char *made;                  /* the block that this maker took */
    const void *stack[MOST_DEPTH];     /* of the last malloc */
} probe;

/* ---- taking note ---- */

#define CALLER __builtin_return_address(0)

static void note_caller(const void *caller, size_t size)
{
    probe.caller = caller;
    if (size <= SMALL) {
        probe.small_caller = caller;
    }
}

static void note_maker(const void *caller, const char *block)
{
    for (int i = 0; i < MAKER_COUNT; i++) {
        if (caller == known_makers[i].site) {
            probe.above = probe.stack[known_makers[i].depth];
            probe.made = block;
        }
    }
}

static void *probing_malloc(void *context, size_t size)
{
    const void *const *stack = (const void *const *)__builtin_dwarf_cfa() - 1;
    void *block = probe.native.malloc(context, size);
    note_caller(CALLER, size);
    memcpy(probe.stack, stack, sizeof probe.stack);
    note_maker(CALLER, block);
    return block;
}

static void *probing_calloc(void *context, size_t count, size_t size)
{
    note_caller(CALLER, count * size);
    return probe.native.calloc(context, count, size);
}

static void *probing_realloc(void *context, void *block, size_t size)
{
    note_caller(CALLER, size);
    return probe.native.realloc(context, block, size);
}

static void begin_probe(PyMemAllocatorDomain domain)
{
    memset(&probe, 0, sizeof probe);
    PyMem_GetAllocator(domain, &probe.native);
    PyMemAllocatorEx probing = probe.native;
    probe.domain = domain;
    probing.malloc = probing_malloc;
    probing.calloc = probing_calloc;
    probing.realloc = probing_realloc;
    PyMem_SetAllocator(domain, &probing);
}

static void end_probe(void)
{
    PyMem_SetAllocator(probe.domain, &probe.native);
}

/* ---- the interpreter ---- */

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

/* Does an allocator show us who calls it? If not, all look alike. */
static bool shows_callers(PyMemAllocatorDomain domain)
{
    begin_probe(domain);
    if (domain == PYMEM_DOMAIN_OBJ) {
        Py_XDECREF(PyBytes_FromStringAndSize(NULL, 100));
        dl_iterate_phdr(find_code, NULL);
    }
    void *own = domain == PYMEM_DOMAIN_RAW   ? PyMem_RawMalloc(1)
                : domain == PYMEM_DOMAIN_MEM ? PyMem_Malloc(1)
                                             : PyObject_Malloc(1);
    bool shows = interpreter_size != 0 && !is_interpreter(probe.caller);
    probe.native.free(probe.native.ctx, own);
    end_probe();
    return shows;
}

/* ---- instances ---- */

/* Whoever has asked for little since the last time is asked for buffers or instances. */
static void learn_site(PyObject *made)
{
    Py_XDECREF(made);
    const void *site = probe.small_caller;
    if (site != NULL && is_interpreter(site) && !is_instance_site(site) &&
        instance_site_count < MOST_SITES) {
        instance_sites[instance_site_count++] = site;
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

static void learn_sites(void)
{
    begin_probe(PYMEM_DOMAIN_OBJ);
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

/* ---- makers, and what they are asked for ---- */

typedef PyObject *(*Make)(PyTypeObject *type);

/* Nothing of it is on the stack before its first call. */
static __attribute__((noinline)) PyObject *call_maker(Make make, PyTypeObject *type)
{
    PyObject *made = make(type);
    __asm__ volatile("" : : "r"(made) : "memory"); /* no jump: it is to return here */
    return made;
}

static bool is_shortly_behind(const void *address, uintptr_t function)
{
    return (uintptr_t)address - function - 1 < SHORT_FUNCTION;
}

/* The allocation must return into the maker itself: another function may have other callers, with
 * larger frames. */
static Maker find_maker(uintptr_t function)
{
    for (size_t depth = 1; depth < MOST_DEPTH; depth++) {
        if (is_shortly_behind(probe.stack[depth], (uintptr_t)call_maker)) {
            bool is_direct = is_shortly_behind(probe.caller, function);
            return (Maker){is_direct ? probe.caller : NULL, depth};
        }
    }
    return (Maker){NULL, 0};
}

static void learn_maker(Maker *maker, Make make, PyTypeObject *type, freefunc give_back)
{
    begin_probe(PYMEM_DOMAIN_OBJ);
    PyObject *made = call_maker(make, type);
    *maker = find_maker((uintptr_t)make);
    end_probe();
    if (made != NULL) {
        give_back(made);
    }
}

/* Who called the maker of this object, if there was one, makes nothing else. */
static void learn_inert(PyObject *made)
{
    ptrdiff_t header = made == NULL ? -1 : (char *)made - probe.made;
    if (probe.made != NULL && (header == 0 || header == sizeof(PyGC_Head))) {
        inert_callers[caller_place(probe.above)] = probe.above;
    }
    PyErr_Clear();
    Py_XDECREF(made);
    probe.made = NULL;
}

static void learn_iterator(PyObject *iterated)
{
    learn_inert(iterated == NULL ? NULL : PyObject_GetIter(iterated));
    Py_XDECREF(iterated);
}

static void learn_views(PyObject *dict)
{
    const char *const names[] = {"keys", "values", "items"};
    for (int i = 0; i < 3; i++) {
        PyObject *view = PyObject_CallMethod(dict, names[i], NULL);
        learn_inert(Py_XNewRef(view));
        learn_iterator(view);
    }
    learn_iterator(dict);
}

/* The interpreter keeps one slice that is not used any more. */
static void learn_slice(void)
{
    PyObject *first = PySlice_New(NULL, NULL, NULL);
    learn_inert(PySlice_New(NULL, NULL, NULL));
    Py_XDECREF(first);
}

static void learn_turns(PyObject *range)
{
    learn_iterator(Py_XNewRef(range));
    learn_inert(TickType.tp_as_mapping->mp_subscript(NULL, range));
    PyObject *list = PyList_New(0);
    learn_inert(TickType.tp_as_mapping->mp_subscript(NULL, list));
    Py_XDECREF(list);
    Py_XDECREF(range);
}

static void learn_all_inert(void)
{
    PyObject *range = NULL;
    begin_probe(PYMEM_DOMAIN_OBJ);
    learn_iterator(PyList_New(0));
    learn_iterator(PyTuple_New(0));
    learn_iterator(PyUnicode_FromString("a"));
    learn_iterator(PySet_New(NULL));
    learn_views(PyDict_New());
    learn_slice();
    learn_inert(PyCell_New(NULL));
    learn_inert(PyMethod_New((PyObject *)&PyRange_Type, Py_None));
    range = PyObject_CallFunction((PyObject *)&PyRange_Type, "i", 3);
    learn_inert(Py_XNewRef(range));
    learn_turns(range);
    end_probe();
}

/* Nobody is told from anybody else if one of the allocators does not show who calls it. */
void callers_learn(void)
{
    bool is_seen = shows_callers(PYMEM_DOMAIN_OBJ) && shows_callers(PYMEM_DOMAIN_MEM) &&
                   shows_callers(PYMEM_DOMAIN_RAW);
    if (!is_seen) {
        interpreter_size = 0;
        return;
    }
    learn_sites();
    learn_maker(&known_makers[0], _PyObject_New, &PyBaseObject_Type, PyObject_Free);
    learn_maker(&known_makers[1], _PyObject_GC_New, &PyCell_Type, PyObject_GC_Del);
    learn_all_inert();
}

/* Numbers and inert objects are covered as well, or not. */
void callers_cover(bool everything)
{
    memset(number_callers, 0, sizeof number_callers);
    memset(makers, 0, sizeof makers);
    if (!everything) {
        memcpy(makers, known_makers, sizeof makers);
    }
}
