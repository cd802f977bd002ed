/* Imports for ourselves, in the midst of a program, that the program does not see.
 *
 * Its own imports must find afterwards what they would have found. And some of its threads may be
 * in the middle of an import: what they have not finished is of no use to us, and the locks that
 * they hold are not given back while we run. So those modules are imported once more, with no locks
 * but our own, and everything is put back. */
#include "core.h"
#include <string.h>

typedef struct {
    PyObject *machinery;     /* the module that imports */
    PyObject *modules;       /* sys.modules, as the program has it; */
    PyObject *locks, *waits; /* which modules its threads import, and which they wait for */
} Kept;

/* A dict of the machinery; an empty one takes its place. */
static PyObject *take_dict(PyObject *machinery, const char *name)
{
    PyObject *dict = PyObject_GetAttrString(machinery, name), *empty = PyDict_New();
    bool is_taken = dict != NULL && empty != NULL && PyDict_CheckExact(dict) &&
                    PyObject_SetAttrString(machinery, name, empty) == 0;
    Py_XDECREF(empty);
    if (!is_taken) {
        PyErr_Clear(); /* from 3.12 on what is waited for is no dict, and bears us */
        Py_CLEAR(dict);
    }
    return dict;
}

static void give_dict(PyObject *machinery, const char *name, PyObject *dict)
{
    if (dict != NULL && PyObject_SetAttrString(machinery, name, dict) < 0) {
        PyErr_Clear();
    }
    Py_XDECREF(dict);
}

/* Looked up in dicts only: a module may be the program's, and load itself when it is asked. */
static bool is_unfinished(PyObject *module)
{
    PyObject *names = PyModule_Check(module) ? PyModule_GetDict(module) : NULL;
    PyObject *spec = names == NULL ? NULL : PyDict_GetItemString(names, "__spec__");
    PyObject *said = spec == NULL || strcmp(Py_TYPE(spec)->tp_name, "ModuleSpec") != 0
                         ? NULL
                         : PyObject_GetAttrString(spec, "_initializing");
    bool is_so = said == Py_True;
    Py_XDECREF(said);
    PyErr_Clear();
    return is_so;
}

static bool keep(Kept *kept)
{
    PyObject *modules = PyImport_GetModuleDict(), *name, *module;
    kept->machinery = PyImport_ImportModule("_frozen_importlib");
    kept->modules = kept->machinery == NULL ? NULL : PyDict_Copy(modules);
    if (kept->modules == NULL) {
        Py_XDECREF(kept->machinery);
        return false;
    }
    kept->locks = take_dict(kept->machinery, "_module_locks");
    kept->waits = take_dict(kept->machinery, "_blocking_on");
    for (Py_ssize_t at = 0; PyDict_Next(kept->modules, &at, &name, &module);) {
        if (is_unfinished(module) && PyDict_DelItem(modules, name) < 0) {
            PyErr_Clear();
        }
    }
    return true;
}

/* In the same order as before. */
static void put_back(const Kept *kept)
{
    PyObject *modules = PyImport_GetModuleDict();
    PyDict_Copy(modules); /* what was imported is used as long as this process lives */
    PyDict_Clear(modules);
    PyDict_Update(modules, kept->modules);
    give_dict(kept->machinery, "_module_locks", kept->locks);
    give_dict(kept->machinery, "_blocking_on", kept->waits);
    Py_DECREF(kept->modules);
    Py_DECREF(kept->machinery);
}

/* A module of ours, new; NULL with an exception if it cannot be imported. */
PyObject *unseen_import(const char *name)
{
    Kept kept;
    if (!keep(&kept)) {
        return NULL;
    }
    PyObject *type, *value, *traceback;
    PyObject *module = PyImport_ImportModule(name);
    PyErr_Fetch(&type, &value, &traceback);
    put_back(&kept);
    PyErr_Restore(type, value, traceback);
    return module;
}

/* import_unseen(name) */
PyObject *unseen_import_named(PyObject *module, PyObject *name)
{
    (void)module;
    const char *text = PyUnicode_AsUTF8(name);
    return text == NULL ? NULL : unseen_import(text);
}
