/* Which paths are passed: those of the interpreter and of installed packages, or all. */
#include "core.h"
#include <string.h>

enum { MOST_PREFIXES = 64 };

static struct {
    const char *text;
    size_t size;
} prefixes[MOST_PREFIXES];
static int prefix_count;
static bool records_files = true;

static bool is_below(const char *path, size_t size)
{
    for (int i = 0; i < prefix_count; i++) {
        size_t length = prefixes[i].size;
        if (size >= length && memcmp(path, prefixes[i].text, length) == 0 &&
            (size == length || path[length] == '/')) {
            return true;
        }
    }
    return false;
}

bool files_are_below(const char *path)
{
    return is_below(path, strlen(path));
}

/* A path as it is given; what is relative belongs to the program. */
bool files_pass_path(PyObject *path)
{
    if (!records_files) {
        return !PyLong_Check(path);
    }
    Py_ssize_t size;
    if (PyUnicode_Check(path)) {
        const char *text = PyUnicode_AsUTF8AndSize(path, &size);
        if (text == NULL) {
            PyErr_Clear();
            return false;
        }
        return is_below(text, (size_t)size);
    }
    return PyBytes_Check(path) && is_below(PyBytes_AS_STRING(path), (size_t)PyBytes_GET_SIZE(path));
}

/* pass_paths(prefixes), or pass_paths(None) for all */
static PyObject *pass_paths(PyObject *module, PyObject *given)
{
    (void)module;
    records_files = given != Py_None;
    for (Py_ssize_t i = 0; records_files && i < PyTuple_GET_SIZE(given); i++) {
        const char *text = PyUnicode_AsUTF8(PyTuple_GET_ITEM(given, i));
        if (text == NULL) {
            return NULL;
        }
        if (prefix_count < MOST_PREFIXES) {
            prefixes[prefix_count].text = strdup(text);
            prefixes[prefix_count++].size = strlen(text);
        }
    }
    Py_RETURN_NONE;
}

PyMethodDef path_functions[] = {{"pass_paths", pass_paths, METH_O, NULL}, {NULL, NULL, 0, NULL}};
