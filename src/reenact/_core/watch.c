/* Watchers of accesses: told of each one, in every thread, whether or not the gate is active; one
 * as a search knows them, the other as the race detector does.
 *
 * For tests of the rewriter. What a watcher itself does is not watched. */
#include "races.h"

bool accesses_are_watched, races_are_watched;
static PyObject *watcher, *race_watcher;
static __thread bool inside;

static const char *kind_of(AccessSite *site, PyObject *name)
{
    if (name == NULL) {
        return site->kind == ACCESS_ITEM ? "item" : "contents";
    }
    switch (site->kind) {
    case ACCESS_GLOBAL: return "global";
    case ACCESS_CLOSURE: return "closure";
    default: return "attribute";
    }
}

/* Takes over the arguments. */
static int call(PyObject *watching, PyObject *arguments)
{
    PyObject *function = Py_NewRef(watching);
    inside = true;
    PyObject *result = arguments == NULL ? NULL : PyObject_CallObject(function, arguments);
    inside = false;
    Py_DECREF(function);
    Py_XDECREF(arguments);
    Py_XDECREF(result);
    return result == NULL ? -1 : 0;
}

int watch_access(AccessSite *site, PyObject *object, PyObject *name, bool writes)
{
    if (watcher == NULL || inside) {
        return 0;
    }
    return call(watcher, Py_BuildValue("sOOOI", kind_of(site, name), name == NULL ? Py_None : name,
                                       object, writes ? Py_True : Py_False, (unsigned)site->line));
}

int watch_created(AccessSite *site, PyObject *object)
{
    if (race_watcher == NULL || inside) {
        return 0;
    }
    return call(race_watcher, Py_BuildValue("OisI", object, 0, "created", (unsigned)site->line));
}

int watch_race(AccessSite *site, PyObject *object, uintptr_t what, enum AccessMode mode)
{
    if (race_watcher == NULL || inside) {
        return 0;
    }
    return call(race_watcher, Py_BuildValue("OKsI", object, (unsigned long long)what, MODES[mode],
                                            (unsigned)site->line));
}

/* watch_accesses(function or None): called as (kind, name or None, object, writes, line) */
static PyObject *watch_accesses(PyObject *module, PyObject *function)
{
    (void)module;
    accesses_are_watched = function != Py_None;
    access_changed();
    Py_XSETREF(watcher, accesses_are_watched ? Py_NewRef(function) : NULL);
    Py_RETURN_NONE;
}

/* watch_races(function or None): called as (object, what, mode, line); what is 0 for a container as
 * a whole, odd for an item, else the address of a name; of new objects the mode is "created" */
static PyObject *watch_races(PyObject *module, PyObject *function)
{
    (void)module;
    races_are_watched = function != Py_None;
    access_changed();
    Py_XSETREF(race_watcher, races_are_watched ? Py_NewRef(function) : NULL);
    Py_RETURN_NONE;
}

PyMethodDef watch_functions[] = {{"watch_accesses", watch_accesses, METH_O, NULL},
                                 {"watch_races", watch_races, METH_O, NULL},
                                 {NULL, NULL, 0, NULL}};
