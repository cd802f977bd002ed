/* What is cold to a thread, and so is looked at: until the thread has done it often enough.
 *
 * Races are mostly in code that is seldom run, and what costs is code that is run all the time. So
 * runs that keep the order of synchronisation alone take note of accesses as well, while that is
 * cheap (after LiteRace: Marino and others, PLDI 2009; which comes back to hot code now and then,
 * as this does not). instrument/cold.py has two versions of each body; the guard between them is a
 * tick, and says whether the thread knows the code by now. Functions of C code that are called in
 * order (ordered.c) are known in the same way.
 *
 * A replay must find the same. What a thread knows is a matter of its own past alone, but for one
 * question: whether threads have waited for one another too long, which is asked now and then, and
 * whose answer is recorded as the reading of a clock is. */
#include "core.h"
#include <stdlib.h>

/* How often a thread does one thing, and all of them, before it knows it; how often it asks whether
 * all threads have waited too long: for a while, and a part of the time since that was counted */
enum { PASSES = 2000, PASSES_IN_ALL = 100000 };
enum { ASK_EACH = 64, PATIENCE_NS = 60000000, PART = 50 };

static _Atomic int64_t waited_ns, began_ns;

void cold_has_waited(int64_t time_ns)
{
    if (gate.settings.order == ORDER_COLD) {
        atomic_fetch_add(&waited_ns, time_ns);
    }
}

bool cold_is_too_dear(void)
{
    int64_t now_ns = real_ns(), unset = 0;
    atomic_compare_exchange_strong(&began_ns, &unset, now_ns);
    return atomic_load(&waited_ns) > PATIENCE_NS + (now_ns - atomic_load(&began_ns)) / PART;
}

static bool make_room(Thread *thread, uint32_t number)
{
    uint32_t room = number * 2 + 64;
    uint16_t *larger = realloc(thread->passes, room * sizeof *larger);
    if (larger == NULL) {
        return false;
    }
    memset(larger + thread->passes_room, 0, (room - thread->passes_room) * sizeof *larger);
    thread->passes = larger;
    thread->passes_room = room;
    return true;
}

static bool must_stop(Thread *thread)
{
    if (gate.settings.mode == MODE_REPLAY) {
        return replay_clock(VERDICTS) != 0;
    }
    bool is_too_dear = cold_is_too_dear();
    lane_clock(thread, VERDICTS, is_too_dear);
    return is_too_dear;
}

static bool __attribute__((noinline)) learn(Thread *thread, uint32_t number)
{
    if (number >= thread->passes_room && !make_room(thread, number)) {
        return true;
    }
    if (++thread->passes_in_all % ASK_EACH == 0 && must_stop(thread)) {
        thread->passes_in_all = PASSES_IN_ALL;
    }
    if (++thread->passes[number] == PASSES || thread->passes_in_all >= PASSES_IN_ALL) {
        knowing_note(thread, true);
    }
    return false;
}

/* Does the thread know it by now? */
bool cold_knows(const Thread *thread, uint32_t number)
{
    bool is_old = number < thread->passes_room && thread->passes[number] >= PASSES;
    return is_old || thread->passes_in_all >= PASSES_IN_ALL || !gate.active;
}

/* The same; if not, it does it once more. */
bool cold_is_known(Thread *thread, uint32_t number)
{
    return cold_knows(thread, number) || learn(thread, number);
}

uint32_t cold_number(void)
{
    static _Atomic uint32_t made;
    return atomic_fetch_add(&made, 1);
}

/* Negative if the tick raised. */
static int ask(PyObject *self)
{
    Thread *thread = me;
    int result = tick_alone(thread);
    if (__builtin_expect(result < 0 || thread == NULL, 0)) {
        return result;
    }
    return cold_is_known(thread, ((AccessSite *)self)->number);
}

static PyObject *negation(PyObject *self)
{
    int result = ask(self);
    return result < 0 ? NULL : PyBool_FromLong(result);
}

/* As the thread ends. */
void cold_forget(Thread *thread)
{
    knowing_note(thread, false);
    free(thread->passes);
    thread->passes = NULL;
    thread->passes_room = 0;
}

static void dealloc(PyObject *self)
{
    Py_XDECREF(((AccessSite *)self)->name);
    PyObject_Free(self);
}

static PyNumberMethods number = {.nb_negative = negation, .nb_bool = ask};
PyTypeObject ColdType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "reenact._core.Cold",
    .tp_basicsize = sizeof(AccessSite),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_as_number = &number,
    .tp_dealloc = dealloc,
};

/* A placeholder's site is a guard. */
void cold_adopt(AccessSite *site)
{
    site->number = cold_number();
    Py_SET_TYPE(site, &ColdType);
}
