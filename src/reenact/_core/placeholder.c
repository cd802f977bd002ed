/* Placeholders: the strings that the rewriter leaves among the constants of a code object, one for
 * each access site, and the sites that are made of them. sites.py writes what is read here. */
#include "core.h"
#include <string.h>

static const char PREFIX[] = "\0reenact access\0";
enum { PREFIX_SIZE = sizeof PREFIX - 1 };

bool is_access_placeholder(PyObject *constant)
{
    Py_ssize_t size;
    if (!PyUnicode_CheckExact(constant) || PyUnicode_GET_LENGTH(constant) < PREFIX_SIZE ||
        PyUnicode_READ_CHAR(constant, 0) != 0) {
        return false;
    }
    const char *text = PyUnicode_AsUTF8AndSize(constant, &size);
    if (text == NULL) { /* it has surrogates: none of ours */
        PyErr_Clear();
        return false;
    }
    return memcmp(text, PREFIX, PREFIX_SIZE) == 0;
}

static AccessSite *new_site(const char *name)
{
    static uint32_t made;
    AccessSite *site = PyObject_New(AccessSite, glance_type(NULL));
    if (site != NULL) {
        memset((char *)site + sizeof(PyObject), 0, sizeof *site - sizeof(PyObject));
        site->number = made + 1 < 1U << SITE_BITS ? ++made : 0;
        site->own_version = NO_VERSION;
        site->name = PyUnicode_InternFromString(name);
        if (site->name == NULL) {
            Py_CLEAR(site);
        }
    }
    return site;
}

/* The words of a name, each one interned. */
static PyObject *words_of(PyObject *name)
{
    PyObject *words = PyUnicode_Split(name, NULL, -1);
    Py_ssize_t count = words == NULL ? 0 : PyList_GET_SIZE(words);
    PyObject *tuple = words == NULL ? NULL : PyTuple_New(count);
    for (Py_ssize_t i = 0; tuple != NULL && i < count; i++) {
        PyObject *word = Py_NewRef(PyList_GET_ITEM(words, i));
        PyUnicode_InternInPlace(&word);
        PyTuple_SET_ITEM(tuple, i, word);
    }
    Py_XDECREF(words);
    return tuple;
}

/* A new site of what a placeholder says: kind, flags, depth, pair, line, column, ordinal, name. */
PyObject *access_site(PyObject *constant)
{
    char kind, flags[16];
    unsigned depth, pair, line, column, ordinal;
    int end = 0;
    const char *text = PyUnicode_AsUTF8(constant);
    if (text == NULL || containers_find_types() < 0) {
        return NULL;
    }
    int fields = sscanf(text + PREFIX_SIZE, "%c %15s %u %u %u %u %u %n", &kind, flags, &depth,
                        &pair, &line, &column, &ordinal, &end);
    if (fields != 7 || end == 0 || strchr(ACCESS_LETTERS, kind) == NULL) {
        return Py_NewRef(constant); /* a string of the program's that looks like one */
    }
    AccessSite *site = new_site(text + PREFIX_SIZE + end);
    if (site == NULL) {
        return NULL;
    }
    site->kind = (uint8_t)(strchr(ACCESS_LETTERS, kind) - ACCESS_LETTERS);
    if (site->kind == ACCESS_CREATED && (site->names = words_of(site->name)) == NULL) {
        Py_DECREF(site);
        return NULL;
    }
    site->writes = strchr(flags, 'w') != NULL;
    site->remembers = strchr(flags, 'r') != NULL;
    site->augments = strchr(flags, 'a') != NULL;
    site->commutes = strchr(flags, 'c') != NULL;
    site->deletes = strchr(flags, 'd') != NULL;
    site->is_unbound = strchr(flags, 'u') != NULL;
    site->is_bound = strchr(flags, 'b') != NULL;
    site->is_raw = strchr(flags, 'p') != NULL;
    site->ticks = strchr(flags, 't') != NULL;
    site->is_quiet = strchr(flags, 'q') != NULL;
    site->method = site->kind == ACCESS_METHOD ? modes_method(text + PREFIX_SIZE + end) : 0;
    site->recalls = depth > 0;
    site->depth = (uint8_t)depth;
    site->pair = pair;
    site->line = line;
    site->column = column;
    if (site->kind == ACCESS_COLD_CODE) {
        cold_adopt(site);
    }
    else {
        bool is_region = site->kind >= ACCESS_PIECE;
        Py_SET_TYPE(site, is_region ? regions_type(site->kind) : glance_type(site));
    }
    compat_make_immortal((PyObject *)site); /* where code is, too */
    settled_meet(site);
    return (PyObject *)site;
}
