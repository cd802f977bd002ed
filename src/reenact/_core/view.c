/* What Python sees of a run of a search: its result, its steps, who waits for what, and which sites
 * are known to race. Nothing here has a part in the run itself. */
#include "core.h"

/* Of the last run, which may have been another process's. */
PyObject *view_result(void)
{
    return Py_BuildValue(
        "{sIsKsKsKsKsKsOsIsOsssIsI}", "reason", run->reason, "steps",
        (unsigned long long)run->steps, "choices", (unsigned long long)run->choices, "fingerprint",
        (unsigned long long)run->fingerprint, "preemptions", (unsigned long long)run->preemptions,
        "useful", (unsigned long long)run->useful, "finished", run->finished ? Py_True : Py_False,
        "threads", run->threads, "uncontrolled", run->is_uncontrolled ? Py_True : Py_False, "note",
        run->note, "racy", run->racy_count, "timed", run->timed_waits);
}

/* result() */
static PyObject *last_result(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return view_result();
}

/* trace(): the steps of the last run, as tuples */
static PyObject *trace(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    Py_ssize_t count = (Py_ssize_t)(run->steps < MOST_STEPS ? run->steps : MOST_STEPS);
    PyObject *list = PyList_New(count);
    for (Py_ssize_t i = 0; list != NULL && i < count; i++) {
        const Step *step = &run->trace[i];
        PyObject *tuple = Py_BuildValue(
            "iiOKKIIiiOKKiO", step->thread, step->op, step->writes ? Py_True : Py_False,
            (unsigned long long)step->key, (unsigned long long)step->enabled, step->site,
            step->position, step->previous, step->count, step->is_forced ? Py_True : Py_False,
            (unsigned long long)step->asleep, (unsigned long long)step->joined, step->parent,
            step->waits ? Py_True : Py_False);
        if (tuple == NULL) {
            Py_CLEAR(list);
            break;
        }
        PyList_SET_ITEM(list, i, tuple);
    }
    return list;
}

/* site(number): (operation, file, line, function) */
static PyObject *site(PyObject *module, PyObject *number)
{
    (void)module;
    const Site *found = site_get((uint32_t)PyLong_AsUnsignedLong(number));
    if (PyErr_Occurred()) {
        return NULL;
    }
    if (found->kind == 0) {
        return Py_BuildValue("IsIs", 0, "", 0, "");
    }
    return Py_BuildValue("IsIs", found->kind, site_string(found->file), found->line,
                         site_string(found->function));
}

/* waits(): who waits for what, as (thread, status, operation, kind, owner, ident) */
static PyObject *waits(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    PyObject *list = PyList_New(0);
    for (uint32_t i = 0; list != NULL && i < gate.state->threads; i++) {
        const Thread *thread = &gate.slots[i];
        const Object *object =
            thread->waits_for != NULL ? thread->waits_for : thread->explored.blocks;
        int owner = object == NULL                  ? -1
                    : object->kind == OBJECT_THREAD ? (int)object->id
                                                    : object->owner;
        PyObject *tuple =
            Py_BuildValue("iiiiik", thread->index, (int)thread->status, thread->pending_op,
                          object == NULL ? 0 : object->kind, owner,
                          thread->tstate == NULL ? 0UL : (unsigned long)thread->tstate->thread_id);
        if (tuple == NULL || PyList_Append(list, tuple) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(tuple);
    }
    return list;
}

/* racy(): what is known of sites that race, for set_racy() in another process */
static PyObject *racy(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    PyObject *list = PyList_New(run->racy_count);
    for (uint32_t i = 0; list != NULL && i < run->racy_count; i++) {
        PyList_SET_ITEM(list, i, PyLong_FromLong(0)); /* the ends of threads, or so it stays */
    }
    for (size_t slot = 0; list != NULL && slot < MOST_RACY; slot++) {
        if (run->racy[slot] != 0) {
            PyList_SetItem(list, run->racy_order[slot] - 1,
                           PyLong_FromUnsignedLongLong(run->racy[slot]));
        }
    }
    return list;
}

static PyObject *set_racy(PyObject *module, PyObject *list)
{
    (void)module;
    if (run == NULL || !PyList_Check(list) || PyList_GET_SIZE(list) >= MOST_RACY / 2) {
        PyErr_SetString(PyExc_ValueError, "set_racy(list)");
        return NULL;
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++) {
        uint64_t key = PyLong_AsUnsignedLongLongMask(PyList_GET_ITEM(list, i));
        run->racy_count++;
        if (key == 0) {
            run->ends_matter = run->racy_count;
        }
        else {
            variables_know_racy(key);
        }
    }
    Py_RETURN_NONE;
}

/* me(): the index of the thread that runs */
static PyObject *own_index(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return PyLong_FromLong(gate.holder == NULL ? -1 : gate.holder->index);
}

/* threads(): (parent, ordinal) of each */
static PyObject *threads(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    PyObject *list = PyList_New(0);
    for (uint32_t i = 0; list != NULL && i < gate.state->threads; i++) {
        PyObject *tuple = Py_BuildValue("ii", gate.slots[i].parent, gate.slots[i].ordinal);
        if (tuple == NULL || PyList_Append(list, tuple) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(tuple);
    }
    return list;
}

PyMethodDef view_functions[] = {{"explore_result", last_result, METH_NOARGS, NULL},
                                {"explore_trace", trace, METH_NOARGS, NULL},
                                {"explore_site", site, METH_O, NULL},
                                {"explore_waits", waits, METH_NOARGS, NULL},
                                {"explore_racy", racy, METH_NOARGS, NULL},
                                {"explore_set_racy", set_racy, METH_O, NULL},
                                {"explore_me", own_index, METH_NOARGS, NULL},
                                {"explore_threads", threads, METH_NOARGS, NULL},
                                {NULL, NULL, 0, NULL}};
