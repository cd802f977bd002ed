/* Races that were found: one for each pair of places in the source, counted. */
#include "races.h"

enum { MOST_RACES = 4096 };

static Race found[MOST_RACES];
static uint32_t count;
static uint64_t left_out;

void found_begin(void)
{
    for (uint32_t i = 0; i < count; i++) {
        Py_CLEAR(found[i].type);
        Py_CLEAR(found[i].key);
    }
    count = 0;
    left_out = 0;
}

static bool is_same_place(const Access *one, const Access *other)
{
    return one->site == other->site && one->mode == other->mode;
}

/* The order in which the two came is a matter of the schedule. */
static bool is_known(Race *race, const Access *first, const Access *second, uintptr_t what)
{
    return (what & 1) == (race->what & 1) &&
           ((is_same_place(race->first, first) && is_same_place(race->second, second)) ||
            (is_same_place(race->first, second) && is_same_place(race->second, first)));
}

/* A key that can be shown without running the program's code; of a module's variables the name. */
static PyObject *shown_key(PyObject *object, PyObject *key)
{
    if (key != NULL && (PyUnicode_CheckExact(key) || PyLong_CheckExact(key))) {
        return Py_NewRef(key);
    }
    if (key == NULL && PyDict_CheckExact(object)) {
        PyObject *name = PyDict_GetItemString(object, "__name__");
        return name != NULL && PyUnicode_CheckExact(name) ? Py_NewRef(name) : NULL;
    }
    return NULL;
}

void found_race(const Access *first, const Access *second, PyObject *object, uintptr_t what,
                PyObject *key, const Access *created)
{
    for (uint32_t i = 0; i < count; i++) {
        if (is_known(&found[i], first, second, what)) {
            found[i].count++;
            return;
        }
    }
    if (count == MOST_RACES) {
        left_out++;
        return;
    }
    found[count++] = (Race){.first = first,
                            .second = second,
                            .count = 1,
                            .object = object,
                            .type = (PyTypeObject *)Py_NewRef(Py_TYPE(object)),
                            .key = shown_key(object, key),
                            .created = created,
                            .what = what};
}

/* ---- for Python ---- */

static const char *kind_of(const Race *race)
{
    if (race->what & 1) {
        return "item";
    }
    if (race->what == 0) {
        return "contents";
    }
    switch (race->second->site->kind) {
    case ACCESS_GLOBAL: return "global";
    case ACCESS_CLOSURE: return "closure";
    default: return race->type == &PyDict_Type ? "global" : "attribute"; /* of a module */
    }
}

static PyObject *show_access(const Access *access)
{
    const AccessSite *site = access->site;
    return Py_BuildValue("{si ss sI sI sI sN sN}", "thread", access->thread, "mode",
                         MODES[access->mode], "line", site->line, "column", site->column, "pair",
                         site->pair, "stack", depot_show_stack(access->stack), "locks",
                         locks_show(access->locks));
}

static PyObject *show_created(const Access *created)
{
    if (created == NULL) {
        Py_RETURN_NONE;
    }
    return Py_BuildValue("{si sN}", "thread", created->thread, "stack",
                         depot_show_stack(created->stack));
}

static PyObject *show_variable(const Race *race)
{
    bool is_named = race->what != 0 && (race->what & 1) == 0;
    PyObject *name = is_named ? Py_NewRef((PyObject *)race->what)
                     : race->key != NULL && (race->what & 1) != 0 ? PyObject_Repr(race->key)
                                                                  : PyUnicode_FromString("");
    PyObject *type = is_named && race->key != NULL ? Py_NewRef(race->key)
                                                   : PyUnicode_FromString(race->type->tp_name);
    return Py_BuildValue("{ss sN sN sK sN}", "kind", kind_of(race), "name", name, "type", type,
                         "address", (unsigned long long)(uintptr_t)race->object, "created",
                         show_created(race->created));
}

/* races_found() -> (races, how many more there were than are kept, were there too many threads at
 * once, how many threads were forgotten) */
static PyObject *races_found(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    PyObject *races = PyList_New(0);
    for (uint32_t i = 0; races != NULL && i < count; i++) {
        const Race *race = &found[i];
        PyObject *shown =
            Py_BuildValue("{sK sN sN sN}", "count", (unsigned long long)race->count, "variable",
                          show_variable(race), "first", show_access(race->first), "second",
                          show_access(race->second));
        if (shown == NULL || PyList_Append(races, shown) < 0) {
            Py_XDECREF(shown);
            Py_CLEAR(races);
            break;
        }
        Py_DECREF(shown);
    }
    return races == NULL ? NULL
                         : Py_BuildValue("(NKNI)", races, (unsigned long long)left_out,
                                         PyBool_FromLong(clocks_overflowed), clocks_forgotten);
}

PyMethodDef found_functions[] = {{"races_found", races_found, METH_NOARGS, NULL},
                                 {NULL, NULL, 0, NULL}};
