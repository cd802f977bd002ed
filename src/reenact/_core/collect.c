/* Garbage collection at points, as entries of the schedule.
 *
 * The interpreter's automatic collection is switched off; the same thresholds are looked at in
 * record_point instead, and a replay collects where the recording says. Finalizers and weakref
 * callbacks therefore run at the same place every time. gc.enable, gc.disable and gc.isenabled
 * speak of this collection. */
#include "core.h"

static bool wanted = true;
static PyObject *native_collect;

int collect_take_over(void)
{
    PyObject *module = PyImport_ImportModule("gc");
    native_collect = module == NULL ? NULL : PyObject_GetAttrString(module, "collect");
    Py_XDECREF(module);
    if (native_collect == NULL) {
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
    PyObject *found = argument == NULL ? NULL : PyObject_CallOneArg(native_collect, argument);
    Py_XDECREF(argument);
    Py_XDECREF(found);
    PyErr_Restore(type, value, traceback);
}

bool collect_if_due(void)
{
    int generation = wanted ? compat_due_generation() : -1;
    if (generation < 0) {
        return false;
    }
    if (gate.is_parallel) {
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
