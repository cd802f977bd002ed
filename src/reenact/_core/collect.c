/* Garbage collection at points, as entries of the schedule.
 *
 * The interpreter's automatic collection is switched off; the same thresholds are looked at in
 * record_point instead, and a replay collects where the recording says. Finalizers and weakref
 * callbacks therefore run at the same place every time. gc.enable, gc.disable and gc.isenabled
 * speak of this collection. */
#include "core.h"

static bool wanted = true;
static PyObject *native_collect;

/* Calls what depends on how far others are, where these may run at the same time. */
static PyObject *call_alone(PyObject *native, PyObject *const *args, Py_ssize_t count,
                            PyObject *names)
{
    Thread *thread = gate.active && gate.is_parallel ? me : NULL;
    if (thread != NULL) {
        turns_stop(thread);
    }
    PyObject *result = PyObject_Vectorcall(native, args, (size_t)count, names);
    if (thread != NULL) {
        turns_go_on(thread);
    }
    return result;
}

bool collect_is_under_way(const Thread *thread)
{
    return thread != NULL && thread->collects;
}

/* A finalizer may ask for another collection. */
static PyObject *collect_alone(PyObject *native, PyObject *const *args, Py_ssize_t count,
                               PyObject *names)
{
    Thread *thread = me;
    bool is_first = thread != NULL && !thread->collects;
    if (is_first) {
        thread->collects = true;
    }
    PyObject *result = call_alone(native, args, count, names);
    if (is_first) {
        thread->collects = false;
    }
    return result;
}

/* ---- what the program calls, at a point of its own ---- */

static PyObject *look(PyObject *native, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    if (gate.active && me != NULL) {
        parallel_extra_point(me);
    }
    return call_alone(native, args, count, names);
}

/* A replay lets go there of what dies in it. */
static PyObject *collect(PyObject *native, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    if (gate.active && me != NULL) {
        parallel_extra_point(me);
        bool is_noted = gate.is_parallel && gate.settings.mode == MODE_RECORD;
        if (is_noted && !collect_is_under_way(me)) {
            lane_other(me, LANE_SWEEP, 0);
        }
    }
    return collect_alone(native, args, count, names);
}

/* Each stands for the native function of its name, which is its `self`. */
#define IN_PLACE_OF(name, ours)                                                                    \
    {name, (PyCFunction)(void (*)(void))ours, METH_FASTCALL | METH_KEYWORDS, NULL}
static PyMethodDef collect_method = IN_PLACE_OF("collect", collect),
                   frames_method = IN_PLACE_OF("_current_frames", look),
                   exceptions_method = IN_PLACE_OF("_current_exceptions", look);

/* Where nothing else tells how far others are. */
static int replace_all(PyObject *gc)
{
    if (HAS_GIL || !gate.has_lanes) {
        return 0;
    }
    PyObject *sys = PyImport_ImportModule("sys");
    bool is_done = sys != NULL && replace_function(gc, &collect_method) == 0 &&
                   replace_function(sys, &frames_method) == 0 &&
                   replace_function(sys, &exceptions_method) == 0;
    Py_XDECREF(sys);
    return is_done ? 0 : -1;
}

int collect_take_over(void)
{
    PyObject *module = PyImport_ImportModule("gc");
    native_collect = module == NULL ? NULL : PyObject_GetAttrString(module, "collect");
    int result = native_collect == NULL ? -1 : replace_all(module);
    Py_XDECREF(module);
    if (result < 0) {
        return -1;
    }
    wanted = PyGC_Disable() != 0;
    return 0;
}

void collect_give_back(void)
{
    if (wanted) {
        PyGC_Enable();
    }
}

void collect_now(uint64_t generation)
{
    gate.state->collections++;
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *argument = PyLong_FromLong((long)(generation > 2 ? 2 : generation));
    PyObject *found = argument == NULL ? NULL : collect_alone(native_collect, &argument, 1, NULL);
    Py_XDECREF(argument);
    Py_XDECREF(found);
    PyErr_Restore(type, value, traceback);
}

bool collect_if_due(void)
{
    bool is_possible = wanted && !collect_is_under_way(me);
    int generation = is_possible ? compat_due_generation() : -1;
    if (generation < 0) {
        return false;
    }
    if (gate.is_parallel) {
        turns_stop(me);
        generation = compat_due_generation();
        if (generation < 0) { /* another thread has made it meanwhile */
            turns_stop_no_more(me);
            return false;
        }
        lane_other(me, LANE_COLLECT, (uint64_t)generation);
    }
    else {
        pthread_mutex_lock(&gate.mutex);
        log_entry(ENTRY_COLLECT, (uint64_t)generation);
        pthread_mutex_unlock(&gate.mutex);
    }
    collect_now((uint64_t)generation);
    return true;
}

PyObject *collect_enable(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    wanted = true;
    if (!gate.active) {
        PyGC_Enable();
    }
    Py_RETURN_NONE;
}

PyObject *collect_disable(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    wanted = false;
    PyGC_Disable();
    Py_RETURN_NONE;
}

PyObject *collect_is_enabled(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return PyBool_FromLong(wanted);
}
