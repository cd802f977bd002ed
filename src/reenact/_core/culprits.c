/* Which line it was: in a re-execution, some blocks are looked at again and again.
 *
 * The blocks are told by their serials. Whenever the program comes to a line, calls or returns,
 * they are looked at, and if one is damaged by then, whatever ran since the time before has done
 * it: a line of Python, and the C function that the line was in. Of the same blocks, the stacks of
 * the allocation and of the free are kept.
 *
 * All this costs time and memory of the program's, as in trace.c: the process is thrown away. */
#include "canaries.h"
#include "races.h"
#include <frameobject.h>

enum { MOST_WATCHED = 64, MOST_THREADS = 256, MOST_CALLS = 1024 };

typedef struct {
    uint64_t serial;
    const char *block; /* NULL: it is not there yet, or not any more */
    Damage damage;
    uint32_t allocated, freed, written; /* stacks, 0 if unknown */
    PyObject *callee;                   /* the C function in which it was written, or NULL */
    int32_t thread;
} Watched;

typedef struct {
    uint32_t stack;
    PyObject *callee; /* borrowed: it runs */
} Place;

bool culprits_are_watched;
static Watched watched[MOST_WATCHED];
static int watched_count;
static Place places[MOST_THREADS]; /* where each thread was at its last event */
static int32_t current = -1;       /* the thread that had the last event */
static struct {
    const Frame *frame;
    PyObject *callee;
} calls[MOST_CALLS]; /* of C functions that run, by the frame that has called */

/* ---- the blocks ---- */

static Watched *find(uint64_t serial)
{
    for (int i = 0; i < watched_count; i++) {
        if (watched[i].serial == serial) {
            return &watched[i];
        }
    }
    return NULL;
}

/* Without the GIL no thread has a stack. */
static uint32_t stack_here(void)
{
    return PyGILState_Check() ? depot_stack() : 0;
}

static void blame(Watched *which, const Damage *damage)
{
    if (which->damage.kind != NO_DAMAGE) {
        return;
    }
    const Place *place = current < 0 ? NULL : &places[current % MOST_THREADS];
    which->damage = *damage;
    which->thread = me == NULL ? -1 : current;
    which->written = place == NULL ? stack_here() : place->stack;
    which->callee = place == NULL ? NULL : Py_XNewRef(place->callee);
}

static void look(void)
{
    for (int i = 0; i < watched_count; i++) {
        Watched *which = &watched[i];
        const uint64_t *info = which->block == NULL ? NULL : canaries_find(which->block);
        if (info == NULL || serial_of(*info) != which->serial || which->damage.kind != NO_DAMAGE) {
            continue;
        }
        Damage damage = canaries_judge(which->block, *info);
        if (damage.kind != NO_DAMAGE) {
            blame(which, &damage);
        }
    }
}

/* The state that the new block has. */
uint64_t culprits_allocated(const char *block, uint64_t info)
{
    Watched *which = find(serial_of(info));
    if (which == NULL) {
        return 0;
    }
    which->block = block;
    which->allocated = stack_here();
    return IS_WATCHED;
}

void culprits_freed(const char *block, uint64_t info)
{
    (void)block;
    Watched *which = find(serial_of(info));
    if (which != NULL && which->freed == 0) {
        which->freed = stack_here();
    }
}

void culprits_gone(const char *block, uint64_t info)
{
    (void)block;
    Watched *which = find(serial_of(info));
    if (which != NULL) {
        which->block = NULL;
    }
}

/* It was found otherwise: as the block was freed, or freed again. */
void culprits_found(const Damage *damage)
{
    Watched *which = find(damage->serial);
    if (which != NULL) {
        blame(which, damage);
    }
}

/* ---- where the program is ---- */

static PyObject **call_of(const Frame *frame, bool is_new)
{
    size_t slot = ((uintptr_t)frame >> 4) % MOST_CALLS;
    if (is_new) {
        calls[slot].frame = frame;
        calls[slot].callee = NULL;
    }
    return calls[slot].frame == frame ? &calls[slot].callee : NULL;
}

static PyObject *running_in(const Frame *frame)
{
    PyObject **callee = frame == NULL ? NULL : call_of(frame, false);
    return callee == NULL ? NULL : *callee;
}

/* The innermost frame with code, from this one on. */
static Frame *with_code(Frame *frame)
{
    while (frame != NULL && compat_frame_code(frame) == NULL) {
        frame = frame->previous;
    }
    return frame;
}

/* After a return, it is the caller that goes on: code, or a C function that the code has called. */
static void note_place(int what, PyObject *argument)
{
    Frame *top = with_code(compat_top_frame(PyThreadState_Get())), *frame = top;
    Place place = {0, NULL};
    if (what == PyTrace_C_CALL && top != NULL) {
        *call_of(top, true) = argument;
        place.callee = argument;
    }
    else if (top != NULL && (what == PyTrace_RETURN)) {
        frame = with_code(top->previous);
        place.callee = compat_is_called_by_c(top) ? running_in(frame) : NULL;
    }
    else if (top != NULL) {
        call_of(top, true);
    }
    place.stack = depot_stack_from(frame);
    current = me == NULL ? 0 : me->index;
    places[current % MOST_THREADS] = place;
}

/* An event as Python tells it to a trace function and to a profile function. */
int culprits_event(PyObject *unused, PyFrameObject *frame, int what, PyObject *argument)
{
    (void)unused, (void)frame;
    if (culprits_are_watched && quiet == 0) {
        look();
        note_place(what, argument);
    }
    return 0;
}

/* Another thread goes on, from where it was. */
void culprits_switch(int32_t next)
{
    look();
    current = next;
}

/* A new thread is told about as the others are; a hunt has a trace function of its own. */
void culprits_new_thread(void)
{
    if (culprits_are_watched) {
        PyEval_SetProfile(culprits_event, Py_None);
        if (!trace_is_on()) {
            PyEval_SetTrace(culprits_event, Py_None);
        }
    }
}

/* ---- what Python sees ---- */

static void forget_watched(void)
{
    for (int i = 0; i < watched_count; i++) {
        Py_CLEAR(watched[i].callee);
    }
    watched_count = 0;
    current = -1;
}

/* A block that is older than the re-execution. */
static void find_old(const char *block, uint64_t *info)
{
    Watched *which = find(serial_of(*info));
    if (which != NULL) {
        which->block = block;
        *info |= IS_WATCHED;
    }
}

static int read_serials(PyObject *serials)
{
    PyObject *each, *iterator = PyObject_GetIter(serials);
    if (iterator == NULL) {
        return -1;
    }
    while (watched_count < MOST_WATCHED && (each = PyIter_Next(iterator)) != NULL) {
        watched[watched_count++] = (Watched){.serial = PyLong_AsUnsignedLongLong(each)};
        Py_DECREF(each);
    }
    Py_DECREF(iterator);
    return PyErr_Occurred() ? -1 : 0;
}

/* canaries_watch(serials): from now on, at most 64; none: no more */
static PyObject *watch(PyObject *module, PyObject *serials)
{
    (void)module;
    culprits_are_watched = false;
    forget_watched();
    if (read_serials(serials) < 0 || canaries_map() < 0) {
        return NULL;
    }
    culprits_are_watched = watched_count > 0;
    allocators_visit(find_old);
    Py_tracefunc function = culprits_are_watched ? culprits_event : NULL;
    if (compat_profile_all(function) < 0 || (!trace_is_on() && compat_trace_all(function) < 0)) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *show(const Watched *which)
{
    bool is_bad = which->damage.kind != NO_DAMAGE;
    return Py_BuildValue(
        "KzLiNNNO", (unsigned long long)which->serial, is_bad ? DAMAGES[which->damage.kind] : NULL,
        (long long)which->damage.offset, which->thread, depot_show_stack(which->allocated),
        depot_show_stack(which->freed), depot_show_stack(which->written),
        which->callee == NULL ? Py_None : which->callee);
}

/* canaries_watched(): serial, kind or None, offset, thread, stacks of the allocation, of the free
 * and of the write, and the C function that wrote, or None */
static PyObject *shown(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    quiet++;
    look();
    PyObject *list = PyList_New(watched_count);
    for (int i = 0; list != NULL && i < watched_count; i++) {
        PyObject *each = show(&watched[i]);
        if (each == NULL) {
            Py_CLEAR(list);
            break;
        }
        PyList_SET_ITEM(list, i, each);
    }
    quiet--;
    return list;
}

PyMethodDef culprit_functions[] = {{"canaries_watch", watch, METH_O, NULL},
                                   {"canaries_watched", shown, METH_NOARGS, NULL},
                                   {NULL, NULL, 0, NULL}};
