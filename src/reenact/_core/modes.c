/* What an access touches and how, as the race detector needs it: which variable, in which mode.
 *
 * A variable is an object and a name, or an object and the hash of a key, or a container as a
 * whole. Two accesses of different items do not conflict, nor do two that only add; core.h lists
 * the modes. Here, and nowhere else, is known which operation of which container is of which mode.
 * Nothing here runs code of the program's. */
#include "core.h"
#include <string.h>

enum Family { LIST, DICT, SET, BYTES, DEQUE, FAMILIES, OTHER = FAMILIES };

/* Modes of methods, one for each family; those that are not here read or write the whole. */
#define R MODE_WHOLE_READ
#define W MODE_WHOLE_WRITE
static const struct {
    const char *name;
    uint8_t modes[FAMILIES]; /* of a list, dict, set, bytearray, deque */
} METHODS[] = {
    {"", {0}},
    {"append", {MODE_UPDATE, W, W, MODE_UPDATE, MODE_PUT}},
    {"appendleft", {W, W, W, W, MODE_PUT}},
    {"extend", {MODE_UPDATE, W, W, MODE_UPDATE, MODE_PUT}},
    {"extendleft", {W, W, W, W, MODE_PUT}},
    {"__iadd__", {MODE_UPDATE, W, W, MODE_UPDATE, MODE_PUT}},
    {"pop", {W, MODE_ITEM_WRITE, W, W, MODE_TAKE}},
    {"popleft", {W, W, W, W, MODE_TAKE}},
    {"get", {R, MODE_ITEM_READ, R, R, R}},
    {"setdefault", {W, MODE_ITEM_DEFAULT, W, W, W}},
    {"add", {W, W, MODE_ITEM_UPDATE, W, W}},
    {"discard", {W, W, MODE_ITEM_WRITE, W, W}},
    {"remove", {W, W, MODE_ITEM_WRITE, W, W}},
    {"update", {W, W, MODE_UPDATE, W, W}},
    {"__ior__", {W, W, MODE_UPDATE, W, W}},
    {"__contains__", {R, MODE_ITEM_READ, MODE_ITEM_TEST, R, R}},
    {"__getitem__", {MODE_ITEM_READ, MODE_ITEM_READ, R, MODE_ITEM_READ, MODE_ITEM_READ}},
    {"__setitem__", {MODE_ITEM_WRITE, MODE_ITEM_WRITE, W, MODE_ITEM_WRITE, MODE_ITEM_WRITE}},
    {"__delitem__", {W, MODE_ITEM_WRITE, W, W, W}},
};
#undef R
#undef W

/* The place of a method in the table, 0 if it is not there. */
uint8_t modes_method(const char *name)
{
    for (uint8_t i = 1; i < sizeof METHODS / sizeof *METHODS; i++) {
        if (strcmp(METHODS[i].name, name) == 0) {
            return i;
        }
    }
    return 0;
}

static enum Family family_of(PyObject *object)
{
    return PyDict_Check(object)        ? DICT
           : PyList_Check(object)      ? LIST
           : PySet_Check(object)       ? SET
           : is_deque(object)          ? DEQUE
           : PyByteArray_Check(object) ? BYTES
                                       : OTHER;
}

static enum AccessMode whole(AccessSite *site)
{
    return site->writes ? MODE_WHOLE_WRITE : MODE_WHOLE_READ;
}

static int tell(AccessSite *site, PyObject *object, uintptr_t what, enum AccessMode mode)
{
    if (races_are_watched && watch_race(site, object, what, mode) < 0) {
        return -1;
    }
    if (races_are_on && gate.active && me != NULL) {
        races_access(site, object, what, mode);
    }
    return 0;
}

/* ---- keys ---- */

/* Would its hash, and that of all in it, run no code of the program's? */
static bool has_plain_hash(PyObject *key, int depth)
{
    hashfunc hash = Py_TYPE(key)->tp_hash;
    if (hash == PyTuple_Type.tp_hash) {
        bool is_plain = depth < 4;
        for (Py_ssize_t i = 0; is_plain && i < PyTuple_GET_SIZE(key); i++) {
            is_plain = has_plain_hash(PyTuple_GET_ITEM(key, i), depth + 1);
        }
        return is_plain;
    }
    return hash == PyUnicode_Type.tp_hash || hash == PyLong_Type.tp_hash ||
           hash == PyFloat_Type.tp_hash || hash == PyBytes_Type.tp_hash ||
           hash == PyComplex_Type.tp_hash || hash == PyFrozenSet_Type.tp_hash;
}

/* Equal keys have the same hash, and the other way round as nearly as matters. */
static uintptr_t name_of_key(PyObject *key)
{
    if (!has_plain_hash(key, 0)) {
        return (races_are_on ? races_identity(key) : (uintptr_t)key) << 1 | 1;
    }
    Py_hash_t hash = PyObject_Hash(key);
    if (hash == -2 && PyLong_Check(key) && PyLong_AsLong(key) == -1) {
        hash = -1; /* Python gives -1 and -2 the same */
    }
    return (uintptr_t)hash << 1 | 1;
}

static int tell_key(AccessSite *site, PyObject *object, PyObject *key, enum AccessMode mode)
{
    races_key = key;
    int result = tell(site, object, name_of_key(key), mode);
    races_key = NULL;
    return result;
}

static int tell_place(AccessSite *site, PyObject *object, Py_ssize_t index, PyObject *key,
                      enum AccessMode mode)
{
    races_key = index >= 0 ? key : NULL;
    int result = tell(site, object, (uintptr_t)index << 1 | 1, mode);
    races_key = NULL;
    return result;
}

/* ---- items ---- */

static Py_ssize_t length_of(PyObject *object, enum Family family)
{
    if (family != OTHER) {
        return Py_SIZE(object);
    }
    PySequenceMethods *methods = Py_TYPE(object)->tp_as_sequence;
    Py_ssize_t length =
        methods == NULL || methods->sq_length == NULL ? -1 : methods->sq_length(object);
    if (length < 0) {
        PyErr_Clear();
    }
    return length;
}

/* An item by its place. One that is counted from the end, or is not there, tells of the length. */
static int tell_index(AccessSite *site, PyObject *object, enum Family family, PyObject *key,
                      enum AccessMode mode)
{
    int overflow;
    Py_ssize_t index = (Py_ssize_t)PyLong_AsLongAndOverflow(key, &overflow);
    Py_ssize_t length = length_of(object, family);
    bool is_there = overflow == 0 && length >= 0 && index < length && index >= -length;
    if (is_there && index >= 0) {
        return tell_place(site, object, index, key, mode);
    }
    if (tell(site, object, 0, MODE_WHOLE_READ) < 0) {
        return -1;
    }
    return is_there ? tell_place(site, object, index + length, key, mode) : 0;
}

/* A defaultdict makes what it does not have. */
static bool makes_item(PyObject *object, PyObject *key)
{
    if (strcmp(Py_TYPE(object)->tp_name, "collections.defaultdict") != 0 ||
        !has_plain_hash(key, 0)) {
        return false;
    }
    int has = PyDict_Contains(object, key);
    if (has < 0) {
        PyErr_Clear();
    }
    return has == 0;
}

static int tell_item(AccessSite *site, PyObject *object, PyObject *key, bool writes, bool deletes)
{
    enum Family family = family_of(object);
    enum AccessMode mode = writes ? MODE_ITEM_WRITE : MODE_ITEM_READ;
    if (family == DICT) {
        return tell_key(site, object, key,
                        !writes && makes_item(object, key) ? MODE_ITEM_WRITE : mode);
    }
    if (PyLong_Check(key) && !(deletes && family != OTHER)) {
        return tell_index(site, object, family, key, mode);
    }
    bool is_whole = family != OTHER || PySlice_Check(key);
    if (is_whole) {
        return tell(site, object, 0, writes ? MODE_WHOLE_WRITE : MODE_WHOLE_READ);
    }
    return tell_key(site, object, key, mode);
}

/* Items that the program's own methods give are no variables; what those touch is. */
static bool has_native_items(PyObject *object, AccessSite *site)
{
    static PyObject *names[3];
    static const char *const TEXTS[] = {"__getitem__", "__setitem__", "__delitem__"};
    int which = site->deletes ? 2 : site->writes;
    PyTypeObject *type = Py_TYPE(object);
    if (type == &PyList_Type || type == &PyDict_Type) {
        return true;
    }
    if (names[which] == NULL && (names[which] = PyUnicode_InternFromString(TEXTS[which])) == NULL) {
        PyErr_Clear();
        return false;
    }
    PyObject *method = _PyType_Lookup(type, names[which]);
    return is_container(object) ? is_of_library(method)
                                : method != NULL && !PyFunction_Check(method);
}

/* ---- contents ---- */

static enum AccessMode augmented_mode(AccessSite *site, PyObject *container)
{
    if (!site->commutes) {
        return whole(site);
    }
    switch (family_of(container)) {
    case LIST:
    case SET:
    case BYTES: return MODE_UPDATE;
    case DEQUE: return MODE_PUT;
    default: return MODE_WHOLE_WRITE;
    }
}

/* Does the container's type answer for its contents, and no method of the program's? */
static bool is_native(AccessSite *site, PyObject *container)
{
    PyTypeObject *type = Py_TYPE(container);
    if (type == &PyList_Type || type == &PyDict_Type || type == &PySet_Type || site->writes ||
        PyUnicode_GET_LENGTH(site->name) == 0) {
        return true;
    }
    return is_of_library(_PyType_Lookup(type, site->name));
}

static int tell_iterated(AccessSite *site, PyObject *iterator)
{
    PyObject *found[MOST_ITERATED];
    size_t count = iterated_by(iterator, found, 0, 0);
    for (size_t i = 0; i < count; i++) {
        Py_INCREF(found[i]); /* a watcher may let go of it meanwhile */
    }
    int result = 0;
    for (size_t i = 0; i < count; i++) {
        result = result < 0 ? -1 : tell(site, found[i], 0, MODE_WHOLE_READ);
        Py_DECREF(found[i]);
    }
    return result;
}

static int tell_contents(AccessSite *site, PyObject *object)
{
    PyObject *container = object == NULL ? NULL : container_of(object);
    if (container == NULL) {
        return object == NULL ? 0 : tell_iterated(site, object);
    }
    if (container == object && !is_native(site, object)) {
        return 0;
    }
    return tell(site, container, 0,
                site->writes ? augmented_mode(site, container) : MODE_WHOLE_READ);
}

/* Is something in a container? Only of dicts and sets the rest of it does not matter. */
static int tell_member(AccessSite *site, PyObject *object)
{
    PyObject *container = container_of(object), *key = access_below(site, 1);
    if (container == NULL || key == NULL ||
        (PyDictViewSet_Check(object) && !PyDictKeys_Check(object)) || PyDictValues_Check(object)) {
        return tell_contents(site, object);
    }
    if (container == object && !is_native(site, object)) {
        return 0;
    }
    switch (family_of(container)) {
    case DICT: return tell_key(site, container, key, MODE_ITEM_READ);
    case SET: return tell_key(site, container, key, MODE_ITEM_TEST);
    default: return tell(site, container, 0, MODE_WHOLE_READ);
    }
}

/* ---- methods ---- */

static int tell_call(AccessSite *site, PyObject *container, PyObject *key)
{
    enum Family family = family_of(container);
    enum AccessMode mode = site->method == 0 ? whole(site) : METHODS[site->method].modes[family];
    switch (mode) {
    case MODE_ITEM_READ:
    case MODE_ITEM_WRITE:
        if (key != NULL && (family == SET || family == DICT)) {
            return tell_key(site, container, key, mode);
        }
        return key != NULL ? tell_item(site, container, key, mode == MODE_ITEM_WRITE, false)
                           : tell(site, container, 0, whole(site));
    case MODE_ITEM_UPDATE:
    case MODE_ITEM_TEST:
    case MODE_ITEM_DEFAULT:
        return key != NULL ? tell_key(site, container, key, mode)
                           : tell(site, container, 0, whole(site));
    default: return tell(site, container, 0, mode);
    }
}

/* ---- attributes and variables ---- */

static int tell_name(AccessSite *site, PyObject *object, PyObject *name, bool writes)
{
    return tell(site, object, (uintptr_t)name, writes ? MODE_WRITE : MODE_READ);
}

static int tell_attribute(AccessSite *site, PyObject *object, PyObject *name, bool writes)
{
    return object == NULL ? 0 : attributes_tell(site, object, name, writes, tell_name);
}

static int tell_named(AccessSite *site, PyObject *operand)
{
    PyObject *name, *object = access_named(site, operand, &name);
    return tell_attribute(site, object, name, site->writes);
}

static int tell_method(AccessSite *site, PyObject *operand)
{
    PyObject *container = access_called(site, operand);
    if (container == NULL) {
        return site->recalls || site->is_unbound ? 0
                                                 : tell_attribute(site, operand, site->name, false);
    }
    if (site->remembers) {
        return 0;
    }
    PyObject *key = site->depth == 0   ? NULL
                    : site->depth == 1 ? operand
                                       : access_below(site, site->depth - 1);
    return tell_call(site, container, key);
}

static int tell_variable(AccessSite *site)
{
    PyObject *object = access_holder(site);
    if (object == NULL) {
        return 0;
    }
    int result = tell_name(site, object, site->name, site->writes);
    races_remember(site, object);
    return result;
}

/* `a.b += c` changes the list that a.b is, as well as a. */
static int tell_augmented(AccessSite *site)
{
    PyObject *value = site->augments ? access_below(site, 1) : NULL;
    return value == NULL || PyFloat_CheckExact(value) || PyLong_CheckExact(value)
               ? 0
               : tell_contents(site, value);
}

static int tell_subscript(AccessSite *site, PyObject *operand)
{
    PyObject *object = access_below(site, site->depth);
    PyObject *key = site->depth == 1 ? operand : access_below(site, site->depth - 1);
    return modes_tell_item(site, object, key);
}

int modes_tell_item(AccessSite *site, PyObject *object, PyObject *key)
{
    if (object == NULL || key == NULL || has_no_items(object) || !has_native_items(object, site)) {
        return 0;
    }
    return tell_item(site, object, key, site->writes, site->deletes);
}

static int tell_created(AccessSite *site, PyObject *object)
{
    if (site->deletes) {
        races_ended(object);
        return 0;
    }
    if (races_are_watched && watch_created(site, object) < 0) {
        return -1;
    }
    return races_are_on ? attributes_created(site, object, tell_name) : 0;
}

/* Tells what the site is about to do; -1 if a watcher raised. */
int modes_tell(AccessSite *site, PyObject *operand)
{
    if (tell_augmented(site) < 0) {
        return -1;
    }
    PyObject *object = site->recalls ? access_below(site, site->depth) : operand;
    switch (site->kind) {
    case ACCESS_ATTRIBUTE: return tell_attribute(site, object, site->name, site->writes);
    case ACCESS_NAMED: return tell_named(site, operand);
    case ACCESS_CREATED: return tell_created(site, operand);
    case ACCESS_BOTH:
        return tell_contents(site, access_below(site, 1)) < 0 ? -1 : tell_contents(site, operand);
    case ACCESS_METHOD: return tell_method(site, operand);
    case ACCESS_ITEM: return tell_subscript(site, operand);
    case ACCESS_CONTENTS: return tell_contents(site, object);
    case ACCESS_MEMBER: return tell_member(site, operand);
    case ACCESS_TURN: return tell_contents(site, access_below(site, 1));
    default: return tell_variable(site);
    }
}
