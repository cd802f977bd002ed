/* A watcher of accesses: told of each one, in every thread, whether or not the gate is active.
 *
 * For tests of the rewriter. What the watcher itself does is not watched. */
#include "core.h"

bool accesses_are_watched;
static PyObject *watcher;
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

int watch_access(AccessSite *site, PyObject *object, PyObject *name, bool writes)
{
    if (watcher == NULL || inside) {
        return 0;
    }
    PyObject *function = Py_NewRef(watcher);
    inside = true;
    PyObject *result =
        PyObject_CallFunction(function, "sOOOI", kind_of(site, name), name == NULL ? Py_None : name,
                              object, writes ? Py_True : Py_False, (unsigned)site->line);
    inside = false;
    Py_DECREF(function);
    Py_XDECREF(result);
    return result == NULL ? -1 : 0;
}

/* watch_accesses(function or None): called as (kind, name or None, object, writes, line) */
static PyObject *watch_accesses(PyObject *module, PyObject *function)
{
    (void)module;
    accesses_are_watched = function != Py_None;
    Py_XSETREF(watcher, accesses_are_watched ? Py_NewRef(function) : NULL);
    Py_RETURN_NONE;
}

PyMethodDef watch_functions[] = {{"watch_accesses", watch_accesses, METH_O, NULL},
                                 {NULL, NULL, 0, NULL}};
