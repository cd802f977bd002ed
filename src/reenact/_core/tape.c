/* A tape of all that the race detector is told, for tests: another detector can judge the same run.
 *
 * Entries are (kind, thread, object, what, line): edges as clocks.c makes them, accesses as they
 * come to races.c, whether or not it looks at them. */
#include "core.h"
#include <stdlib.h>

typedef struct {
    const char *kind;
    int32_t thread;
    uint64_t object, what;
    uint32_t line;
} Entry;

bool tape_is_on;
static Entry *entries;
static size_t count, room;

void tape_put(const char *kind, int32_t thread, uint64_t object, uint64_t what, uint32_t line)
{
    if (count == room) {
        room = room == 0 ? 1024 : room * 2;
        entries = realloc(entries, room * sizeof *entries);
        if (entries == NULL) {
            Py_FatalError("reenact: no memory for the tape");
        }
    }
    entries[count++] = (Entry){kind, thread, object, what, line};
}

/* tape(on): all entries since it was last called */
static PyObject *tape(PyObject *module, PyObject *on)
{
    (void)module;
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < count; i++) {
        const Entry *entry = &entries[i];
        PyObject *shown =
            Py_BuildValue("(siKKI)", entry->kind, entry->thread, (unsigned long long)entry->object,
                          (unsigned long long)entry->what, entry->line);
        if (shown == NULL || PyList_Append(list, shown) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(shown);
    }
    count = 0;
    tape_is_on = PyObject_IsTrue(on) == 1;
    races_are_idle = false; /* until a thread begins or ends: what nobody needs does no harm */
    access_changed();
    return list;
}

PyMethodDef tape_functions[] = {{"tape", tape, METH_O, NULL}, {NULL, NULL, 0, NULL}};
